"""A job that a bench feeds: records with a clock of their own, sent while it runs or while it is down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from silbo.bench.workloads import EACH, subscriber
from silbo.streaming.frames import OBSERVED
from silbo.streaming.records import ContextIs, Notified, Published, Subscribed, decode
from silbo.streaming.sending import subscription_key
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS, SUBSCRIPTIONS

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from silbo.bench.stream_source import Source
    from silbo.model.values import Attributes, Context

CAMERAS = 300  # enough to fill partitions alike


class Batch:
    """A batch, as Spark and the shards tell of it."""

    def __init__(self, progress: Mapping[str, Any]) -> None:
        self.rows = int(progress["numInputRows"])
        self._took = progress["durationMs"]
        self._told = progress["observedMetrics"][OBSERVED]

    @property
    def ms(self) -> float:
        """What it took."""
        return self.took("triggerExecution")

    def took(self, stage: str) -> float:
        """What a stage of Spark's took, in milliseconds."""
        return float(self._took.get(stage, 0))

    def told(self, name: str) -> float:
        """What the shards told."""
        return float(self._told[name] or 0)


@dataclass
class Run:
    """A job that can be stopped and started again."""

    topics: Source
    start: Callable[[Mapping[str, int]], StreamingQuery]  # with limits of a batch by topic
    batches: list[Batch] = field(default_factory=list)
    sequence: int = 0  # of the last publication
    _query: StreamingQuery | None = None
    _now: int = 0  # microseconds, one for each record
    _seen: int = -1  # the last batch that was looked at

    def restart(self, limits: Mapping[str, int]) -> None:
        """Let the job run, with these limits of a batch from now on."""
        self.stop()
        self._query = self.start(limits)

    def stop(self) -> None:
        """Let it be down."""
        if self._query is not None:
            self._query.stop()
            self._query = None

    def context(self, number: int, context: Context) -> None:
        """A subscriber is somewhere."""
        who = subscriber(number * EACH)
        self.topics.send(CONTEXTS, who, ContextIs(self._time(), who, context))

    def subscribe(self, number: int, filter: str, function: str | None) -> None:
        """A subscriber subscribes."""
        who = subscriber(number)
        record = Subscribed(self._time(), who, who, f"s{number}", filter, function, ())
        self.topics.send(SUBSCRIPTIONS, subscription_key(who, f"s{number}"), record)

    def publish(self, attributes: Attributes, context: Context) -> None:
        """A camera publishes."""
        self.sequence += 1
        camera = f"camera-{self.sequence % CAMERAS}"
        record = Published(self._time(), camera, camera, self.sequence, attributes, context, {}, None, None)
        self.topics.send(PUBLICATIONS, camera, record)

    def drained(self) -> list[Batch]:
        """Let the job take in what was sent; the batches it made of it."""
        assert self._query is not None
        self.topics.flush()
        self._query.processAllAvailable()
        made = list(self._new(self._query.recentProgress))
        self.batches += made
        return made

    def heard(self) -> Iterator[Notified]:
        """The notifications that came since this was asked last."""
        for value in self.topics.heard():
            record = decode(value)
            assert isinstance(record, Notified)
            yield record

    def _new(self, progress: Sequence[Mapping[str, Any]]) -> Iterator[Batch]:
        for each in progress:
            if each["batchId"] > self._seen and each["numInputRows"]:
                self._seen = each["batchId"]
                yield Batch(each)

    def _time(self) -> int:
        self._now += 1
        return self._now


def paced(run: Run, rate: int, seconds: float, publication: tuple[Attributes, Context]) -> list[tuple[float, float]]:
    """Publish at a steady rate; for each notification when its publication was due, and the seconds it took."""
    first, since = run.sequence + 1, time.perf_counter()
    found: list[tuple[float, float]] = []
    while (passed := time.perf_counter() - since) < 2 * seconds:
        while run.sequence - first + 1 < min(passed, seconds) * rate:
            run.publish(*publication)
        run.topics.flush()
        found += [_taken(each, first, rate, since) for each in run.heard()]
        if len(found) >= seconds * rate:
            break
    return found


def _taken(notified: Notified, first: int, rate: int, since: float) -> tuple[float, float]:
    due = (notified.sequence - first) / rate
    return due, time.perf_counter() - since - due
