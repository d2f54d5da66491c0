"""docs/api.md has every name of the public modules, every parameter with its default, and nothing else.

The lines ``### `…` `` of the page are signatures and are compared with `inspect`; the text below them is written by
hand. After a change of the API, `python tests/house/test_api_page.py --write` corrects the signatures, adds sections
for new names (with their docstrings, to be edited) and removes the sections of names that are gone.
"""

import dataclasses
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import silbo
import silbo.aio
import silbo.errors
import silbo.streaming
import silbo.testing
import silbo.testing.strategies

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
COMMON = {"ValueTooLarge", "ExpressionTooLarge"}  # base classes for the errors of bounds, not meant to be caught
ERRORS = {
    name: each
    for name, each in vars(silbo.errors).items()
    if inspect.isclass(each) and issubclass(each, silbo.SilboError) and name not in COMMON
}

# Classes that users call themselves; the others are returned by a function or a verb.
CONSTRUCTED = {silbo.Broker, silbo.testing.Player, silbo.testing.RecordingSession}

SIGNATURE = re.compile(r"^### `((?:await )?([\w.]+)[^`]*)`$", re.MULTILINE)


def signature(name, given):
    """A function's signature as a reader sees it: without `self` and annotations."""
    if not has_signature(given):
        return name
    found = inspect.signature(given)
    parameters = [each.replace(annotation=each.empty) for each in found.parameters.values() if each.name != "self"]
    awaited = "await " if inspect.iscoroutinefunction(given) else ""
    return f"{awaited}{name}{found.replace(parameters=parameters, return_annotation=found.empty)}"


def has_signature(given):
    """Whether an object is a function or a class. A type alias is callable but is neither."""
    return inspect.isroutine(given) or inspect.isclass(given)


def public_api():
    """The signature and the object of every public name, by its dotted name."""
    found = {}
    modules = [silbo, silbo.aio, silbo.fn, silbo.testing, silbo.testing.strategies, silbo.streaming]
    for module in modules:
        # Filter comes first, because its section describes the members that all three languages share
        for name in sorted(names_of(module), key=lambda each: each != "Filter"):
            given = getattr(module, name)
            if inspect.isclass(given):
                found |= {each: given for each, given in members(name, given).items() if given not in found.values()}
            elif not isinstance(given, ModuleType):
                found[f"{module.__name__.replace('language.', '')}.{name}"] = given
    return {name: (signature(name, given), given) for name, given in found.items()}


def names_of(module):
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if name not in ERRORS]
    return [
        name
        for name, each in vars(module).items()
        if not name.startswith("_") and inspect.isfunction(each) and each.__module__ == module.__name__
    ]


def members(name, kind):
    """The public members of a class that silbo defines, without aliases of methods."""
    fields = {each.name for each in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    fields = {each for each in fields if not each.startswith("_")}
    found = {name: kind} if fields or kind in CONSTRUCTED else {}
    for each in sorted(set(dir(kind)) - fields):
        given = inspect.getattr_static(kind, each)
        given = given.__func__ if isinstance(given, classmethod | staticmethod) else given
        own = any(each in vars(base) for base in kind.__mro__ if base.__module__.startswith("silbo"))
        if own and not each.startswith("_") and getattr(given, "__name__", each) == each:
            found[f"{name}.{each}"] = getattr(kind, each)
    return found


def sections():
    """The text below each signature of the page, by the dotted name."""
    text = PAGE.read_text(encoding="utf-8")
    matches = list(SIGNATURE.finditer(text))
    ends = [re.search(r"^##", text[each.end() :] + "\n##", re.MULTILINE).start() + each.end() for each in matches]
    return {each[2]: (each[1], text[each.end() : end]) for each, end in zip(matches, ends, strict=True)}


def test_the_page_has_the_signature_of_every_public_name_and_of_nothing_else():
    expected = {line for line, _ in public_api().values()}
    written = {line for line, _ in sections().values()}
    assert sorted(written - expected) == [], "correct docs/api.md: python tests/house/test_api_page.py --write"
    assert sorted(expected - written) == [], "correct docs/api.md: python tests/house/test_api_page.py --write"


def test_every_parameter_is_described_below_its_signature():
    """An asynchronous verb may refer to the ordinary one instead: "As `Session.publish`"."""
    texts = sections()
    missing = [
        f"{name}: {parameter}"
        for name, (_, given) in public_api().items()
        if has_signature(given) and f"As `{name.replace('Async', '')}`" not in texts[name][1]
        for parameter in inspect.signature(given).parameters
        if parameter != "self" and f"`{parameter}`" not in texts[name][1]
    ]
    assert missing == []


def test_the_page_lists_every_error_and_no_other():
    assert set(listed_errors()) == ERRORS.keys()


def listed_errors():
    """The row of each error in the table, by its name."""
    table = PAGE.read_text(encoding="utf-8").partition("\n## Errors\n")[2].partition("\n## ")[0]
    return {row[1]: row[0] for row in re.finditer(r"^\| `(\w+)` .*\n", table, re.MULTILINE)}


def test_the_examples_of_the_page_run(tmp_path):
    programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(programs)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def end_of_part(text, prefix):
    """The position for a new section: after the last one with the same prefix, or at the end of the page."""
    last = [match.end() for match in SIGNATURE.finditer(text) if match[2].rpartition(".")[0] == prefix]
    following = re.compile(r"^##", re.MULTILINE).search(text, last[-1]) if last else None
    return following.start() if following else len(text)


def write():
    """Correct the signatures, add sections for new names at the end of their part, and remove sections of old names."""
    text, api = PAGE.read_text(encoding="utf-8"), public_api()
    for name, (line, below) in sections().items():
        section = f"### `{line}`{below}"
        text = text.replace(section, f"### `{api[name][0]}`{below}" if name in api else "")
    known = {match[2] for match in SIGNATURE.finditer(text)}
    for name in sorted(api.keys() - known):
        place = end_of_part(text, name.rpartition(".")[0])
        text = f"{text[:place]}### `{api[name][0]}`\n\n{inspect.getdoc(api[name][1])}\n\n{text[place:]}"
    text = text.rstrip("\n") + "\n"
    rows = listed_errors()
    for name in rows.keys() - ERRORS.keys():
        text = text.replace(rows[name], "")
    new = [f"| `{name}` | {inspect.getdoc(ERRORS[name])} |\n" for name in ERRORS.keys() - rows.keys()]
    last = list(rows.values())[-1]
    PAGE.write_text(text.replace(last, last + "".join(new)), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/house/test_api_page.py --write")
    write()
