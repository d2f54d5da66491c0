"""The progress of a job: a line for each batch, and a summary of all.

Spark calls a listener after every batch. The metrics of the matching itself (frontier, waiting, notifications,
rejected) come with the call: `match` observes them under the name `silbo`.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql.streaming.listener import StreamingQueryListener

from silbo.streaming.bulk.order import NEVER
from silbo.streaming.spark.frames import OBSERVED
from silbo.streaming.spark.jvm import is_alive
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS, SUBSCRIPTIONS
from silbo.wire.records import LAST

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.streaming.listener import QueryProgressEvent, QueryStartedEvent, QueryTerminatedEvent

SOURCES = (PUBLICATIONS, SUBSCRIPTIONS, CONTEXTS)  # in the order in which `match` reads them; a clock may follow
FLUSH = 30.0  # seconds that Spark may take to report the last batch
LOOK = 0.2  # seconds between two checks whether Spark's Java process has ended
CLOCK = range(10**14, 2 * 10**17)  # microseconds since 1970 that are shown as a date: 1973 to 8307

PartitionOffsets: TypeAlias = Mapping[str, int]  # offsets in one topic, by partition
# gives the present ends of a topic's partitions, those that were read
Ends: TypeAlias = Callable[[str, PartitionOffsets], PartitionOffsets]


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The progress of one batch."""

    number: int
    milliseconds: int
    records: Mapping[str, int]  # by topic
    unread: str  # how much of the input is not read yet, as text
    observed: Mapping[str, Any]  # the metrics that `match` observes; empty if there are none


def batch_of(progress: Mapping[str, Any], ends: Ends | None = None) -> BatchProgress:
    """The batch of a progress report of Spark; `ends` gives the ends of topics if their source does not."""
    sources = dict(zip(SOURCES, progress["sources"], strict=False))
    records = {topic: source["numInputRows"] for topic, source in sources.items()}
    took = progress["durationMs"].get("triggerExecution", 0)
    observed = _observed((progress.get("observedMetrics") or {}).get(OBSERVED))
    return BatchProgress(progress["batchId"], took, records, _unread(sources, ends), observed)


def _observed(row: Row | None) -> Mapping[str, Any]:
    """The observed metrics; a missing count is 0, and an unknown frontier is None."""
    metrics = {} if row is None else row.asDict()
    return {name: value if name == "frontier" else value or 0 for name, value in metrics.items()}


def _unread(sources: Mapping[str, Mapping[str, Any]], ends: Ends | None) -> str:
    unread = 0
    for topic, source in sources.items():
        read = _offsets(source["endOffset"])
        present = _offsets(source["latestOffset"]) if ends is None else ends(topic, read)
        unread += sum(end - read.get(partition, 0) for partition, end in present.items())
    return f"{unread:,} behind" if ends is None else f"{unread:,} bytes behind"


def _offsets(text: str | None) -> PartitionOffsets:
    """The offsets by partition in `{"topic": {"0": 7}}`; empty before the first read."""
    by_topic: Mapping[str, PartitionOffsets] = {} if text in (None, "None", "null") else json.loads(text)
    return next(iter(by_topic.values()), {})


# as text


def line(batch: BatchProgress) -> str:
    """The line for one batch."""
    records = sum(batch.records.values())
    seen = batch.observed
    parts = [f"batch {batch.number}: {_counted(records, 'record')} in {batch.milliseconds:,} ms"]
    parts[0] += _rate(records, batch.milliseconds / 1_000)
    if seen:
        parts.append(_counted(seen["notifications"], "notification"))
    if seen.get("rejected"):
        parts.append(f"{seen['rejected']:,} rejected")
    parts.append(batch.unread)
    if _has_frontier(seen):
        parts.append(f"frontier {time_text(seen['frontier'])}")
    if seen.get("held"):
        parts.append(held_text(seen))
    return "; ".join(parts)


def held_text(seen: Mapping[str, Any]) -> str:
    """How many publications wait for the frontier, and what the frontier waits for."""
    waits = f"{_counted(seen['held'], 'publication')} wait{'s' if seen['held'] == 1 else ''}"
    silent, partitions = seen["silent"], seen["partitions"]
    why = f"no records yet in {silent} of {partitions} partitions" if silent else "for the slowest partition"
    return f"{waits}{':' if silent else ''} {why} (--tick, --idle, --order arrival)"


