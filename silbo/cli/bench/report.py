"""`silbo bench report`: measure everything, and write it as a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.cli.bench.arguments import add_sizes, add_subscribers, declared
from silbo.cli.commands import say

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo bench report --out docs/performance.md
  silbo bench report --out /tmp/performance.md --quick         small sizes, to see the page
"""


def add_to(benches: Commands) -> None:
    """Declare the command."""
    parser = declared(benches, "report", "measure everything, and write it as a page", EPILOG)
    add_sizes(parser)
    add_subscribers(parser)
    parser.add_argument("--large", type=int, default=1_000_000, metavar="N",
                        help="subscriptions of a second run of siena, 0 for none (default: 1,000,000)")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small sizes; the figures are not meaningful")
    parser.add_argument("--out", type=Path, required=True, metavar="PAGE", help="the file to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page."""
    from silbo.bench.performance_page import report

    sizes = {"subscriptions": options.subscriptions, "events": options.events, "subscribers": options.subscribers}
    large = options.large or None
    if options.quick:
        sizes, large = {"subscriptions": 1_000, "events": 100, "subscribers": 100}, None
    page = report(**sizes, large=large, seed=options.seed, say=say)
    options.out.write_text(page, encoding="utf-8")
    return 0
