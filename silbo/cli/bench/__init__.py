"""`silbo bench`: measure matching, context changes and the Spark job on this machine, or write a page of figures.

Each command is a module, and this module joins them. They import numpy and numba only when they run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from silbo.cli.bench import context, matching, report, stream
from silbo.cli.bench.arguments import declared

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

BENCHES = (matching, context, stream, report)

EPILOG = """examples:
  silbo bench matching                                         the paper's workload, 80,000 subscriptions
  silbo bench matching --workload mixed --json                 one JSON object
  silbo bench context --subscribers 8000                       the time of a context change
  silbo bench stream --subscriptions 100000                    the Spark job
  silbo bench report --out docs/performance.md                 everything, as a page
"""


def add_to(commands: Commands) -> None:
    """Declare the commands."""
    parser = declared(commands, "bench", "measure matching and context changes on this machine", EPILOG)
    benches = parser.add_subparsers(title="benches", required=True, metavar="BENCH")
    for bench in BENCHES:
        bench.add_to(benches)
