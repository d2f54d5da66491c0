"""`silbo bench report`: all workloads and the context changes, as the page docs/performance.md."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from silbo.bench.machine import machine
from silbo.bench.timing import Say, say_nothing
from silbo.bench.workloads import WORKLOADS

TIMES = "Times are microseconds, medians unless said otherwise; each call is timed by itself, in one thread."
MEANING = """`match` is from a dict to the subscriptions' numbers, `publish` from the verb to queued notifications,
`apply` from a batch of encoded columns, in publications a second (the median of five runs): where there is a box,
a hundred subscribers move before each of them, so context changes are a hundred times as many.
*Agrees* is the comparison with the oracle (matches and near misses) and with every baseline."""
OTHERS = """Microseconds an event, and how many times ours that is. *Brute* and *context first* are numpy; *SIENA* has
the box in the filters, over the same index. A dash: it cannot take this workload."""
SLOW = """## What is slow, and why

- **Many matches.** An event that selects hundreds of subscriptions (`nocontext`) has to visit each of them; a
  publish makes a notification for each and puts it into its queue, in Python, and that is most of its time.
- **Wide boxes.** Where a box keeps a good part of all subscribers (`bigbox`), no grid helps; content comes first,
  and the box is looked at for what content left over. The SIENA way is then as fast at matching: it has the box in
  the filter, among the constraints it checks in any case. What it pays for that is told below, for each change.
- **Crowds.** Where subscribers and publishers stand close together (`clustered`), the grid's cells are full, and
  context first takes longer than content first; here, too, the SIENA way matches as fast.
- **Long lists.** `city in (…)` with up to 16 members is found by the member; a longer list is looked at whenever a
  message has a `city` at all.
- **Patterns.** Of every string in a message each prefix, suffix and short part whose length somebody asked for is
  hashed and looked up, so the time grows with the length of strings, matches or not (`strings`).
- **Geometries.** Kernels know the bounds of shapes only; where bounds meet, shapely decides, in Python (`mixed`).
- **Functions without a box.** `or`, sets and strings (`mixed`) are evaluated by a stack machine for each candidate
  that content left over.
- **Memory.** *Bytes a subscription* counts the index and the context table, each subscriber's context with ten
  subscriptions; contexts of a dozen variables with strings, sets and shapes (`mixed`) take most of their share. The
  process holds besides the filters and functions as they were written, for explanations and records.
- **A busy host.** What is larger than the processor's caches (`mixed`, a million subscriptions) waits for memory,
  and for whoever else uses it: on shared machines such figures differ from run to run much more than the ratios.
- **The first start.** Kernels are compiled once and cached; a process that finds no cache compiles before
  its first match, as long as the figure above says. `silbo warm` does so ahead of time.
- **Python's own cost.** A message is a dict: its names are looked up and its values encoded one by one before any
  kernel runs, and `publish` checks every value at the door.
