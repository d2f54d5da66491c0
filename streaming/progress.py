"""How a job goes: a line for each batch, and a summary of them all.

Spark tells a listener of every batch when it has ended. What the matching itself tells (frontier, waiting,
notifications, rejected) comes with it as the metrics that `match` observes, under the name `silbo`.
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
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql.streaming.listener import StreamingQueryListener

from silbo.streaming.frames import OBSERVED
from silbo.streaming.log import partition_file
from silbo.streaming.order import NEVER
from silbo.streaming.records import LAST
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS, SUBSCRIPTIONS

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.streaming.listener import QueryProgressEvent, QueryStartedEvent, QueryTerminatedEvent

SOURCES = (PUBLICATIONS, SUBSCRIPTIONS, CONTEXTS)  # in the order in which `match` reads them; a clock may follow
FLUSH = 30.0  # seconds that Spark may take to tell of the last batch
CLOCK = range(10**14, 2 * 10**17)  # microseconds that are a time of day of our centuries: 1973 to 8307

Offsets: TypeAlias = Mapping[str, int]  # by partition
Ends: TypeAlias = Callable[[str, Offsets], Offsets]  # where the partitions of a topic end now, of those that were read


@dataclass(frozen=True, slots=True)
class Batch:
    """What a batch did."""

    number: int
    milliseconds: int
    records: Mapping[str, int]  # by topic
    behind: str  # what is there and was not read yet
    observed: Mapping[str, Any]  # what `match` tells; nothing if it does not


def batch_of(progress: Mapping[str, Any], ends: Ends | None = None) -> Batch:
    """The batch that Spark tells of; `ends` says where topics end whose source does not."""
    sources = dict(zip(SOURCES, progress["sources"], strict=False))
    records = {topic: source["numInputRows"] for topic, source in sources.items()}
    took = progress["durationMs"].get("triggerExecution", 0)
    observed = _observed((progress.get("observedMetrics") or {}).get(OBSERVED))
    return Batch(progress["batchId"], took, records, _behind(sources, ends), observed)


def _observed(row: Row | None) -> Mapping[str, Any]:
    """Counts that nobody told are 0; a frontier that nobody knows is none."""
    told = {} if row is None else row.asDict()
    return {name: value if name == "frontier" else value or 0 for name, value in told.items()}


def _behind(sources: Mapping[str, Mapping[str, Any]], ends: Ends | None) -> str:
    left = 0
    for topic, source in sources.items():
        read = _offsets(source["endOffset"])
        there = _offsets(source["latestOffset"]) if ends is None else ends(topic, read)
        left += sum(end - read.get(partition, 0) for partition, end in there.items())
    return f"{left:,} behind" if ends is None else f"{left:,} bytes behind"


def _offsets(told: str | None) -> Offsets:
    """By partition, of `{"topic": {"0": 7}}`; nothing before anything was read."""
    found: Mapping[str, Offsets] = {} if told in (None, "None", "null") else json.loads(told)
    return next(iter(found.values()), {})


def ends_of_log(folder: Path) -> Ends:
    """Where a log's partitions end now, in bytes."""

    def ends(topic: str, read: Offsets) -> Offsets:
        return {number: partition_file(folder, topic, int(number)).stat().st_size for number in read}

    return ends


# as text


def line(batch: Batch) -> str:
    """One batch on one line."""
    records = sum(batch.records.values())
    seen = batch.observed
    parts = [f"batch {batch.number}: {_counted(records, 'record')} in {batch.milliseconds:,} ms"]
    parts[0] += f", {_rate(records, batch.milliseconds / 1_000)}"
    if seen:
        parts.append(_counted(seen["notifications"], "notification"))
    if seen.get("rejected"):
        parts.append(f"{seen['rejected']:,} rejected")
    parts.append(batch.behind)
    if _has_frontier(seen):
        parts.append(f"frontier {time_text(seen['frontier'])}")
    return "; ".join(parts)


def _has_frontier(seen: Mapping[str, Any]) -> bool:
    """Whether there is something to tell of it: the order of arrival has none."""
    return bool(seen) and (seen["frontier"] not in (None, NEVER) or seen["waiting"] > 0)


def time_text(microseconds: int | None) -> str:
    """A time of records: of day if it is one, else the number that it is."""
    if microseconds is None or microseconds == NEVER:
        return "not known yet"
    if microseconds == LAST:
        return "at the end"
    if microseconds not in CLOCK:
        return str(microseconds)
    # by the clock on the wall here
    return datetime.fromtimestamp(microseconds / 1_000_000).isoformat(" ", "milliseconds")  # noqa: DTZ006


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _rate(count: int, seconds: float) -> str:
    return f"{count / seconds:,.0f}/s" if seconds > 0 else "0/s"


class Totals:
    """All batches together, however many there were."""

    def __init__(self) -> None:
        self.batches = 0
        self.records: Counter[str] = Counter()
        self.observed: Counter[str] = Counter()
        self.last: Batch | None = None

    def add(self, batch: Batch) -> None:
        """Count a batch in."""
        self.batches += 1
        self.records.update(batch.records)
        self.observed.update({name: batch.observed.get(name, 0) for name in ("notifications", "rejected")})
        self.last = batch

    def summary(self, seconds: float) -> str:
        """All of it in some lines."""
        total = self.records.total()
        head = f"{_counted(total, 'record')} in {self.batches:,} batch{'' if self.batches == 1 else 'es'}"
        topics = ", ".join(f"{self.records[topic]:,} {topic.partition('.')[2]}" for topic in SOURCES)
        lines = [f"{head} and {seconds:.1f} s, {_rate(total, seconds)}: {topics}"]
        seen = {} if self.last is None else self.last.observed
        if seen:
            made, rejected = self.observed["notifications"], self.observed["rejected"]
            lines.append(f"{_counted(made, 'notification')}, {_rate(made, seconds)}; {rejected:,} rejected")
        if _has_frontier(seen):
            lines.append(f"frontier {time_text(seen['frontier'])}; {seen['waiting']:,} waiting in the shards")
        return "\n".join(lines)


# watching


class Watch(StreamingQueryListener):
    """Hears of every batch of the query that starts next, and tells it on."""

    def __init__(self, tell: Callable[[str], object], ends: Ends | None) -> None:
        self.totals = Totals()
        self._tell = tell
        self._ends = ends
        self._run: object = None
        self._ended = threading.Event()
        self._since = time.monotonic()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Spark tells this before `start` returns."""
        if self._run is None:
            self._run = event.runId

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """A batch has ended."""
        if event.progress.runId != self._run:
            return
        batch = batch_of(event.progress, self._ends)
        self.totals.add(batch)
        if any(batch.records.values()) or batch.observed.get("notifications"):  # more than a clock's beat
            self._tell(line(batch))

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Nothing came, nothing is told."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Nothing comes behind this."""
        if event.runId == self._run:
            self._ended.set()

    def wait(self) -> None:
        """Until Spark has told everything of a query that was stopped."""
        if self._run is not None:
            self._ended.wait(FLUSH)

    def summary(self) -> str:
        """Everything until now."""
        return self.totals.summary(time.monotonic() - self._since)


@contextmanager
def watching(spark: SparkSession, tell: Callable[[str], object], ends: Ends | None = None) -> Iterator[Watch]:
    """Watch the query that is started and stopped inside."""
    watch = Watch(tell, ends)
    spark.streams.addListener(watch)
    try:
        yield watch
    finally:
        watch.wait()
        spark.streams.removeListener(watch)
