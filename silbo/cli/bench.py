"""`silbo bench`: figures of matching and of context changes on this machine, and the page of all of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from silbo.cli.commands import positive

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

# the benches bring numpy and numba in: they are imported where a command runs
NAMES = ("siena", "nocontext", "bigbox", "clustered", "identical", "strings", "mixed")

EPILOG = """examples:
  silbo bench matching                                         the paper's workload, 80,000 subscriptions
  silbo bench matching --workload mixed --json                 one JSON object
  silbo bench context --subscribers 8000                       what a context change takes
  silbo bench report --out docs/performance.md                 everything, as a page
"""
MATCHING = """examples:
  silbo bench matching
  silbo bench matching --subscriptions 1000000 --events 1000
  silbo bench matching --workload nocontext --seed 7 --json
  silbo bench matching --workload bigbox --no-starts           without starting new processes

workloads:
  siena      1,000 names by Zipf's law, 1 to 9 constraints, 1 to 16 attributes, a box of 40 km in a square of 1,000
  nocontext  the same without context functions
  bigbox     boxes of half the square
  clustered  subscribers and publishers in twenty towns
  identical  a hundred distinct filters
  strings    prefixes, suffixes, parts and whole words; no context functions
  mixed      functions with strings, sets, arithmetic, `or` and geometries, some thousands of them

match_us is from a dict to the subscriptions' numbers, publish_us from the verb to queued notifications. Exit status
1 if an answer differs from the oracle's or a baseline's.
"""
CONTEXT = """examples:
  silbo bench context
  silbo bench context --subscribers 100000 --json

set_context_us is by subscriptions a subscriber has, siena_us the same change where the box stands in the filters.
"""
STREAM = """examples:
  silbo bench stream --subscriptions 100000
  silbo bench stream --subscriptions 100000 --source kafka --json
  silbo bench stream --subscriptions 1000000 --source kafka --kafka localhost:9092

Runs the Spark job in this process (local[2]) in arrival order. publications_per_s and contexts_per_s are of topics
that were filled before; untouched is what a batch costs that touches no subscription, folds of the state apart; naive
is every publication against every subscription in Spark's SQL, in batches of the same size. Without --kafka a Kafka
is started.
"""
REPORT = """examples:
  silbo bench report --out docs/performance.md
  silbo bench report --out /tmp/performance.md --quick         small sizes, to see the page
"""


def add_to(commands: Commands) -> None:
    """Declare the commands."""
    parser = _declared(commands, "bench", "measure matching and context changes on this machine", EPILOG)
    benches = parser.add_subparsers(title="benches", required=True, metavar="BENCH")
    _add_matching(benches)
    _add_context(benches)
    _add_stream(benches)
    _add_report(benches)


def _declared(commands: Commands, name: str, help: str, epilog: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_matching(benches: Commands) -> None:
    parser = _declared(benches, "matching", "measure matching on one workload, beside other ways to match", MATCHING)
    _add_sizes(parser)
    parser.add_argument("--workload", choices=NAMES, default="siena", help="which one (default: siena)")
    parser.add_argument("--no-starts", action="store_true", help="leave out how long new processes take to start")
    _add_json(parser)
    parser.set_defaults(run=run_matching)


def _add_context(benches: Commands) -> None:
    parser = _declared(benches, "context", "measure changes of subscribers' contexts", CONTEXT)
    _add_subscribers(parser)
    _add_seed(parser)
    _add_json(parser)
    parser.set_defaults(run=run_context)


def _add_stream(benches: Commands) -> None:
    parser = _declared(benches, "stream", "measure the Spark job, over a log or Kafka", STREAM)
    parser.add_argument("--subscriptions", type=positive, default=100_000, metavar="N", help="default: 100,000")
    parser.add_argument("--source", choices=("log", "kafka"), default="log", help="default: log")
    parser.add_argument("--kafka", metavar="HOST:PORT", help="a Kafka that runs already")
    _add_seed(parser)
    _add_json(parser)
    parser.set_defaults(run=run_stream)


def _add_report(benches: Commands) -> None:
    parser = _declared(benches, "report", "measure everything, and write it as a page", REPORT)
    _add_sizes(parser)
    _add_subscribers(parser)
    parser.add_argument("--large", type=int, default=1_000_000, metavar="N",
                        help="subscriptions of a second run of siena, 0 for none (default: 1,000,000)")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small sizes: the figures mean nothing")
    parser.add_argument("--out", type=Path, required=True, metavar="PAGE", help="the file to write")
    parser.set_defaults(run=run_report)


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--subscriptions", type=positive, default=80_000, metavar="N", help="default: 80,000")
    parser.add_argument("--events", type=positive, default=2_000, metavar="M", help="publications (default: 2,000)")
    _add_seed(parser)


def _add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="the same gives the same workload (default: 1)"
    )


def _add_subscribers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--subscribers", type=positive, default=8_000, metavar="N", help="default: 8,000")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def run_matching(options: argparse.Namespace) -> int:
    """Measure matching; 1 if an answer was wrong."""
    from silbo.bench.matching import measure

    found = measure(
        options.workload, options.subscriptions, options.events, options.seed,
        with_starts=not options.no_starts, say=_say,
    )  # fmt: skip
    _show(found, as_json=options.json)
    return 0 if found["agrees"] else 1


def run_context(options: argparse.Namespace) -> int:
    """Measure context changes."""
    from silbo.bench.context import measure

    _show(measure(options.subscribers, options.seed, say=_say), as_json=options.json)
    return 0


def run_stream(options: argparse.Namespace) -> int:
    """Measure the Spark job; 1 if an answer was wrong."""
    from silbo.bench.stream import run

    found = run(options.subscriptions, options.source, options.kafka, options.seed, say=_say)
    _show(found, as_json=options.json)
    return 0 if found["agrees"] else 1


def run_report(options: argparse.Namespace) -> int:
    """Write the page."""
    from silbo.bench.report import report

    sizes = {"subscriptions": options.subscriptions, "events": options.events, "subscribers": options.subscribers}
    large = options.large or None
    if options.quick:
        sizes, large = {"subscriptions": 1_000, "events": 100, "subscribers": 100}, None
    page = report(**sizes, large=large, seed=options.seed, say=_say)
    options.out.write_text(page, encoding="utf-8")
    return 0


def _show(found: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    lines = list(_lines(found, ""))
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print(f"{name:{width}}  {value}")


def _lines(found: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    """Every figure with the names that lead to it."""
    for name, value in found.items():
        if isinstance(value, dict) and value:
            yield from _lines(value, f"{before}{name} ")
        else:
            yield before + name, _told(value)


def _told(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:,}"
        case list() | dict():
            return "; ".join(map(str, value)) or "none"
        case _:
            return str(value)


def _say(text: str) -> None:
    """Tell of the progress, if somebody looks."""
    if sys.stderr.isatty():
        print(f"… {text}", file=sys.stderr, flush=True)
