"""The whole run, in both ways of keeping rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from silbo import __version__
from silbo.experiment.x2cbbr import measured
from silbo.experiment.x2cbbr import published as paper


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Everything that the report shows."""
    results: dict[str, Any] = {}
    for mode in measured.MODES:
        say(f"{mode} rows: compiling, running")
        results[mode] = measured.run(mode)
    results["agrees"] = all(results[mode]["agrees"] for mode in measured.MODES)
    results["assumed_mhz"] = {"core": paper.CORE_MHZ, "interface": paper.INTERFACE_MHZ}
    results["run"] = {"silbo": __version__, "device": "its Verilog, simulated", "clocks": "assumed, the paper's"}
    return results
