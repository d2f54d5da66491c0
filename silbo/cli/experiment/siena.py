"""`silbo experiment siena`: explicit context against SIENA."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.cli.experiment.results import Progress, written

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo experiment siena
  silbo experiment siena --quick --seed 7 --out /tmp/siena

Runs Figures 7, 8, 9 and 11, Table 1 and the trade-off of equation 2, with the context in a table (silbo) and in the
filters (SIENA), over the same index; then scopes, the trade-off as a surface, and a replay of traffic, which needs
pip install 'silbo[sumo]'. Prints a table with the paper's values next to ours, and writes report.html, one PNG per
figure and results.json. The exit status is 1 if a notification differs from the oracle's.
"""


def add_to(experiments: Commands) -> None:
    """Declare the command."""
    parser = experiments.add_parser(
        "siena", help="explicit context against SIENA", description="Explicit context against SIENA.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="fewer repeats and smaller extensions, within two minutes")
    parser.add_argument(
        "--seed", type=_seed, default=1, metavar="S", help="the same seed gives the same counts (default: 1)"
    )
    parser.add_argument("--out", type=Path, default=Path("out/siena"), metavar="DIR", help="default: out/siena")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the experiment and write its results; returns 1 if an answer was wrong."""
    from silbo.papers.siena import experiment, figure_report, figure_table, sizes

    say, chosen = Progress(), sizes.QUICK if options.quick else sizes.FULL
    options.out.mkdir(parents=True, exist_ok=True)
    say(f"this takes about {_minutes(experiment.expected_seconds(chosen))} on this machine")
    results = experiment.run(chosen, options.seed, say)
    return written(results, options.out, figure_report.write, figure_table.text(results), say)


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"a number from 0 on is expected, not {number}")
    return number


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
