"""`silbo experiment x2cbbr`: the tables of the hardware broker, on the simulated RTL."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.cli.experiment.results import Progress, written

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo experiment x2cbbr
  silbo experiment x2cbbr --out /tmp/x2cbbr

Runs the rows of Tables 1 to 3 that concern the matching unit, and the bus traffic of Case II, on the simulated RTL
with bitmap and with list rows. Prints the paper's cycles next to ours, with times at the paper's clocks, which are
assumed, and writes report.html, its pictures and results.json. The simulation is compiled at its first use, which
takes a minute. The exit status is 1 if a match is wrong.
"""


def add_to(experiments: Commands) -> None:
    """Declare the command."""
    parser = experiments.add_parser(
        "x2cbbr", help="the hardware broker X2CBBR", description="The hardware broker X2CBBR.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("out/x2cbbr"), metavar="DIR", help="default: out/x2cbbr")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the experiment and write its results; returns 1 if an answer was wrong."""
    from silbo.papers.x2cbbr import cycle_report, cycle_table, experiment

    say = Progress()
    options.out.mkdir(parents=True, exist_ok=True)
    results = experiment.run(say)
    return written(results, options.out, cycle_report.write, cycle_table.text(results), say)
