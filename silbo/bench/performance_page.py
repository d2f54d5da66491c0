"""`silbo bench report`: all workloads and the context changes, as the page docs/performance.md."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from silbo.bench.machine import machine
from silbo.bench.timing import Say, say_nothing
from silbo.bench.workloads import WORKLOADS

TIMES = "Times are medians in microseconds unless stated otherwise. Each call is timed separately, in one thread."
MEANING = """`match` takes a message as a dict and returns the numbers of the matching subscriptions. `publish` is the
public call, until the notifications are queued. `apply` takes a batch of encoded columns; its figure is publications
per second, the median of five runs. In workloads with a box, a hundred subscribers move before each publication of
that batch, so it has a hundred times as many context changes as publications.
*Agrees* is the result of the comparison with the oracle (number of matches, number of near misses) and with every
baseline."""
OTHERS = """Microseconds per event, and the ratio to silbo's time for the same events. *Numpy brute* and *numpy context
first* are written in numpy. *SIENA style* uses the same index with the box in the filters. A dash means that the
method cannot run this workload."""
CHANGES = """*Read* is the CPU time to read the text of a new filter, and *subscribe* the call with a filter that was
read before; *add* is the part of it that the index takes."""
SLOW = """## What is slow, and why

- **Many matches.** An event that matches hundreds of subscriptions (`nocontext`) has to visit each of them. `publish`
  appends the publication to the queue of each match, in Python, which takes most of its time; the notification is
  made when it is read.
- **Wide boxes.** If a box contains a large part of all subscribers (`bigbox`), a grid does not help. Content is
  matched first, and the box is checked for the remaining candidates. The SIENA style then matches as fast, because
  the box is among the constraints that it checks anyway. Its cost for each context change is shown above.
- **Crowds.** If subscribers and publishers are close together (`clustered`), the grid's cells are full, and context
  first takes longer than content first. Here, too, the SIENA style matches as fast.
- **Long lists.** `city in (…)` with up to 16 members is indexed by member. A longer list is checked for every message
  that has a `city`.
- **Patterns.** For every string in a message, each prefix, suffix and substring of a length that some subscription
  uses is hashed and looked up. The time grows with the length of the strings, with or without a match (`strings`).
- **Geometries.** Kernels know only the bounds of shapes. Where bounds overlap, shapely decides, in Python (`mixed`).
- **Functions without a box.** `or`, sets and strings (`mixed`) are evaluated by a stack machine for each candidate
  that is left after the content.
- **Memory.** *Bytes per subscription* counts the index and the context table; ten subscriptions share one
  subscriber's context. In `mixed`, contexts of a dozen variables with strings, sets and shapes take most of it. The
  process also holds the text of filters and functions, for explanations and records.
- **A busy host.** Workloads larger than the processor's caches (`mixed`, a million subscriptions) wait for memory.
  On a shared machine these times differ from run to run much more than the ratios do.
- **The first start.** Kernels are compiled once and cached. A process without a cache compiles them before its first
  match, which takes the time shown above. `silbo warm` compiles them ahead of time.
- **Python's own cost.** A message is a dict: its names are looked up and its values are encoded one by one before any
  kernel runs, and `publish` validates every value.
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
    """The figures of one bench, run in its own process so that memory left by one run does not affect the next."""
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
    """The page as Markdown, written from the figures."""
    seed = measured[0]["seed"]
    return "\n".join([
        "# Performance",
        "",
        f"Generated by `{command}` on {datetime.now(timezone.utc):%Y-%m-%d}, seed {seed}. {TIMES}",
        "",
        *_table(["", ""], machine().items()),
        "",
        "## Matching",
        "",
        MEANING,
        "",
        *_table(MATCHING, map(_matching_row, measured)),
        "",
        "### Other methods, in the same run",
        "",
        OTHERS,
        "",
        *_table(["workload", "subscriptions", "numpy brute", "numpy context first", "SIENA style"],
                map(_baseline_row, measured)),
        "",
        "### Index changes, memory and start-up",
        "",
        CHANGES,
        "",
        *_table(MEMORY, map(_memory_row, measured)),
        "",
        *_starts(measured[0]),
        "",
        "## Context changes",
        "",
        f"{changed['subscribers']:,} subscribers in one broker, a quarter of them with 0, 1, 10 and 50 subscriptions",
        "each; every context function is a box of 40 km. The SIENA style has a separate index for each number.",
        "",
        *_table(["", ""], _context_rows(changed)),
        "",
        SLOW,
    ])  # fmt: skip


MATCHING = (
    "workload", "subscriptions", "matches", "candidates", "plan", "match", "p99", "publish", "p99", "apply/s", "agrees",
)  # fmt: skip


MEMORY = (
    "workload", "subscriptions", "build s", "read", "subscribe", "add", "remove", "bytes per subscription",
    "process MB",
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
    names = ("build_s", "parse_us", "subscribe_us", "add_us", "remove_us", "bytes_per_subscription", "rss_mb")
    return [run["workload"], f"{run['subscriptions']:,}", *(_number(run[name]) for name in names)]


def _starts(run: Mapping[str, Any]) -> list[str]:
    warm, cold, cpu = (_number(run[name]) for name in ("warm_start_s", "cold_start_s", "cold_cpu_s"))
    return [
        f"A new process gets its first notification after {warm} s,",
        f"or after {cold} s ({cpu} s of CPU) with an empty kernel cache.",
    ]


def _context_rows(changed: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    yield "the context table alone", f"{changed['table_us']} µs"
    for step, taken in changed["set_context_us"].items():
        yield f"`set_context`, {step} subscriptions each", f"{taken['median']} µs (p99 {taken['p99']})"
    yield "slope, 50 to 0 subscriptions", f"{changed['slope']}"
    for step, taken in changed["siena_us"].items():
        yield f"SIENA style, {step} subscriptions each", f"{taken:,} µs"
    yield "SIENA style to `set_context`, 10 subscriptions", f"{changed['ratio']:,} ×"
    yield "bulk update, per row", f"{changed['bulk_ns']['plain']} ns, with a grid {changed['bulk_ns']['grid']} ns"


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
