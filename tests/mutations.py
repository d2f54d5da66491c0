"""Break silbo on purpose, one way at a time, and see whether the tests notice: `make mutations`.

Each mutation is a change of one line in a copy of the checkout. It survives if the tests still pass:
then they do not see what they should. The exit status is 1 if one survives.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
# what builds and installs says nothing about a mutation
LEFT_OUT = ["--ignore=tests/test_packaging.py", "--ignore=tests/test_examples.py"]


@dataclass(frozen=True)
class Mutation:
    """What is broken, and how: `old`, which stands in the file once, becomes `new`."""

    name: str
    file: str
    old: str
    new: str


MUTATIONS = [
    Mutation(
        "drop the residual check of the content",
        "matching/decision.py",
        "row.filter.selects(publication.attributes)\n        and (row.function",
        "(row.function",
    ),
    Mutation(
        "read the context of before the last change",
        "context/table.py",
        "return self._rows.get(uuid, EMPTY)",
        "return self._before.get(uuid, EMPTY)",
    ),
    Mutation(
        "let != hold for an absent attribute",
        "silbo/language/evaluation.py",
        "return compare(a, b) if kind in kinds and kind == KINDS.get(type(b)) else None",
        'return compare(a, b) if kind in kinds and kind == KINDS.get(type(b)) else (operator_ == "!=" and a is None) or None',
    ),
    Mutation(
        "deliver twice when two branches of an `or` match",
        "matching/index.py",
        "yield found",
        "yield [row for key in self._filed for row in self._filed[key] if row in found] + list(self._scanned)",
    ),
    Mutation(
        "forget include",
        "matching/candidates.py",
        "self.asked = frozenset(include) | (",
        "self.asked = (",
    ),
    Mutation(
        "show what is not offered",
        "silbo/broker/core.py",
        "return {name: value for name, value in publish.context.items() if name in offers}",
        "return publish.context",
    ),
    Mutation(
        "let the scope pass when it is unknown",
        "matching/decision.py",
        "publication.context) is True)",
        "publication.context) is not False)",
    ),
    Mutation(
        "let the function pass when it is unknown",
        "matching/decision.py",
        "publication.offered, context) is True)",
        "publication.offered, context) is not False)",
    ),
    Mutation(
        "file a filter under its first conjunction only",
        "matching/index.py",
        "keys[key] = None\n",
        "return [key]\n",
    ),
    Mutation(
        "forget that 1 and true differ",
        "matching/index.py",
        "found.update(self._filed.get((name, KINDS[type(value)], value), {}))",
        'found.update(self._filed.get((name, "number", value), {}))',
    ),
    Mutation(
        "a sequence number for a refused publish",
        "silbo/broker/core.py",
        "        scopes = [None if publish.scope is None",
        "        peer.sequence += not peer.advertisements\n        scopes = [None if publish.scope is None",
    ),
    Mutation(
        "unite offers but not reads",
        "silbo/broker/core.py",
        "reads = _united(row.reads for row in containing)",
        "reads = containing[0].reads",
    ),
    Mutation(
        "keep the context after disconnect",
        "silbo/broker/core.py",
        "        self.contexts.remove(peer.uuid)\n",
        "",
    ),
    Mutation(
        "merge a part of a refused context change",
        "context/table.py",
        "        merged = whole_context(old, changes)\n",
        "        self._rows[uuid] = {**old, **changes}\n        merged = whole_context(old, changes)\n",
    ),
    Mutation(
        "bind `or` tighter than `and`",
        "silbo/language/meaning.py",
        'if cast("Lexeme", operator).type == "OR":',
        'if cast("Lexeme", operator).type == "AND":',
    ),
    Mutation(
        "subtract a product before it is multiplied",
        "silbo/language/meaning.py",
        'if operator.type in ("STAR", "SLASH"):',
        'if operator.type in ("STAR", "MINUS"):',
    ),
    Mutation(
        "compare integers as doubles",
        "silbo/language/evaluation.py",
        "return compare(a, b) if kind in kinds and",
        'return compare(*((float(a), float(b)) if kind == "number" == KINDS.get(type(b)) else (a, b))) if kind in kinds and',
    ),
    Mutation(
        "leave the border out of `within`",
        "silbo/language/evaluation.py",
        "holds = shapely.covered_by if",
        "holds = shapely.within if",
    ),
    Mutation(
        "swap what `not` makes of unknown",
        "silbo/language/evaluation.py",
        "return None if truth is None else not truth",
        "return not truth",
    ),
    Mutation(
        "read the newest first",
        "silbo/broker/queue.py",
        "notification = self._waiting.popleft()\n        if self._overflow",
        "notification = self._waiting.pop()\n        if self._overflow",
    ),
    Mutation(
        "drop the newest without a count",
        "silbo/broker/queue.py",
        "            self.dropped += 1\n",
        "            pass\n",
    ),
    Mutation(
        "keep the index in the dark about contexts",
        "silbo/broker/core.py",
        "            self.index.set_context(peer.uuid, self.contexts[peer.uuid])\n",
        "            pass\n",
    ),
    Mutation(
        "leave empty keys in the index",
        "matching/index.py",
        "            if not rows:\n                del self._filed[key]\n",
        "",
    ),
    Mutation(
        "forget to wake who waits when the subscription ends",
        "silbo/broker/queue.py",
        "                waiting.notify_all()\n        self._tell(None)",
        "                pass\n",
    ),
    Mutation(
        "cover if one conjunction is covered",
        "matching/covering.py",
        "return all(any(_implies(",
        "return any(any(_implies(",
    ),
]


def prepare(mutation: Mutation, folder: Path) -> None:
    """Make a copy of the checkout with one thing broken."""
    for name in ("silbo", "context", "matching", "tests", "examples"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    path = folder / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        raise SystemExit(
            f"{mutation.file}: the line of {mutation.name!r} stands there {text.count(mutation.old)} times"
        )
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    if mutation.file == "context/table.py" and "_before" in mutation.new:
        remember_before(path)


def remember_before(path: Path) -> None:
    """For the stale read: keep the row that was there before each write."""
    text = path.read_text(encoding="utf-8")
    text = text.replace("self.writes = 0\n", "self.writes = 0\n        self._before: dict[str, Context] = {}\n")
    merged = "        merged = whole_context(old, changes)\n"
    text = text.replace(merged, merged + "        self._before[uuid] = self._rows.get(uuid, EMPTY)\n")
    path.write_text(text, encoding="utf-8")


def first_failure(folder: Path) -> str | None:
    """The name of the first test that fails in the copy; None if all pass."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *LEFT_OUT, "tests"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return None if done.returncode == 0 else (failed or ["the run itself"])[0].partition(" - ")[0]


def main() -> int:
    """Try every mutation, or those whose name holds a word, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", default="", help="only mutations whose name holds this")
    word = parser.parse_args().word
    survived = 0
    for mutation in (each for each in MUTATIONS if word in each.name):
        with tempfile.TemporaryDirectory(prefix="silbo-mutation-") as folder:
            prepare(mutation, Path(folder))
            seen_by = first_failure(Path(folder))
        survived += seen_by is None
        print(f"{'SURVIVED' if seen_by is None else 'seen':9}{mutation.name:55}{seen_by or ''}", flush=True)
    print(f"{survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    raise SystemExit(main())
