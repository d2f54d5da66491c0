"""`silbo hw report`: the cost of the matcher, in cycles and in cells."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from silbo.cli.commands import say

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo hw report           the figures, what each means, and what is assumed; some minutes the first time
  silbo hw report --json    one JSON object

It needs what silbo hw build needs, and Yosys in the one version whose numbers are compared (pip install 'silbo[hw]').
Its results are kept in ~/.cache/silbo/hw, or in the folder SILBO_HW_CACHE.
"""
MEANINGS = {
    "match_cycles": "a publication of 252 words and a position, against 252 subscriptions in context; rows as bitmaps",
    "match_cycles_list": "the same, rows as the paper's lists",
    "match_cycles_4096": "the first, with 4096 subscribers: the lanes work while the words arrive",
    "register_cycles_per_filter": "for a subscription with one filter",
    "register_cycles_per_filter_of_16": "for a subscription with sixteen filters",
    "init_cycles": "to clear the device",
    "context_cycles": "the lanes, for 4096 subscribers",
    "lut": "of {luts:,} of the {device}; LUTs as memory counted",
    "ff": "of {ffs:,}",
    "bram": "of {brams}, 36 Kb each",
    "lut_share": "of the {device}'s LUTs",
    "device_share": "of the subscriptions of the workload hw are on the device",
}
ASSUMPTIONS = """cycles: the simulated RTL's own counts. A publication counts from its first beat to its result, with
one beat per cycle, and without the bus on which the result is read. The counts hold for any clock.
cells: Yosys' mapping for the 7 series, before placement; the vendor's tool may count fewer or more.
clock: none. Nothing was placed and routed on a Zynq, and no board was available."""


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
    """Measure the matcher, and print the figures."""
    from silbo.bench.hw_workload import simulated_share
    from silbo.hw.build.report import figures

    found = figures(simulated_share, say)
    print(json.dumps(found) if options.json else as_text(found))
    return 0


def as_text(found: dict[str, Any]) -> str:
    """A line for each figure with its meaning; then the parameters, the versions of the tools, and the assumptions."""
    from silbo.hw.build.synthesis import BRAMS, DEVICE, FFS, LUTS

    sizes = {"luts": LUTS, "ffs": FFS, "brams": BRAMS, "device": DEVICE}
    lines = [f"{name:33}{_told(found[name]):>8}  {means.format(**sizes)}" for name, means in MEANINGS.items()]
    shape = " ".join(f"{name}={value}" for name, value in found["parameters"].items())
    made = [f"{name}: {version}" for name, version in found["versions"].items()]
    return "\n".join([*lines, "", f"parameters: {shape}", *made, "", ASSUMPTIONS])


def _told(value: float) -> str:
    return f"{value:,.1%}" if 0 < value < 1 else f"{value:,g}" if value < 1_000 else f"{value:,.0f}"
