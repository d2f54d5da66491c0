"""`silbo experiment`: the papers' experiments on this machine, as a table, a report and pictures."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo experiment siena --quick                   a first look, within two minutes
  silbo experiment siena --out out/siena           the paper's experiment against SIENA
  silbo experiment x2cbbr                          the hardware broker's tables, on the simulated RTL
"""
X2CBBR = """examples:
  silbo experiment x2cbbr
  silbo experiment x2cbbr --out /tmp/x2cbbr

Runs the rows of Tables 1 to 3 that are the matching unit's, and what Case II sends over the buses, on the simulated
RTL with bitmap and with list rows. Prints the paper's cycles beside ours, with times at the paper's clocks, which are
assumed, and writes report.html, its pictures and results.json. The simulation is compiled at its first use, which
takes a minute. Exit status 1 if a match is wrong.
"""
SIENA = """examples:
  silbo experiment siena
  silbo experiment siena --quick --seed 7 --out /tmp/siena

Runs Figures 7, 8, 9 and 11, Table 1 and the trade-off of equation 2, with the context in a table (silbo) and in the
filters (SIENA), over the same index; then scopes, the trade-off as a surface, and a replay of traffic, which needs
pip install 'silbo[sumo]'. Prints a table with the paper's values beside ours, and writes report.html, one PNG a figure
and results.json. Exit status 1 if a notification differs from the oracle's.
"""


def add_to(commands: Commands) -> None:
    """Declare the commands."""
    parser = commands.add_parser(
        "experiment", help="run the paper's experiments again", description="Run the paper's experiments again.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    experiments = parser.add_subparsers(title="experiments", required=True, metavar="EXPERIMENT")
    siena = experiments.add_parser(
        "siena", help="explicit context against SIENA", description="Explicit context against SIENA.",
        epilog=SIENA, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    siena.add_argument("--quick", action="store_true", help="fewer repeats and smaller extensions, within two minutes")
    siena.add_argument("--seed", type=_seed, default=1, metavar="S", help="the same gives the same counts (default: 1)")
    siena.add_argument("--out", type=Path, default=Path("out/siena"), metavar="DIR", help="default: out/siena")
    siena.set_defaults(run=run_siena)
    x2cbbr = experiments.add_parser(
        "x2cbbr", help="the hardware broker X2CBBR", description="The hardware broker X2CBBR.",
        epilog=X2CBBR, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    x2cbbr.add_argument("--out", type=Path, default=Path("out/x2cbbr"), metavar="DIR", help="default: out/x2cbbr")
    x2cbbr.set_defaults(run=run_x2cbbr)


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"a number from 0 on is expected, not {number}")
    return number


def run_siena(options: argparse.Namespace) -> int:
    """Run it, and write what came out; 1 if an answer was wrong."""
    from silbo.experiment import report, siena, sizes, table

    say, chosen = _Progress(), sizes.QUICK if options.quick else sizes.FULL
    options.out.mkdir(parents=True, exist_ok=True)
    say(f"this takes about {_minutes(siena.expected_seconds(chosen))} on this machine")
    results = siena.run(chosen, options.seed, say)
    return _written(results, options.out, report.write, table.text(results), say)


def run_x2cbbr(options: argparse.Namespace) -> int:
    """Run it, and write what came out; 1 if an answer was wrong."""
    from silbo.experiment.x2cbbr import experiment, report, table

    say = _Progress()
    options.out.mkdir(parents=True, exist_ok=True)
    results = experiment.run(say)
    return _written(results, options.out, report.write, table.text(results), say)


def _written(
    results: dict[str, Any], out: Path, report: Callable[[dict[str, Any], Path], None], table: str, say: _Progress
) -> int:
    """Draw, write and print; the exit status."""
    say("drawing, writing")
    report(results, out)
    (out / "results.json").write_text(json.dumps(results, indent=1, allow_nan=False), encoding="utf-8")
    print(table)
    say(f"written: {out / 'report.html'}")
    return 0 if results["agrees"] else 1


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"


class _Progress:
    """Tells on stderr what is done, and how long it all took so far."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    def __call__(self, text: str) -> None:
        minutes, seconds = divmod(round(time.monotonic() - self._since), 60)
        print(f"{minutes}:{seconds:02} {text}", file=sys.stderr, flush=True)