def _has_frontier(seen: Mapping[str, Any]) -> bool:
    """Whether there is a frontier to show: the order of arrival has none."""
    return bool(seen) and (seen["frontier"] not in (None, NEVER) or seen["waiting"] > 0)


def time_text(microseconds: int | None) -> str:
    """The time of a record as text: a date and time if it can be one, otherwise the number."""
    if microseconds is None or microseconds == NEVER:
        return "not known yet"
    if microseconds == LAST:
        return "at the end"
    if microseconds not in CLOCK:
        return str(microseconds)
    # in the local time zone
    return datetime.fromtimestamp(microseconds / 1_000_000).isoformat(" ", "milliseconds")  # noqa: DTZ006


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _rate(count: int, seconds: float) -> str:
    """The rate with a comma before it; empty if it is below one per second."""
    return f", {count / seconds:,.0f}/s" if count > seconds > 0 else ""


class Totals:
    """The sums over all batches, in constant memory."""

    def __init__(self) -> None:
        self.batches = 0
        self.records: Counter[str] = Counter()
        self.observed: Counter[str] = Counter()
        self.last: BatchProgress | None = None

    def add(self, batch: BatchProgress) -> None:
        """Add a batch."""
        self.batches += 1
        self.records.update(batch.records)
        self.observed.update({name: batch.observed.get(name, 0) for name in ("notifications", "rejected")})
        self.last = batch

    def summary(self, seconds: float) -> str:
        """The summary, in a few lines."""
        total = self.records.total()
        head = f"{_counted(total, 'record')} in {self.batches:,} batch{'' if self.batches == 1 else 'es'}"
        topics = ", ".join(f"{topic.partition('.')[2]} {self.records[topic]:,}" for topic in SOURCES)
        lines = [f"{head} and {seconds:.1f} s{_rate(total, seconds)}; by topic, ticks included: {topics}"]
        seen = {} if self.last is None else self.last.observed
        if seen:
            notifications, rejected = self.observed["notifications"], self.observed["rejected"]
            rate = _rate(notifications, seconds)
            lines.append(f"{_counted(notifications, 'notification')}{rate}; {rejected:,} rejected")
        if _has_frontier(seen):
            lines.append(f"frontier {time_text(seen['frontier'])}; {seen['waiting']:,} waiting in the shards")
        if seen.get("held"):
            lines.append(held_text(seen))
        return "\n".join(lines)


# watching


class Watch(StreamingQueryListener):
    """Listens to the batches of the query that starts next, and reports them."""

    def __init__(
        self, report: Callable[[str], object], ends: Ends | None, warn: Callable[[str], object] | None
    ) -> None:
        self.totals = Totals()
        self._report = report
        self._warn = warn  # called once, when publications wait for partitions without records
        self._ends = ends
        self._run: object = None
        self._ended = threading.Event()
        self._since = time.monotonic()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Remember the query; Spark calls this before `start` returns."""
        if self._run is None:
            self._run = event.runId

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Report a batch that has ended."""
        if event.progress.runId != self._run:
            return
        batch = batch_of(event.progress, self._ends)
        self.totals.add(batch)
        if any(batch.records.values()) or batch.observed.get("notifications"):  # more than a beat of the clock
            self._report(line(batch))
        if self._warn is not None and batch.observed.get("held") and batch.observed["silent"]:
            self._warn(held_text(batch.observed))
            self._warn = None

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Do nothing: there was nothing to read."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Remember the end; it is the last event of a query."""
        if event.runId == self._run:
            self._ended.set()

    def wait(self) -> None:
        """Wait until Spark has reported everything about a stopped query, or its Java process has ended."""
        deadline = time.monotonic() + FLUSH
        while self._run is not None and is_alive() and time.monotonic() < deadline:
            if self._ended.wait(LOOK):
                return

    def summary(self) -> str:
        """The summary of all batches so far."""
        return self.totals.summary(time.monotonic() - self._since)


@contextmanager
def watching(
    spark: SparkSession,
    report: Callable[[str], object],
    ends: Ends | None = None,
    warn: Callable[[str], object] | None = None,
) -> Iterator[Watch]:
    """Watch the query that is started and stopped inside."""
    watch = Watch(report, ends, warn)
    spark.streams.addListener(watch)
    try:
        yield watch
    finally:
        watch.wait()
        if is_alive():
            spark.streams.removeListener(watch)
