"""A job that a bench feeds: records with a clock of their own, and rounds of them that are drained.

A round is one batch, or a few where Spark saw a part of it early; its time is that of its batches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
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

CAMERAS = 50


@dataclass(slots=True)
class Round:
    """The batches of a round, as Spark tells of them, and the notifications that came of it."""

    batches: list[Mapping[str, Any]]
    heard: list[Notified]

    @property
    def ms(self) -> float:
        """What its batches took together."""
        return self.took("triggerExecution")

    def took(self, stage: str) -> float:
        """What a stage of Spark's took, in all batches."""
        return float(sum(each["durationMs"].get(stage, 0) for each in self.batches))

    def told(self, name: str) -> float:
        """What the shards told, of all batches."""
        return float(sum(each["observedMetrics"][OBSERVED][name] or 0 for each in self.batches))


@dataclass
class Run:
    """A running job."""

    topics: Source
    query: StreamingQuery
    rounds: list[Round] = field(default_factory=list)
    sequence: int = 0  # of the last publication
    _now: int = 0  # microseconds, one for each record
    _batch: int = -1  # the last that was looked at

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

    def drained(self) -> Round:
        """Let the job take in what was sent."""
        self.topics.flush()
        self.query.processAllAvailable()
        made = Round(list(self._batches()), list(self.heard()))
        self.rounds.append(made)
        return made

    def heard(self) -> Iterator[Notified]:
        """The notifications that came since this was asked last."""
        for value in self.topics.heard():
            record = decode(value)
            assert isinstance(record, Notified)
            yield record

    def _batches(self) -> Iterator[Mapping[str, Any]]:
        for each in self.query.recentProgress:
            if each["batchId"] > self._batch and each["numInputRows"]:
                self._batch = each["batchId"]
                yield each

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
