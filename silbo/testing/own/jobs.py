"""Parts for tests that kill the streaming job.

They write events as records in bursts, run the job in a process of its own, and check all that it wrote.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from silbo.model.events import Event
from silbo.streaming.bulk.sender import sending
from silbo.wire.records import NotificationRecord, Record, decode

if TYPE_CHECKING:
    from typing_extensions import Self

PAUSE = 0.05  # seconds between two looks at what another process does


class RecordWriter(Protocol):
    """Where records go: a local log's partitions, or Kafka's."""

    def send(self, topic: str, key: str, record: Record) -> None:
        """Write a record to the partition of its key."""

    def flush(self) -> None:
        """Let readers see what was sent."""


class Feed:
    """Writes events as records, burst after burst; their times are their numbers."""

    def __init__(self, writer: RecordWriter) -> None:
        times = count(1)
        self._writer = writer
        self._fold = sending(writer.send, lambda: next(times))

    def write(self, events: Sequence[Event]) -> None:
        """One burst, to be seen by readers when this returns."""
        self._fold.apply(events, lambda *_: None)
        self._writer.flush()


class RunningProgram:
    """A program of silbo that runs beside the test, and may be killed; its stderr goes to a file."""

    def __init__(
        self, command: Sequence[str | Path], errors: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._command, self._errors, self._environment = command, errors, environment
        self._process = self._started()

    @classmethod
    def stream(cls, errors: Path, *options: str | Path) -> Self:
        """`silbo stream` with these options."""
        return cls([sys.executable, "-m", "silbo", "stream", *options], errors)

    @property
    def pid(self) -> int:
        """Of the process that runs now."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The exit status, once it has ended."""
        return self._process.poll()

    @property
    def said(self) -> str:
        """The end of its stderr."""
        return self._errors.read_text(encoding="utf-8", errors="replace")[-3_000:]

    def until(self, holds: Callable[[], bool], seconds: float = 240) -> None:
        """Wait while it runs, until something holds; fail if it ends before, or it takes too long."""
        deadline = time.monotonic() + seconds
        while not holds():
            assert self.status is None, f"it ended with {self.status}:\n{self.said}"
            assert time.monotonic() < deadline, f"it took more than {seconds} s:\n{self.said}"
            time.sleep(PAUSE)  # nothing tells when a batch of another process has ended

    def wait(self, seconds: float = 240) -> int:
        """Wait for its end; the exit status."""
        return self._process.wait(seconds)

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """Run it again, with the same options."""
        assert self.status is not None
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._errors.open("ab") as errors:
            return subprocess.Popen(  # noqa: S603  # the test's own
                [*map(str, self._command)], stderr=errors, stdout=errors, env=self._environment
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def repeats(values: Iterable[bytes]) -> int:
    """How many notifications came again; `AssertionError` if one came again with other content."""
    seen: dict[tuple[str, int, str, str], bytes] = {}
    again = 0
    for value in values:
        record = decode(value)
        assert isinstance(record, NotificationRecord)
        key = record.publisher_uuid, record.sequence, record.subscriber_uuid, record.subscription
        assert seen.setdefault(key, value) == value, f"{key} came again with other content"
        again += seen[key] is not value
    return again
