"""How fast the CAM alone can be clocked when open tools place and route it on an ECP5.

This is another family of FPGA, another tool, and only a part of the matcher, with registers as its pins
(syn/cam_pins.v). So it shows that the CAM has no long path, and says nothing about the clock of a Zynq.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from silbo.hw.build.simulation import HW, RTL
from silbo.hw.build.yowasp import NEXTPNR, YOSYS, cached_result, run

DEVICE = "LFE5U-25F, speed grade 6"  # the slowest grade
SOURCES = [RTL / "pmu" / "crt_cam.v", RTL / "pmu" / "crt_cam_bank.v", HW / "syn" / "cam_pins.v"]
TARGET = 150  # MHz that nextpnr is asked for: the paper's clock
NETLIST, REPORT = "cam_pins.json", "routed.json"
SCRIPT = f"read_verilog *.v; synth_ecp5 -top cam_pins -json {NETLIST}"
ARGUMENTS = [
    "--quiet", "--25k", "--package", "CABGA381", "--speed", "6", "--freq", str(TARGET), "--json", NETLIST,
    "--report", REPORT, "--lpf-allow-unconstrained", "--timing-allow-fail",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Routed:
    """One run of place and route. The seed decides the random start."""

    seed: int
    mhz: float  # the fastest clock at which all paths between registers meet timing
    lut: int  # of four inputs
    ff: int
    slowest: list[str]  # the registers and cells of the longest path

    @property
    def is_reached(self) -> bool:
        """Whether it reaches the clock that was asked for."""
        return self.mhz >= TARGET


def routed(seeds: Sequence[int]) -> Iterator[Routed]:
    """Place and route the CAM of 256 entries once for each seed; each takes some minutes the first time."""
    for seed in seeds:
        key = f"{SCRIPT} {ARGUMENTS} {seed} {YOSYS} {NEXTPNR}"
        yield Routed(**cached_result(SOURCES, key, lambda work, seed=seed: _place_and_route(seed, work)))  # type: ignore[misc]


def _place_and_route(seed: int, work: Path) -> dict[str, Any]:
    run(YOSYS, ["-q", "-p", SCRIPT], work)
    run(NEXTPNR, [*ARGUMENTS, "--seed", str(seed)], work)
    return asdict(_read(seed, json.loads((work / REPORT).read_text(encoding="utf-8"))))


def _read(seed: int, report: dict[str, Any]) -> Routed:
    """Read from nextpnr's report the clock, the cells in use, and the path that limits the clock."""
    ((_, clock),) = report["fmax"].items()
    used = {kind: count["used"] for kind, count in report["utilization"].items()}
    path = next(path["path"] for path in report["critical_paths"] if path["from"] == path["to"])
    cells = [step["to"]["cell"] for step in path if step["type"] == "routing"]
    slowest = [path[0]["from"]["cell"], *cells]
    mhz = math.floor(10 * clock["achieved"]) / 10  # rounded down: it must not seem to reach a clock that it does not
    return Routed(seed, mhz, used["TRELLIS_COMB"], used["TRELLIS_FF"], slowest)
