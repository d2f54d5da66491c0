"""`silbo hw`: the matcher in hardware. Each of its commands is a module of its own, joined here."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from silbo.cli import hw_build, hw_fit, hw_report, hw_route, hw_sim

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

PARTS = (hw_build, hw_sim, hw_fit, hw_report, hw_route)

EPILOG = """examples:
  silbo hw build                     compile the simulated matcher
  silbo hw sim                       publications through it, and what each took in cycles
  silbo hw sim log.jsonl             the same with what of a log sits on the device
  silbo hw sim --vcd matcher.vcd     with a waveform
  silbo hw fit 'road = "A7"'         which part of a subscription it can take, and why
  silbo hw report                    its cycles, and its share of an FPGA
  silbo hw route                     its CAM placed and routed on an ECP5
"""


def add_to(commands: Commands) -> None:
    """Declare the commands."""
    parser = commands.add_parser(
        "hw", help="the matcher in hardware", description="The X2CBBR matcher with context lanes, simulated.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parts = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for part in PARTS:
        part.add_to(parts)
