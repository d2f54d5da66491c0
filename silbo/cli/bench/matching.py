"""`silbo bench matching`: the time of matching on one workload, and of other ways to match."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from silbo.cli.bench.arguments import add_json, add_sizes, declared
from silbo.cli.bench.figures import show
from silbo.cli.commands import say

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

# those of silbo.bench.workloads, which is imported only when the command runs: it imports numpy
NAMES = ("siena", "nocontext", "bigbox", "clustered", "identical", "strings", "mixed")

EPILOG = """examples:
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

match_us is the time from a dict to the numbers of the subscriptions, publish_us from the call to queued notifications.
parse_us is the CPU time to read the text of a new filter; subscribe_us is the time of the call with a filter that was
read before, and add_us the part of it that the index takes.
The exit status is 1 if an answer differs from the oracle's or a baseline's.
"""


def add_to(benches: Commands) -> None:
    """Declare the command."""
    parser = declared(benches, "matching", "measure matching on one workload, and other ways to match", EPILOG)
    add_sizes(parser)
    parser.add_argument("--workload", choices=NAMES, default="siena", help="which one (default: siena)")
    parser.add_argument("--no-starts", action="store_true", help="leave out how long new processes take to start")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure matching; returns 1 if an answer was wrong."""
    from silbo.bench.matching import measure

    found = measure(
        options.workload, options.subscriptions, options.events, options.seed,
        with_starts=not options.no_starts, say=say,
    )  # fmt: skip
    show(found, as_json=options.json)
    return 0 if found["agrees"] else 1
