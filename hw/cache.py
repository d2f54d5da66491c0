"""Where what is made of the Verilog is kept, and under which name: libraries, and what tools found."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from silbo.errors import HardwareUnavailable


def folder() -> Path:
    """SILBO_HW_CACHE, or the user's folder for such things."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("SILBO_HW_CACHE") or Path(base) / "silbo" / "hw")


def writable() -> Path:
    """The folder, made if it is not there; one that cannot be written is told with the variable that names another."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder()):
            return folder()
    except OSError as error:
        raise HardwareUnavailable(
            "a folder for what is made of the Verilog", command="SILBO_HW_CACHE=FOLDER", why=str(error)
        ) from error


def digest(said: str, sources: Iterable[Path]) -> str:
    """The name of what is made of these sources with these words."""
    found = sha256(said.encode())
    for source in sources:
        found.update(source.name.encode())
        found.update(source.read_bytes())
    return found.hexdigest()[:16]
