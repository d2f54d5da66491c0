"""`silbo hw report`: what the matcher takes, in cycles and in cells."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo hw report           the figures, what each means, and what is assumed; some minutes the first time
  silbo hw report --json    one JSON object

It needs what silbo hw build needs, and Yosys in the one version whose numbers are compared (pip install 'silbo[hw]').
What was compiled and synthesised is kept in ~/.cache/silbo/hw, or where SILBO_HW_CACHE says.
"""
MEANINGS = {
    "match_cycles": "a publication of 252 words and a position, against 252 subscriptions in context; rows as bitmaps",
    "match_cycles_list": "the same, rows as the paper's lists",
    "match_cycles_4096": "the first, with 4096 subscribers: the lanes work while the words come",
    "register_cycles_per_filter": "of a subscription of one filter",
    "register_cycles_per_filter_of_16": "of a subscription of sixteen",
    "init_cycles": "to forget everything",
    "context_cycles": "the lanes, for 4096 subscribers",
    "lut": "of {luts:,} of the {device}; LUTs as memory counted",
    "ff": "of {ffs:,}",
    "bram": "of {brams}, 36 Kb each",
    "lut_share": "of the {device}'s LUTs",
    "device_share": "of the subscriptions of the workload hw are on the device",
}
ASSUMPTIONS = """cycles: the simulated RTL's own counts; a publication's from its first beat to its result, one beat a
cycle, and without the bus on which the result is read. They hold for any clock.
cells: Yosys' mapping for the 7 series, before placing; the vendor's tool may count less or more.
clock: none. Nothing here was placed and routed on a Zynq, and no board was there."""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report", help="the matcher's figures: cycles, cells, share",
        description="Measure the matcher: cycles of the simulated RTL, cells of the FPGA, share of a workload.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure, and print."""
    from silbo.hw.report import figures

    found = figures(_say)
    print(json.dumps(found) if options.json else as_text(found))
    return 0


def as_text(found: dict[str, Any]) -> str:
    """A line for each figure, with its meaning; then what it was made with, and what is assumed."""
    from silbo.hw.synthesis import BRAMS, DEVICE, FFS, LUTS

    sizes = {"luts": LUTS, "ffs": FFS, "brams": BRAMS, "device": DEVICE}
    lines = [f"{name:33}{_told(found[name]):>8}  {means.format(**sizes)}" for name, means in MEANINGS.items()]
    shape = " ".join(f"{name}={value}" for name, value in found["parameters"].items())
    made = [f"{name}: {version}" for name, version in found["versions"].items()]
    return "\n".join([*lines, "", f"parameters: {shape}", *made, "", ASSUMPTIONS])


def _told(value: float) -> str:
    return f"{value:,.1%}" if 0 < value < 1 else f"{value:,g}" if value < 1_000 else f"{value:,.0f}"


def _say(text: str) -> None:
    """Tell of the progress, if somebody looks."""
    if sys.stderr.isatty():
        print(f"… {text}", file=sys.stderr, flush=True)
