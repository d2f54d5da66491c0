"""The Spark job as an engine of `silbo replay`: the events become a local log, the job matches it, all at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from silbo.broker.fold import Fold
from silbo.errors import SilboError
from silbo.model.events import Event
from silbo.streaming.job import LogWriter, Options, drain, notifications, start
from silbo.streaming.records import Notified
from silbo.streaming.sending import Sender
from silbo.streaming.spark import session

PARTITIONS = 3


class StreamEngine:
    """Times are the events' numbers, so the order is the lines'."""

    def __init__(self, batch: int | None = None, shards: int = 2) -> None:
        self._batch = batch
        self._shards = shards
        self._folder = tempfile.TemporaryDirectory(prefix="silbo-stream-")
        self._log = Path(self._folder.name) / "log"
        self._writer = LogWriter(self._log, PARTITIONS)
        times = count(1)
        self._fold = Fold(Sender(self._writer.send, lambda: next(times)))

    def apply(self, events: Sequence[Event], refused: Callable[[int, SilboError], None]) -> list[Notified]:
        """Write the events; their notifications come with `finish`."""
        self._fold.apply(events, refused)
        return []

    def finish(self) -> list[Notified]:
        """Run the job over all of it."""
        self._writer.close()
        drain(self._log)
        options = Options(Path(self._folder.name) / "checkpoint", shards=self._shards, batch=self._batch)
        query = start(session(), self._log, options)
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        found = notifications(self._log)
        self._folder.cleanup()
        return found
