"""How much of the XC7Z020 the matcher takes: Yosys maps it to the cells of a 7-series FPGA, which are counted.

The count says nothing about the clock. That is known after place and route by the vendor's tool, which has not been
run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from silbo.errors import DeviceError
from silbo.hw.build.simulation import RTL, TOP, Parameters
from silbo.hw.build.simulation import sources as verilog
from silbo.hw.build.yowasp import YOSYS, cached_result, run

STATISTICS = "statistics.json"
# the banks of the CAM are not flattened until the end (crt_cam_bank.v says why), and are counted with the rest
SCRIPT = (
    "read_verilog -defer *.v; hierarchy -top {top}{parameters}; "
    "synth_xilinx -family xc7 -top {top} -flatten -noiopad; "
    "setattr -mod -unset keep_hierarchy *; flatten; tee -q -o {statistics} stat -json"
)

# the XC7Z020, from its data sheet
DEVICE = "XC7Z020"
LUTS = 53_200
FFS = 106_400
BRAMS = 140  # of 36 Kb

# LUTs of each cell. Small RAMs are made of LUTs, and an inverter that is not merged into a LUT needs one.
LUTS_OF = {
    **{f"LUT{inputs}": 1 for inputs in range(1, 7)}, "INV": 1, "SRL16E": 1, "SRLC32E": 1,
    "RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32X1S": 1, "RAM64X1S": 1,
}  # fmt: skip
FFS_OF = {"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1}
BRAMS_OF = {"RAMB36E1": 1.0, "RAMB18E1": 0.5}
NEITHER = {"BUFG", "CARRY4", "MUXF7", "MUXF8", "$scopeinfo"}  # they use no LUT, or are no cells


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of an FPGA that a design takes."""

    lut: int
    ff: int
    bram: float  # of 36 Kb
    yosys: str  # its name and version, as it prints them

    @property
    def lut_share(self) -> float:
        """The share of the XC7Z020's LUTs."""
        return self.lut / LUTS


def synthesised(parameters: Parameters, rtl: Path = RTL) -> Resources:
    """The resources of a matcher with these parameters; the first run takes a minute or two."""
    script = _script(parameters)
    found = cached_result(verilog(rtl), f"{script} {YOSYS}", lambda work: _statistics(script, work))
    yosys = re.sub(r", .*\)$", ")", found["creator"])  # without the name of the compiler
    return counted(found["design"]["num_cells_by_type"], yosys)


def counted(cells: Mapping[str, int], yosys: str) -> Resources:
    """The resources of these cells; raises for an unknown kind of cell, instead of leaving it out."""
    unknown = cells.keys() - LUTS_OF.keys() - FFS_OF.keys() - BRAMS_OF.keys() - NEITHER
    if unknown:
        raise DeviceError(f"the resources of the cell {min(unknown)} are not known. Add it to hw/build/synthesis.py.")
    lut, ff, bram = (sum(each.get(cell, 0) * n for cell, n in cells.items()) for each in (LUTS_OF, FFS_OF, BRAMS_OF))
    return Resources(int(lut), int(ff), bram, yosys)


def _script(parameters: Parameters) -> str:
    chosen = "".join(f" -chparam {name.upper()} {int(value)}" for name, value in asdict(parameters).items())
    return SCRIPT.format(top=TOP, parameters=chosen, statistics=STATISTICS)


def _statistics(script: str, work: Path) -> dict[str, Any]:
    run(YOSYS, ["-q", "-p", script], work)
    found: dict[str, Any] = json.loads((work / STATISTICS).read_text(encoding="utf-8"))
    return found
