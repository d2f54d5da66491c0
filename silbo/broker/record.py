"""Keep what a broker accepted, in the order of acceptance, as a log.

The broker calls `write` under its lock, so the file's order is the order in which events took effect,
whatever threads they came from. A record that cannot go on stops and says so: it must not stop the
broker.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TextIO

from silbo.errors import InvalidValue
from silbo.model.events import Event
from silbo.model.log import event_json

log = logging.getLogger("silbo")


class Record:
    """A new log file, or a function that takes each event."""

    def __init__(self, to: str | PathLike[str] | Callable[[Event], object]) -> None:
        self._file: TextIO | None = None
        if callable(to):
            self._take: Callable[[Event], object] | None = to
            return
        try:
            # x: a log of another broker must not be written over or continued
            self._file = Path(to).open("x", encoding="utf-8", newline="\n", buffering=1)  # noqa: SIM115  # closed by close
        except TypeError:
            raise InvalidValue("record", f"a path or a function is expected, not {type(to).__name__}.") from None
        except OSError as error:
            raise InvalidValue("record", f"cannot make {str(to)!r}: {error.strerror}. Name a new file.") from None
        self._take = self._append

    def write(self, event: Event) -> None:
        """Keep one event."""
        if self._take is None:
            return
        try:
            self._take(event)
        except Exception:  # a full disk or a user's function that raises
            self._take = None
            log.exception("the record stopped; what follows is not kept")

    def close(self) -> None:
        """End the file."""
        self._take = None
        if self._file is not None:
            self._file.close()

    def _append(self, event: Event) -> None:
        assert self._file is not None
        self._file.write(event_json(event) + "\n")
