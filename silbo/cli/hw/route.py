"""`silbo hw route`: place and route the matcher's CAM with open tools."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from silbo.cli.commands import positive

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo hw route                     once for each of three seeds
  silbo hw route --seeds 1 --json    one seed, as one JSON object

Some minutes for each seed the first time. Yosys and nextpnr are needed in the versions whose numbers are compared:
pip install 'silbo[hw,route]'.
"""
LIMITS = """This is the CAM alone, with registers in place of pins, routed by nextpnr on an ECP5. It shows that no path
of the CAM is long. It is not the clock of the whole matcher, nor that of a Zynq: the vendor's tool was not used."""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "route", help="place and route the CAM on an ECP5",
        description="Place and route the matcher's CAM on an ECP5, and print the clock that it holds.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--seeds", type=positive, nargs="+", default=[1, 2, 3], metavar="S",
                        help="seeds of the placer (default: 1 2 3)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Place and route for each seed, and print the results."""
    from silbo.hw.build.place_and_route import DEVICE, TARGET, routed
    from silbo.hw.build.yowasp import NEXTPNR, YOSYS

    tools = {tool.package: tool.version for tool in (YOSYS, NEXTPNR)}
    if options.json:
        found = [{**asdict(each), "is_reached": each.is_reached} for each in routed(options.seeds)]
        print(json.dumps({"device": DEVICE, "asked_mhz": TARGET, "versions": tools, "limits": LIMITS, "routed": found}))
        return 0
    print(f"crt_cam, 256 entries of 32 bits, on {DEVICE}; target: {TARGET} MHz")
    for each in routed(options.seeds):
        reached = "reached" if each.is_reached else "not reached"
        print(f"seed {each.seed}: {each.mhz} MHz ({TARGET} MHz {reached}), {each.lut:,} LUT4, {each.ff:,} FF; "
              f"slowest from {each.slowest[0]} to {each.slowest[-1]}", flush=True)  # fmt: skip
    print(*(f"{name} {version}" for name, version in tools.items()), sep=", ")
    print(LIMITS)
    return 0
