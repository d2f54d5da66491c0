"""The record of a broker: every accepted event, in the order of acceptance, as a log.

The broker calls `write` under its lock, so the file's order is the order in which events took effect,
whichever threads they came from. A record that fails stops and logs the error: it must not stop the
broker.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from silbo.errors import InvalidValue
from silbo.model.events import Disconnect, Event
from silbo.wire.jsonl import event_json, read_log

log = logging.getLogger("silbo")


class Record:
    """A log file, or a function that takes each event.

    The file is new, or, with `append`, one that an earlier broker wrote. Sessions that were still connected when it
    ended are disconnected in the log first: they ended with their broker.
    """

    def __init__(self, to: str | PathLike[str] | Callable[[Event], object], *, append: bool = False) -> None:
        self.last_time = 0  # of the events that the file already had, in microseconds since 1970
        self._file: BinaryIO | None = None
        self._end = 0  # of the last whole line
        if callable(to):
            self._take: Callable[[Event], object] | None = to
            return
        try:
            self._file = _opened(Path(to), append=append)
        except TypeError:
            raise InvalidValue("record", f"a path or a function is expected, not {type(to).__name__}.") from None
        except FileExistsError:
            raise InvalidValue(
                "record", f"{str(to)!r} exists. Name a new file, or continue this one: Broker(record=…, append=True)."
            ) from None
        except BlockingIOError:
            raise InvalidValue("record", f"another broker is writing {str(to)!r}. Name another file.") from None
        except OSError as error:
            raise InvalidValue("record", f"cannot write {str(to)!r}: {error.strerror}. Name another file.") from None
        self._take = self._append
        if append:
            self._continue()

    def write(self, event: Event) -> None:
        """Write one event."""
        if self._take is None:
            return
        try:
            self._take(event)
        except Exception:  # a full disk or a user's function that raises
            self._take = None
            log.exception("silbo cannot write the record any more; later events are not recorded")
            self._cut()

    def close(self) -> None:
        """Close the file."""
        self._take = None
        if self._file is not None:
            self._file.close()

    def _append(self, event: Event) -> None:
        assert self._file is not None
        self._file.write(event_json(event).encode() + b"\n")
        self._file.flush()
        self._end = self._file.tell()

    def _cut(self) -> None:
        """Cut off the part of a line that was written before the write failed."""
        if self._file is not None:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self._end)

    def _continue(self) -> None:
        """Continue after the last whole line: cut off an incomplete line, and disconnect the earlier sessions."""
        assert self._file is not None
        connected: dict[str, None] = {}  # in the order of their first events
        for number, event, error in read_log(self._whole_lines(self._file)):
            if event is None:
                self._file.close()
                why = "" if error is None else f": {error.line.rstrip('.')}"
                raise InvalidValue("record", f"line {number} is not an event{why}. Continue only what a broker wrote.")
            self.last_time = max(self.last_time, event.time or 0)
            if isinstance(event, Disconnect):
                connected.pop(event.session, None)
            else:
                connected[event.session] = None
        self._file.seek(self._end)
        self._file.truncate()
        self.last_time = max(self.last_time, time.time_ns() // 1_000)
        for session in connected:
            self._append(Disconnect(session, time=self.last_time))

    def _whole_lines(self, file: BinaryIO) -> Iterator[bytes]:
        """The complete lines; `_end` becomes the offset after the last of them."""
        for line in file:
            if line.endswith(b"\n"):
                self._end += len(line)
                yield line


def _opened(path: Path, *, append: bool) -> BinaryIO:
    """Open and lock the file; raises `BlockingIOError` if another broker writes it."""
    file = path.open("r+b" if append and path.exists() else "x+b")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass  # a system without such locks
    except OSError:
        file.close()
        raise
    return file