"""


def report(
    *, subscriptions: int, events: int, large: int | None, subscribers: int, seed: int, say: Say = say_nothing
) -> str:
    """Measure everything, and write the page."""
    runs = [(name, subscriptions) for name in WORKLOADS]
    if large is not None:
        runs.insert(1, ("siena", large))
    measured = []
    for i, (name, count) in enumerate(runs):
        say(f"{name}, {count:,} subscriptions")
        sizes = [f"--subscriptions={count}", f"--events={events}", f"--seed={seed}"]
        measured.append(_measured("matching", f"--workload={name}", *sizes, *["--no-starts"] * (i > 0)))
    say("context changes")
    changed = _measured("context", f"--subscribers={subscribers}", f"--seed={seed}")
    return page(measured, changed, command=_command(subscriptions, events, large, subscribers, seed))


def _measured(*command: str) -> dict[str, Any]:
    """The figures of a bench, in a process of its own: what one run leaves in memory is no matter of the next."""
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-m", "silbo", "bench", *command, "--json"], stdout=subprocess.PIPE, check=False
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _command(subscriptions: int, events: int, large: int | None, subscribers: int, seed: int) -> str:
    given: dict[str, Any] = {"subscriptions": subscriptions, "events": events, "large": large or 0,
                             "subscribers": subscribers, "seed": seed}  # fmt: skip
    return shlex.join(["silbo", "bench", "report", *(f"--{name}={value}" for name, value in given.items())])


def page(measured: Sequence[Mapping[str, Any]], changed: Mapping[str, Any], *, command: str) -> str:
    """The page, from the figures."""
    seed = measured[0]["seed"]
    return "\n".join([
        "# Performance",
        "",
        f"Made by `{command}` on {datetime.now(UTC):%Y-%m-%d}, seed {seed}. {TIMES}",
        "",
        *_table(["", ""], machine().items()),
        "",
        "## Matching",
        "",
        MEANING,
        "",
        *_table(MATCHING, map(_matching_row, measured)),
        "",
        "### Other ways, in the same run",
        "",
        OTHERS,
        "",
        *_table(["workload", "subscriptions", "numpy brute", "numpy context first", "SIENA style"],
                map(_baseline_row, measured)),
        "",
        "### Changes, memory, starts",
        "",
        *_table(["workload", "subscriptions", "build s", "add", "remove", "bytes a subscription", "process MB"],
                map(_memory_row, measured)),
        "",
        *_starts(measured[0]),
        "",
        "## Context changes",
        "",
        f"{changed['subscribers']:,} subscribers in one broker, a quarter of them with 0, 1, 10 and 50 subscriptions;",
        "a box of 40 km in each function. The SIENA way has an index for each of these numbers.",
        "",
        *_table(["", ""], _context_rows(changed)),
        "",
        SLOW,
    ])  # fmt: skip


MATCHING = (
    "workload", "subscriptions", "matches", "candidates", "plan", "match", "p99", "publish", "p99", "apply/s", "agrees",
)  # fmt: skip


def _matching_row(run: Mapping[str, Any]) -> list[str]:
    on = run["agrees_on"]
    return [
        run["workload"], f"{run['subscriptions']:,}", f"{run['matches_per_event']:,.1f}",
        f"{run['candidates_per_event']:,.1f}", run["plan"], *_both(run["match_us"]), *_both(run["publish_us"]),
        _number(run["apply_events_per_s"]),
        f"{'yes' if run['agrees'] else 'NO'} ({on['matches']:,}, {on['near_misses']:,})",
    ]  # fmt: skip


def _baseline_row(run: Mapping[str, Any]) -> list[str]:
    return [run["workload"], f"{run['subscriptions']:,}", *map(_baseline, run["baselines"].values())]


def _baseline(found: Mapping[str, Any]) -> str:
    return "–" if found["us"] is None else f"{found['us']:,.0f} ({found['ratio']:,.1f} ×)"


def _memory_row(run: Mapping[str, Any]) -> list[str]:
    names = ("build_s", "add_us", "remove_us", "bytes_per_subscription", "rss_mb")
    return [run["workload"], f"{run['subscriptions']:,}", *(_number(run[name]) for name in names)]


def _starts(run: Mapping[str, Any]) -> list[str]:
    warm, cold, cpu = (_number(run[name]) for name in ("warm_start_s", "cold_start_s", "cold_cpu_s"))
    return [
        f"A new process has its first notification after {warm} s,",
        f"with nothing in the cache of kernels after {cold} s ({cpu} s of CPU).",
    ]


def _context_rows(changed: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    yield "the table's own call", f"{changed['table_us']} µs"
    for step, taken in changed["set_context_us"].items():
        yield f"`set_context`, {step} subscriptions each", f"{taken['median']} µs (p99 {taken['p99']})"
    yield "slope, 50 over 0", f"{changed['slope']}"
    for step, taken in changed["siena_us"].items():
        yield f"the SIENA way, {step} subscriptions each", f"{taken:,} µs"
    yield "ratio at 10", f"{changed['ratio']:,} ×"
    yield "many at once, a row", f"{changed['bulk_ns']['plain']} ns, with a grid {changed['bulk_ns']['grid']} ns"


def _both(taken: Mapping[str, float]) -> tuple[str, str]:
    return _number(taken["median"]), _number(taken["p99"])


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1_000 else f"{value:,.1f}"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    heads = list(heads)
    return [_line(heads), _line(["---"] * len(heads)), *map(_line, rows)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
