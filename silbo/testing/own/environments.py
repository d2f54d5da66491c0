"""Virtual environments for tests: each is created once for its requirements and its Python, and then shared.

The name of an environment is a digest of both, so other requirements get another environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from silbo.hw.build.cache import locked

READY = "ready"  # this file is written last: an environment without it is incomplete


def environment(
    folder: Path, requirements: Sequence[str], make: Callable[[Path, Sequence[str]], None] | None = None
) -> Path:
    """The environment with these requirements; `make`, or else pip, creates it if the folder does not have it."""
    name = sha256("\n".join([sys.version, sys.prefix, *sorted(requirements)]).encode()).hexdigest()[:16]
    found = folder / f"environment-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / f"environment-{name}.lock"):  # a second process waits until it is ready
        if not (found / READY).exists():
            shutil.rmtree(found, ignore_errors=True)
            (make or _install)(found, requirements)
            (found / READY).touch()
    return found


def without_pythonpath() -> dict[str, str]:
    """The variables of this process without PYTHONPATH, so that another Python does not find our modules."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def pip(environment: Path, *arguments: str | Path) -> None:
    """Run the pip of an environment."""
    command = [environment / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True, env=without_pythonpath())  # noqa: S603  # ours


def _install(folder: Path, requirements: Sequence[str]) -> None:
    venv.create(folder, with_pip=True)
    pip(folder, "install", *requirements)
