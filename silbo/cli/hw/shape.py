"""The arguments for the parameters of the simulated matcher, which several commands have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from silbo.cli.commands import positive

if TYPE_CHECKING:
    from silbo.hw.build.simulation import Parameters

MODES = ("bitmap", "list")


def add_shape(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments for the parameters of the matcher."""
    parser.add_argument("--mode", choices=MODES, default="bitmap", help="rows of the CRT (default: bitmap)")
    parser.add_argument(
        "--subscribers", type=positive, default=256, metavar="N",
        help="rows of the contextManager memory, a power of two up to 4096 (default: 256)",
    )  # fmt: skip


def shape(options: argparse.Namespace) -> Parameters:
    """The parameters given by the arguments of `add_shape`."""
    from silbo.hw.build.simulation import Parameters
    from silbo.hw.driver.registers import CrtMode

    return Parameters(crt_mode=CrtMode[options.mode.upper()], subscribers=options.subscribers)
