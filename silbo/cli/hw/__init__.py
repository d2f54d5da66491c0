"""`silbo hw`: the hardware matcher. Each command is a module, and this module joins them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from silbo.cli.hw import build, fit, report, route, sim

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

PARTS = (build, sim, fit, report, route)

EPILOG = """examples:
  silbo hw build                     compile the simulated matcher
  silbo hw sim                       run publications through it, and print the cycles of each
  silbo hw sim log.jsonl             the same for a log, with the subscriptions that fit on the device
  silbo hw sim --vcd matcher.vcd     with a waveform
  silbo hw fit 'road = "A7"'         which part of a subscription the device can take, and why
  silbo hw report                    its cycles, and its share of an FPGA
  silbo hw route                     place and route its CAM on an ECP5
"""


def add_to(commands: Commands) -> None:
    """Declare the commands."""
    parser = commands.add_parser(
        "hw", help="the hardware matcher", description="The X2CBBR matcher with context lanes, simulated.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parts = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for part in PARTS:
        part.add_to(parts)
