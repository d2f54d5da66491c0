"""`silbo experiment`: the papers' experiments on this machine, each in a module; this module joins them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from silbo.cli.experiment import siena, x2cbbr

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EXPERIMENTS = (siena, x2cbbr)

EPILOG = """examples:
  silbo experiment siena --quick                   a first look, within two minutes
  silbo experiment siena --out out/siena           the paper's experiment against SIENA
  silbo experiment x2cbbr                          the hardware broker's tables, on the simulated RTL
"""


def add_to(commands: Commands) -> None:
    """Declare the commands."""
    parser = commands.add_parser(
        "experiment", help="repeat the papers' experiments", description="Repeat the papers' experiments.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    experiments = parser.add_subparsers(title="experiments", required=True, metavar="EXPERIMENT")
    for experiment in EXPERIMENTS:
        experiment.add_to(experiments)
