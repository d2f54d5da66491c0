"""`silbo bench context`: the time of a change of a subscriber's context."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from silbo.cli.bench.arguments import add_json, add_seed, add_subscribers, declared
from silbo.cli.bench.figures import show
from silbo.cli.commands import say

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo bench context
  silbo bench context --subscribers 100000 --json

set_context_us is by the subscriptions that a subscriber has; siena_us is the same change with the box in the filters.
"""


def add_to(benches: Commands) -> None:
    """Declare the command."""
    parser = declared(benches, "context", "measure changes of subscribers' contexts", EPILOG)
    add_subscribers(parser)
    add_seed(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure context changes."""
    from silbo.bench.context import measure

    show(measure(options.subscribers, options.seed, say=say), as_json=options.json)
    return 0
