"""A public class has a name of its own: whoever reads `Columns` in one room does not think of another room's."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("silbo", "context", "matching", "streaming", "hw")  # `silbo/` has links to the others, which rglob skips

# Names that several classes have, and why. Remove a line when only one class is left.
SHARED = {
    "Advertisement": "the oracle shares no code with the broker, and uses the same words",
    "Names": "the names in an expression, and the numbers that an index gives to names",
    "Refused": "the oracle shares no code with the broker, and uses the same words",
    "Session": "the oracle shares no code with the broker, and uses the same words",
    "Subscription": "the oracle shares no code with the broker, and uses the same words",
}


def public_classes():
    """The files that define a public class at their top level, by its name."""
    found = defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(str(path.relative_to(ROOT)))
    return found


def test_no_two_public_classes_have_the_same_name():
    twice = {name: files for name, files in public_classes().items() if len(files) > 1 and name not in SHARED}
    assert twice == {}


def test_each_name_that_is_allowed_twice_is_used_twice():
    found = public_classes()
    assert [name for name in SHARED if len(found[name]) < 2] == []
