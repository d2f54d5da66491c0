"""The whole experiment, with bitmap and with list rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from silbo import __version__
from silbo.papers.x2cbbr import measured
from silbo.papers.x2cbbr import paper_cycles as paper


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything that the report shows."""
    results: dict[str, Any] = {}
    for mode in measured.MODES:
        say(f"{mode} rows: compiling, running")
        results[mode] = measured.run(mode)
    results["agrees"] = all(results[mode]["agrees"] for mode in measured.MODES)
    results["assumed_mhz"] = {"core": paper.CORE_MHZ, "interface": paper.INTERFACE_MHZ}
    results["run"] = {"silbo": __version__, "device": "its Verilog, simulated", "clocks": "assumed, the paper's"}
    return results
