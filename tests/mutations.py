"""Break silbo on purpose, one place at a time, and check that the tests fail: `make mutations`.

Each mutation changes one place in a copy of the checkout. It survives if the tests still pass, which shows
that they miss something. The exit status is 1 if a mutation survives.
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
# tests that build, install or measure something do not detect mutations
LEFT_OUT = ("house", "bench", "papers", "hw/rtl", "hw/synthesis", "streaming/spark")
REST = [*(f"--ignore=tests/{folder}" for folder in LEFT_OUT), "tests"]
# these detect most mutations and run first
LIKELY = ["tests/broker", "tests/context", "tests/matching/test_fast.py", "tests/matching/test_equivalence.py"]
WIRE = ["tests/wire"]
STREAMING = ["tests/streaming/test_step.py", "tests/streaming/test_holding.py"]
HARDWARE = [f"tests/hw/offload/test_{name}.py" for name in ("offload", "fit", "words", "fixed_point")]
RTL = ["tests/hw/rtl/test_benches.py"]
LANGUAGE = ["tests/language"]
COVERING = ["tests/matching/test_covering.py", "tests/matching/test_covering_exact.py"]
DELIVERY = ["tests/session", "tests/broker"]
ROOMS = {  # the tests that run first for a file, by the beginning of its path
    "streaming": STREAMING, "hw": HARDWARE, "silbo/wire": WIRE, "silbo/language": LANGUAGE,
    "matching/covering": COVERING, "silbo/session": DELIVERY, "silbo/embedded": DELIVERY,
}  # fmt: skip
GRAMMAR = [
    "tests/language/test_grammar.py",
    "--deselect",
    "tests/language/test_grammar.py::test_the_documentation_shows_the_grammar",
]


@dataclass(frozen=True)
class Mutation:
    """One change: `old`, which occurs once in the file, is replaced by `new`."""

    name: str
    file: str
    old: str
    new: str


MUTATIONS = [
    Mutation(
        "drop the residual check of the content",
        "matching/decision.py",
        "(filter._evaluate or evaluation_of(filter))(bindings) is True\n        and (function",
        "(function",
    ),
    Mutation(
        "read the context as it was before the last change",
        "context/table.py",
        "            self._refresh(row)\n        return self._rows[row]",
        "            self._refresh(row)\n        return self._before.get(row, EMPTY)",
    ),
    Mutation(
        "let != hold for an absent attribute",
        "silbo/language/evaluation.py",
        "return compare(a, b) if kind in kinds and kind == KINDS.get(type(b)) else None",
        'return compare(a, b) if kind in kinds and kind == KINDS.get(type(b)) else (operator_ == "!=" and a is None) or None',
    ),
    Mutation(
        "deliver twice when two branches of an `or` match",
        "matching/plain.py",
        "return found",
        "return [row for key in self._filed for row in self._filed[key] if row in found] + list(self._scanned)",
    ),
    Mutation(
        "forget include",
        "matching/candidates.py",
        'function.variables("pub").union(include)',
        'function.variables("pub")',
    ),
    Mutation(
        "show what is not offered",
        "silbo/core/acceptance.py",
        "return {name: value for name, value in context.items() if name in offers}",
        "return context",
    ),
    Mutation(
        "let the scope pass when it is unknown",
        "matching/decision.py",
        "publication.context) is True",
        "publication.context) is not False",
    ),
    Mutation(
        "let the function pass when it is unknown",
        "matching/decision.py",
        "(function._evaluate or evaluation_of(function))(bindings) is True)",
        "(function._evaluate or evaluation_of(function))(bindings) is not False)",
    ),
    Mutation(
        "file a filter under its first conjunction only",
        "matching/plain.py",
        "keys[key] = None\n",
        "return [key]\n",
    ),
    Mutation(
        "forget that 1 and true differ",
        "matching/plain.py",
        "found.update(self._filed.get((name, KINDS[type(value)], value), {}))",
        'found.update(self._filed.get((name, "number", value), {}))',
    ),
    Mutation(
        "use up a sequence number for a refused publish",
        "silbo/core/acceptance.py",
        "    return _publication(client, event, _offered(client, event))\n\n\ndef accepted_all",
        "    client.sequence += 1\n    offered = _offered(client, event)\n    client.sequence -= 1\n"
        "    return _publication(client, event, offered)\n\n\ndef accepted_all",
    ),
    Mutation(
        "unite offers but not reads",
        "silbo/core/acceptance.py",
        "reads = _united([row.reads for row in containing])",
        "reads = containing[0].reads",
    ),
    Mutation(
        "keep the context after disconnect",
        "silbo/core/core.py",
        "        self.contexts.remove(client.uuid)\n",
        "",
    ),
    Mutation(
        "merge a part of a refused context change",
        "context/table.py",
        "        merged = changed_context(old, changes)\n",
        "        self._rows[row] = {**old, **changes}\n        merged = changed_context(old, changes)\n",
    ),
    Mutation(
        "read an event in which a map has a key twice",
        "silbo/wire/events.py",
        "if len(mapping) < len(pairs):",
        "if not pairs and mapping:",
    ),
    Mutation(
        "write a set without its duplicates",
        "silbo/wire/values.py",
        "msgpack.ExtType(SET, msgpack.packb(list(value.given)))",
        "msgpack.ExtType(SET, msgpack.packb(list(value)))",
    ),
    Mutation(
        "forward the payload of a message without its attributes",
        "silbo/wire/events.py",
        "len(FORMS[events.Publish].names) - MESSAGE) :]",
        "len(FORMS[events.Publish].names) - 1) :]",
    ),
    Mutation(
        "write the variables for a scope before the offered ones",
        "silbo/wire/records.py",
        "    context: Context\n    for_scope: Context\n",
        "    for_scope: Context\n    context: Context\n",
    ),
    Mutation(
        "bind `or` tighter than `and`",
        "silbo/language/meaning.py",
        'if self._types[operator] == "OR":',
        'if self._types[operator] == "AND":',
    ),
    Mutation(
        "subtract a product before it is multiplied",
        "silbo/language/meaning.py",
        'if self._types[operator] in ("STAR", "SLASH"):',
        'if self._types[operator] in ("STAR", "MINUS"):',
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
        "let `not` turn unknown into true",
        "silbo/language/evaluation.py",
        "return None if truth is None else not truth",
        "return not truth",
    ),
    Mutation(
        "let the grammar end a word before a letter",
        "silbo/language/grammar.lark",
        "WORD_END: /(?![A-Za-z0-9_.])/",
        "WORD_END: /(?![.])/",
    ),
    Mutation(
        "let the grammar's lists mix numbers and strings",
        "silbo/language/grammar.lark",
        'list: "(" number ("," number)* ")"',
        'list: "(" number ("," ordered)* ")"',
    ),
    Mutation(
        "let the grammar order bools",
        "silbo/language/grammar.lark",
        "| attribute ORDER ordered ",
        "| attribute ORDER constant ",
    ),
    Mutation(
        "leave the sign out of the grammar's numbers",
        "silbo/language/grammar.lark",
        'NUMBER: "-"? (',
        "NUMBER: (",
    ),
    Mutation(
        "read the newest first",
        "silbo/session/queue.py",
        "publication = self._pop()\n        if self._overflow",
        "publication = self.pop()\n        if self._overflow",
    ),
    Mutation(
        "drop the newest without a count",
        "silbo/session/queue.py",
        "            self.dropped += 1\n",
        "            pass\n",
    ),
    Mutation(
        "do not report context changes to the index",
        "silbo/core/core.py",
        "        if changed:\n            try:\n                self.index",
        "        if False:\n            try:\n                self.index",
    ),
    Mutation(
        "leave empty keys in the index",
        "matching/plain.py",
        "            if not rows:\n                del self._filed[key]\n",
        "",
    ),
    Mutation(
        "forget to wake waiting threads when the subscription ends",
        "silbo/session/queue.py",
        "                    waiting.notify_all()\n            self._tell(is_end=True)",
        "                    pass\n",
    ),
    Mutation(
        "cover if one conjunction is covered",
        "matching/covering/covers.py",
        "return all(any(_implies(",
        "return any(any(_implies(",
    ),
    Mutation(
        "skip one residual check",
        "matching/fast/kernels/constraints.py",
        "for at in range(first, first + count * layout.CONSTRAINT, layout.CONSTRAINT):",
        "for at in range(first + layout.CONSTRAINT, first + count * layout.CONSTRAINT, layout.CONSTRAINT):",
    ),
    Mutation(
        "ignore the signature's collision",
        "matching/fast/kernels/constraints.py",
        "            if op != layout.MISSING:\n                return False\n            continue",
        "            continue",
    ),
    Mutation(
        "read a stale context row: keep the last truth over publications",
        "matching/fast/kernels/search.py",
        "    state[layout.LAST_ROW] = -1\n",
        "    pass\n",
    ),
    Mutation(
        "read a stale context row: do not report moves to the grid",
        "context/cells.py",
        "            self.is_moved[row] = 1\n",
        "            return\n",
    ),
    Mutation(
        "read a stale context row: write one variable less",
        "context/cells.py",
        "            cell = at + offsets[name]\n",
        "            cell = at + min(offsets.values())\n",
    ),
    Mutation(
        "off by one in a range bound: <= as <",
        "matching/fast/kernels/constraints.py",
        "        return below or equal\n    if op == layout.N_GT",
        "        return below\n    if op == layout.N_GT",
    ),
    Mutation(
        "off by one in a range bound: the interval of < holds its end",
        "matching/fast/kernels/access.py",
        "np.nextafter(number, -math.inf)",
        "number",
    ),
    Mutation(
        "off by one in a range bound: the box's last column of cells",
        "matching/fast/kernels/grids.py",
        "    for i in range(column, last_column + 1):",
        "    for i in range(column, last_column):",
    ),
    Mutation(
        "forget compaction's remap of blocks",
        "matching/fast/compaction.py",
        "    conjunctions[filters, layout.C_FIRST] = starts[: filters.size]\n",
        "",
    ),
    Mutation(
        "forget compaction's remap in postings",
        "matching/fast/compaction.py",
        "    _update_postings(arrays, conjunctions[filters])\n",
        "",
    ),
    Mutation(
        "forget compaction's remap of programs",
        "matching/fast/compaction.py",
        "    programs[functions, layout.R_FIRST] = starts[filters.size :]\n",
        "",
    ),
    Mutation(
        "forget compaction's remap of lists",
        "matching/fast/compaction.py",
        "    lists[which, layout.L_START] = starts\n",
        "",
    ),
    Mutation(
        "forget the heap's remap",
        "context/cells.py",
        "        metas[cells] = (metas[cells] & ~np.int64(0xFFFFFFFF)) | (starts + 1)\n",
        "",
    ),
    Mutation(
        "trust an interval with an integer beyond its double",
        "matching/fast/kernels/search.py",
        "stream_f[i + 1] if stream[i] >> layout.RESIDUE == 0 else np.nan",
        "stream_f[i + 1]",
    ),
    Mutation(
        "return a subscription once for each of its conjunctions",
        "matching/fast/kernels/search.py",
        "                if stamps[subscription] == event:\n                    continue\n",
        "",
    ),
    Mutation(
        "give up a grid without filing its conjunctions again",
        "matching/fast/functions.py",
        "        if family.is_active:\n            self._index.change_plan(family, active=False)\n",
        "        family.is_active = False\n",
    ),
    Mutation(
        "lose a member of a list",
        "matching/fast/filing.py",
        "    for member in _members(atom):\n",
        "    for member in _members(atom)[1:]:\n",
    ),
    Mutation(
        "lose the candidates gathered last",
        "matching/fast/kernels/search.py",
        "    maybe |= _decide(t, waiting)\n    state[layout.VISITED]",
        "    state[layout.VISITED]",
    ),
    Mutation(
        "take latitudes for too far apart at half the distance",
        "matching/fast/kernels/machine.py",
        "apart > metres * (1 + 1e-6) + 1.0",
        "apart > metres / 2",
    ),
    Mutation(
        "take conditions that only Python can decide for true",
        "matching/fast/kernels/search.py",
        "subscription if held == layout.TRUE else -1 - subscription",
        "subscription",
    ),
    Mutation(
        "compare integers without their residue in the kernel",
        "matching/fast/kernels/constraints.py",
        "    equal = a == b and residue_a == residue_b",
        "    equal = a == b",
    ),
    Mutation(
        "look for a longer prefix than there is",
        "matching/fast/kernels/access.py",
        "    used = min(length, layout.GRAM if way == layout.A_GRAM else layout.LONGEST_KEY)",
        "    used = min(length, layout.LONGEST_KEY)",
    ),
    Mutation(
        "let the machine's `or` forget what is unknown",
        "matching/fast/kernels/machine.py",
        "        found = max(found, each) if each >= layout.UNKNOWN else found",
        "        found = found",
    ),
    Mutation(
        "take a box of two names that may be strings",
        "matching/fast/boxes.py",
        "    if isinstance(clause.left, tree.Name) and isinstance(clause.right, tree.Name):",
        "    if clause is None:",
    ),
    Mutation(
        "do not update the place of an entry that moved in a list",
        "matching/fast/kernels/lists.py",
        "            conjunctions[(who & 0xFFFFFFFF) * layout.CONJUNCTION + layout.C_PLACE] = place\n",
        "            pass\n",
    ),
    Mutation(
        "do not move up the keys after a hole",
        "matching/fast/kernels/lists.py",
        "        if ((at - home) & mask) >= ((at - hole) & mask):",
        "        if home < 0:",
    ),
    Mutation(
        "subscribe in the middle of a batch",
        "silbo/core/run.py",
        "        self.flush()\n        if type(event) is Publish:",
        "        if type(event) is Publish:",
    ),
    Mutation(
        "walk a batch of records unsorted",
        "streaming/bulk/step.py",
        "    waiting = sorted([*state.waiting, *arrivals])\n    limit = state.frontier.time\n"
        "    passed = [each for each in waiting if each.time < limit]\n    state.waiting = waiting[len(passed) :]\n",
        "    waiting = [*state.waiting, *arrivals]\n    limit = state.frontier.time\n"
        "    passed = [each for each in waiting if each.time < limit]\n"
        "    state.waiting = [each for each in waiting if each.time >= limit]\n",
    ),
    Mutation(
        "match with the latest context of a batch",
        "streaming/bulk/step.py",
        "    for each in passed:\n        walk.apply(each.record)\n",
        "    for each in sorted(passed, key=lambda each: each.is_publication):\n        walk.apply(each.record)\n",
    ),
    Mutation(
        "let a silent topic not hold the frontier",
        "streaming/bulk/order.py",
        "min(self.marks.values(), default=NEVER)",
        "min((mark for mark in self.marks.values() if mark != NEVER), default=NEVER)",
    ),
    Mutation(
        "trust a stale worker's cache",
        "streaming/spark/holding.py",
        "return None if state is None or token != request.token else",
        "return None if state is None else",
    ),
    Mutation(
        "forget what waits for the frontier in a snapshot",
        "streaming/bulk/snapshots.py",
        "_chunks(map(_placed, state.waiting))",
        "_chunks(map(_placed, []))",
    ),
    Mutation(
        "keep the first context of a batch in the delta, not the last",
        "streaming/bulk/step.py",
        "for each in reversed(passed):",
        "for each in passed:",
    ),
    Mutation(
        "round the low end of a device's box inwards",
        "hw/offload/fixed_point.py",
        "    return math.floor(_clamped(coordinate - wide)),",
        "    return math.ceil(_clamped(coordinate - wide)),",
    ),
    Mutation(
        "forget that 1 and true are two words of the device",
        "hw/offload/words.py",
        "said = ((name, KINDS[type(value)], value)",
        'said = ((name, "string" if type(value) is str else "number", value)',
    ),
    Mutation(
        "leave a part of a subscription that found no room on the device",
        "hw/offload/offload.py",
        "                    undo.callback(self._unregister, conjunction)\n",
        "",
    ),
    Mutation(
        "give a subscriber's row on the device the box of one subscription",
        "hw/offload/axes.py",
        "        x_low, x_high, y_low, y_high = zip(*found, strict=True)\n",
        "        x_low, x_high, y_low, y_high = zip(found[0], strict=True)\n",
    ),
    Mutation(
        "RTL: count a filter as often as it occurs in a publication",
        "hw/rtl/pmu/crt_cam_bank.v",
        "[g*BYTES +: BYTES] && !silent_reg[g];",
        "[g*BYTES +: BYTES];",
    ),
    Mutation(
        "RTL: remember over publications which filters were seen",
        "hw/rtl/pmu/crt_cam_bank.v",
        "= forget || clear || cleared_reg ?",
        "= clear || cleared_reg ?",
    ),
    Mutation(
        "RTL: leave the last byte of a filter out",
        "hw/rtl/pmu/crt_cam_bank.v",
        "&equal_reg[g*BYTES +: BYTES]",
        "&equal_reg[g*BYTES +: BYTES - 1]",
    ),
    Mutation(
        "RTL: keep the storing counter of a subscription that was removed",
        "hw/rtl/pmu/storing_counters.v",
        " & ~(who & {SIDS{forget}})",
        "",
    ),
    Mutation(
        "RTL: count a filter as often as it occurs in a subscription",
        "hw/rtl/x2cbbr.v",
        "(filter_done && filter_is_new)",
        "(filter_done)",
    ),
    Mutation(
        "RTL: do not follow chained rows",
        "hw/rtl/pmu/list_reader.v",
        "wire [ADDRESS-1:0] next       = row[WIDTH-1 -: ADDRESS];",
        "wire [ADDRESS-1:0] next       = {ADDRESS{1'b0}};",
    ),
    Mutation(
        "RTL: unlink a row together with all rows after it",
        "hw/rtl/pmu/xpath_fsm3_list.v",
        "if (unlinks) write_row = {next, before_slots_reg};",
        "if (unlinks) write_row = {{ADDRESS{1'b0}}, before_slots_reg};",
    ),
    Mutation(
        "RTL: keep the filters that a refused subscription had registered",
        "hw/rtl/pmu/xpath_fsm1.v",
        "if (filter_failed) state_next = UNDO;",
        "if (filter_failed) {finished, failure, state_next} = {1'b1, F_CRT_FULL, IDLE};",
    ),
    Mutation(
        "RTL: exclude the border of a box",
        "hw/rtl/pmu/context_lane.v",
        "$signed(x) <= x_high",
        "$signed(x) < x_high",
    ),
    Mutation(
        "RTL: let a context in while a scan runs",
        "hw/rtl/pmu/context_manager.v",
        "!scanning && !start && !zero;",
        "!zero;",
    ),
    Mutation(
        "RTL: decide before the scan is over",
        "hw/rtl/bus/control.v",
        "(found_all || found_all_reg) && !scanning;",
        "(found_all || found_all_reg);",
    ),
    Mutation(
        "RTL: begin a publication before the last result was taken",
        "hw/rtl/bus/control.v",
        "!busy && !matching_reg && !done_reg;",
        "!busy && !matching_reg;",
    ),
]


def prepare(mutation: Mutation, folder: Path) -> None:
    """Copy the checkout into a folder and apply one mutation."""
    copy_checkout(folder)
    path = folder / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        raise SystemExit(f"{mutation.file}: the text of {mutation.name!r} occurs {text.count(mutation.old)} times")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    if mutation.file == "context/table.py" and "_before" in mutation.new:
        remember_before(path)


def copy_checkout(folder: Path) -> None:
    """Copy the files that git knows, so that a test finds every page and setting that it reads."""
    if folder.exists():
        shutil.rmtree(folder)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def remember_before(path: Path) -> None:
    """Let the table keep each row as it was before its last write, for the mutation that reads it."""
    text = path.read_text(encoding="utf-8")
    text = text.replace("self._writes = 0\n", "self._writes = 0\n        self._before: dict[int, Context] = {}\n")
    merged = "        merged = changed_context(old, changes)\n"
    text = text.replace(merged, merged + "        self._before[row] = self._rows[row]\n")
    path.write_text(text, encoding="utf-8")


def first_failure(folder: Path, cache: Path, tests: list[str]) -> str | None:
    """The name of the first of these tests that fails in the copy; None if all pass."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return None if done.returncode == 0 else (failed or ["the run itself"])[0].partition(" - ")[0]


