"""How fast the CAM alone gets when open tools place and route it on an ECP5.

It is another family of FPGA, another maker's tool, and one part of the matcher, whose pins are registers
(syn/cam_pins.v). So it shows that no path of the CAM is long, and gives no clock of a Zynq.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from silbo.hw.simulation import HERE, RTL
from silbo.hw.yowasp import NEXTPNR, YOSYS, kept, run

DEVICE = "LFE5U-25F, speed grade 6"  # the slowest grade
SOURCES = [RTL / "crt_cam.v", RTL / "crt_cam_bank.v", HERE / "syn" / "cam_pins.v"]
TARGET = 150  # MHz that nextpnr is asked for: the paper's clock
NETLIST, REPORT = "cam_pins.json", "routed.json"
SCRIPT = f"read_verilog *.v; synth_ecp5 -top cam_pins -json {NETLIST}"
ARGUMENTS = [
    "--quiet", "--25k", "--package", "CABGA381", "--speed", "6", "--freq", str(TARGET), "--json", NETLIST,
    "--report", REPORT, "--lpf-allow-unconstrained", "--timing-allow-fail",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Routed:
    """One placing and routing: where it begins is chance, which the seed settles."""

    seed: int
    mhz: float  # the fastest clock that all paths between registers hold
    lut: int  # of four inputs
    ff: int
    slowest: list[str]  # the registers and cells of the longest path

    @property
    def is_reached(self) -> bool:
        """Whether it holds the clock that was asked for."""
        return self.mhz >= TARGET


def routed(seeds: Sequence[int]) -> Iterator[Routed]:
    """The CAM of 256 entries, placed and routed once for each seed; some minutes each, the first time."""
    for seed in seeds:
        said = f"{SCRIPT} {ARGUMENTS} {seed} {YOSYS} {NEXTPNR}"
        yield Routed(**kept(SOURCES, said, lambda work, seed=seed: _place_and_route(seed, work)))  # type: ignore[misc]


def _place_and_route(seed: int, work: Path) -> dict[str, Any]:
    run(YOSYS, ["-q", "-p", SCRIPT], work)
    run(NEXTPNR, [*ARGUMENTS, "--seed", str(seed)], work)
    return asdict(_read(seed, json.loads((work / REPORT).read_text(encoding="utf-8"))))


def _read(seed: int, report: dict[str, Any]) -> Routed:
    """The one clock, what is used, and the path that is the clock's limit."""
    ((_, clock),) = report["fmax"].items()
    used = {kind: count["used"] for kind, count in report["utilization"].items()}
    path = next(path["path"] for path in report["critical_paths"] if path["from"] == path["to"])
    cells = [step["to"]["cell"] for step in path if step["type"] == "routing"]
    slowest = [path[0]["from"]["cell"], *cells]
    mhz = math.floor(10 * clock["achieved"]) / 10  # rounded up it might be said to reach what it does not
    return Routed(seed, mhz, used["TRELLIS_COMB"], used["TRELLIS_FF"], slowest)
