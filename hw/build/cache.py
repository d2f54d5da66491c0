"""The build cache: where it lives, the digest that names an entry, and how an entry is written.

It holds the results of tools that read the Verilog: compiled simulations, synthesis and routing.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from silbo.errors import HardwareUnavailable


def folder() -> Path:
    """The folder of the cache: SILBO_HW_CACHE, or a folder in the user's cache directory."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("SILBO_HW_CACHE") or Path(base) / "silbo" / "hw")


def writable() -> Path:
    """The folder of the cache, created if it is missing; if it cannot be written, the error names SILBO_HW_CACHE."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder()):
            return folder()
    except OSError as error:
        raise HardwareUnavailable(
            "a writable folder for the build cache", command="SILBO_HW_CACHE=FOLDER", why=str(error)
        ) from error


def digest(options: str, sources: Iterable[Path]) -> str:
    """The name of a tool's result for these sources and options: it changes if any of them changes."""
    result = sha256(options.encode())
    for source in sources:
        result.update(source.name.encode())
        result.update(source.read_bytes())
    return result.hexdigest()[:16]


def cached(name: str, build: Callable[[Path], Path]) -> Path:
    """The file of this name in the cache; if it is missing, `build` makes it in the folder that it is given.

    That folder is inside the cache, and the file is moved to its name when it is complete. So a build that was
    interrupted leaves no entry. If two processes want the same entry, one builds it and the other waits.
    """
    file = folder() / name
    if not file.exists():
        with locked(writable() / f"{Path(name).parts[0]}.lock"):
            if not file.exists():
                _build_into(file, build)
    return file


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on this file; the operating system releases it if the process ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_into(file: Path, build: Callable[[Path], Path]) -> None:
    with tempfile.TemporaryDirectory(dir=folder(), prefix="building-") as work:
        built = build(Path(work))
        file.parent.mkdir(exist_ok=True)
        built.rename(file)