def tried(mutation: Mutation, shared: Path) -> str | None:
    """The name of the first test that detects a mutation; None if it survives.

    The copy is always made in the same folder: numba's cache identifies kernels by their path, and most mutations
    do not change them.
    """
    folder, cache = shared / "checkout", shared / "cache"
    prepare(mutation, folder)
    if mutation.file.endswith(".lark"):
        return first_failure(folder, cache, GRAMMAR)
    if mutation.file.startswith("hw/rtl/"):
        return first_failure(folder, cache, RTL)
    likely = next((tests for room, tests in ROOMS.items() if mutation.file.startswith(f"{room}/")), LIKELY)
    return first_failure(folder, cache, likely) or first_failure(folder, cache, REST)


def check_unmutated(shared: Path) -> None:
    """Raise if a test fails in a copy without a mutation: it would seem to detect every mutation."""
    folder = shared / "checkout"
    copy_checkout(folder)
    failure = first_failure(folder, shared / "cache", REST)
    if failure is not None:
        raise SystemExit(f"the tests fail without a mutation: {failure}")


def main() -> int:
    """Try every mutation, or those whose name contains a word, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", default="", help="try only mutations whose name contains this")
    word = parser.parse_args().word
    survived = 0
    with tempfile.TemporaryDirectory(prefix="silbo-mutations-") as shared:
        check_unmutated(Path(shared))
        for mutation in (each for each in MUTATIONS if word in each.name):
            seen_by = tried(mutation, Path(shared))
            survived += seen_by is None
            print(f"{'SURVIVED' if seen_by is None else 'seen':9}{mutation.name:70}{seen_by or ''}", flush=True)
    print(f"{survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    raise SystemExit(main())
