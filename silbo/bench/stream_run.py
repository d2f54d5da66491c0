"""A job that a bench feeds with records while it runs or is down; the times of the records count up from 1."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from silbo.bench.workloads import EACH, subscriber
from silbo.streaming.bulk.sender import subscription_key
from silbo.streaming.spark.frames import OBSERVED
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS, SUBSCRIPTIONS
from silbo.wire.records import ContextRecord, NotificationRecord, PublicationRecord, SubscriptionRecord, decode

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from silbo.bench.stream_source import Source
    from silbo.model.values import Attributes, Context

CAMERAS = 300  # enough to fill all partitions evenly


class BatchMetrics:
    """The metrics of a batch, from Spark and from the shards."""

    def __init__(self, progress: Mapping[str, Any]) -> None:
        self.rows = int(progress["numInputRows"])
        self._took = progress["durationMs"]
        self._metrics = progress["observedMetrics"][OBSERVED]

    @property
    def ms(self) -> float:
        """The milliseconds of the whole batch."""
        return self.took("triggerExecution")

    def took(self, stage: str) -> float:
        """The milliseconds of a stage of Spark."""
        return float(self._took.get(stage, 0))

    def metric(self, name: str) -> float:
        """A metric that the shards reported."""
        return float(self._metrics[name] or 0)


@dataclass
class FedJob:
    """A job that can be stopped and started again."""

    topics: Source
    start: Callable[[Mapping[str, int]], StreamingQuery]  # takes the limits of a batch by topic
    batches: list[BatchMetrics] = field(default_factory=list)
    sequence: int = 0  # of the last publication
    _query: StreamingQuery | None = None
    _now: int = 0  # microseconds, one for each record
    _seen: int = -1  # the last batch that was read

    def restart(self, limits: Mapping[str, int]) -> None:
        """Start the job again, with these limits of a batch from now on."""
        self.stop()
        self._query = self.start(limits)

    def stop(self) -> None:
        """Stop the job."""
        if self._query is not None:
            self._query.stop()
            self._query = None

    def context(self, number: int, context: Context) -> None:
        """Send a subscriber's context."""
        who = subscriber(number * EACH)
        self.topics.send(CONTEXTS, who, ContextRecord(self._time(), who, context))

    def subscribe(self, number: int, filter: str, function: str | None) -> None:
        """Send a subscription."""
        who = subscriber(number)
        record = SubscriptionRecord(self._time(), who, who, f"s{number}", filter, function, ())
        self.topics.send(SUBSCRIPTIONS, subscription_key(who, f"s{number}"), record)

    def publish(self, attributes: Attributes, context: Context) -> None:
        """Send a publication of a camera."""
        self.sequence += 1
        camera = f"camera-{self.sequence % CAMERAS}"
        record = PublicationRecord(self._time(), camera, camera, self.sequence, attributes, context, {}, None, None)
        self.topics.send(PUBLICATIONS, camera, record)

    def drained(self) -> list[BatchMetrics]:
        """Wait until the job has matched everything that was sent, and return the new batches."""
        assert self._query is not None
        self.topics.flush()
        self._query.processAllAvailable()
        made = list(self._new(self._query.recentProgress))
        self.batches += made
        return made

    def heard(self) -> Iterator[NotificationRecord]:
        """Yield the notifications that arrived since the last call."""
        for value in self.topics.heard():
            record = decode(value)
            assert isinstance(record, NotificationRecord)
            yield record

    def _new(self, progress: Sequence[Mapping[str, Any]]) -> Iterator[BatchMetrics]:
        for each in progress:
            if each["batchId"] > self._seen and each["numInputRows"]:
                self._seen = each["batchId"]
                yield BatchMetrics(each)

    def _time(self) -> int:
        self._now += 1
        return self._now


def paced(run: FedJob, rate: int, seconds: float, publication: tuple[Attributes, Context]) -> list[tuple[float, float]]:
    """Publish at a steady rate; returns for each notification when its publication was due, and the seconds it took."""
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


def _taken(notified: NotificationRecord, first: int, rate: int, since: float) -> tuple[float, float]:
    due = (notified.sequence - first) / rate
    return due, time.perf_counter() - since - due
