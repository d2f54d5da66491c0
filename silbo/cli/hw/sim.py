"""`silbo hw sim`: publications of a log through the simulated matcher, and the cycles that each took."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.cli.commands import open_log
from silbo.cli.hw.shape import add_shape, shape
from silbo.errors import SilboError

if TYPE_CHECKING:
    from silbo.cli.commands import Commands
    from silbo.hw.build.watched import Watched
    from silbo.hw.driver.sim import SimDevice

EPILOG = """examples:
  silbo hw sim                                   a small demonstration
  silbo hw sim log.jsonl                         a log, offloaded to the device as a broker does
  silbo hw sim --mode list --vcd matcher.vcd     the paper's rows, and every signal for a waveform viewer
  silbo hw sim --json                            one JSON object

Cycles are the device's own counts, without the buses; the last line counts every cycle of the clock. A simulation says
nothing about the clock of a board.
"""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "sim", help="run publications through the simulated matcher",
        description="Run publications through the simulated matcher, and print the cycles of each.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("log", nargs="?", metavar="LOG", help="a log file, or - for standard input")
    add_shape(parser)
    parser.add_argument("--vcd", type=Path, metavar="FILE", help="write every signal's changes to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the publications, and print each step."""
    from silbo.hw.build.watched import Watched
    from silbo.hw.driver.sim import SimDevice
    from silbo.hw.driver.x2cbbr import X2cbbr

    device = SimDevice(shape(options), vcd=options.vcd)
    with X2cbbr(device) as driver:
        watched = Watched(driver)
        if options.log is None:
            demonstrate(watched)
        else:
            offload(watched, options.log)
        print(as_json(watched, device) if options.json else as_text(watched, device))
    return 0


def demonstrate(unit: Watched) -> None:
    """Three subscriptions, one of which moves."""
    accident, jam, highway = 1, 2, 3  # words: any numbers
    unit.register([accident, highway], row=0)
    unit.register([jam])
    unit.register([accident])
    unit.set_context(0, (-20, 20, -20, 20))
    unit.match((5, 5), [accident, highway])
    unit.match((90, 5), [accident, highway])
    unit.set_context(0, (70, 110, -20, 20))
    unit.match((90, 5), [accident, highway])
    unit.match(None, [jam, accident, highway])
    unit.match((5, 5), range(1, 253))


def offload(unit: Watched, path: str) -> None:
    """Run a log on the device, the rest of it in software; prints every refusal."""
    from silbo.core.fold import Fold
    from silbo.engines.replay import replay
    from silbo.hw.offload.offload import Offload

    def refused(line: int, error: SilboError) -> None:
        print(f"{path}:{line}: {error.line}", file=sys.stderr)

    fold = Fold("plain", offload=lambda contexts, make_index: Offload(unit, contexts, make_index))
    with open_log(path) as log:
        for _ in replay(log, fold, refused=refused):
            pass


def as_text(unit: Watched, device: SimDevice) -> str:
    """The device's parameters, a line for each step, and the cycles in all."""
    shape = unit.driver.shape
    first = (
        f"X2CBBR, rows as {shape.crt_mode.name.lower()}s: {shape.filters} filters, {shape.sids} subscriptions, "
        f"{shape.subscribers} subscribers in {shape.lanes} lanes; initialised in {unit.driver.cycles.init} cycles"
    )
    return "\n".join([first, *map(str, unit.steps), f"{device.cycles} cycles in all, with the buses"])


def as_json(unit: Watched, device: SimDevice) -> str:
    """The same as one JSON object."""
    shape = {**asdict(unit.driver.shape), "crt_mode": unit.driver.shape.crt_mode.name.lower()}
    steps = [asdict(step) for step in unit.steps]
    return json.dumps({"shape": shape, "init_cycles": unit.driver.cycles.init, "steps": steps, "cycles": device.cycles})
