"""The local log as a Python data source for Spark streaming, with the columns of the Kafka source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from silbo.streaming.bulk.garbage import settle
from silbo.streaming.local.log import end_of, partition_file, partitions_of, read
from silbo.streaming.spark.migration import TopicOffsets

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

SCHEMA = "topic string, partition int, offset long, value binary"
TOGETHER = 10_000  # records that go to Spark together


class LogSource(DataSource):
    """`spark.readStream.format("silbo").option("path", DIR).option("topic", TOPIC)`."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "silbo"

    def schema(self) -> str:
        """The columns."""
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802, ARG002
        """The reader of a topic."""
        limit, begin = self.options.get("batch"), json.loads(self.options.get("startingOffsets", "{}"))
        most = None if limit is None else int(limit)
        return LogReader(Path(self.options["path"]), self.options["topic"], most, begin)


@dataclass
class Range(InputPartition):
    """A part of a partition's file."""

    partition: int
    start: int
    end: int


class LogReader(DataSourceStreamReader):
    """Reads a topic. TopicOffsets are positions in bytes, by topic and partition as in Kafka."""

    def __init__(self, folder: Path, topic: str, limit: int | None, begin: TopicOffsets) -> None:
        self._folder = folder
        self._topic = topic
        self._limit = limit  # the most records of a partition in a batch
        self._begin = begin.get(topic, {})

    def initialOffset(self) -> TopicOffsets:  # type: ignore[override]  # noqa: N802
        """The offsets to begin with: those of the option `startingOffsets`, otherwise 0."""
        numbers = map(str, range(partitions_of(self._folder, self._topic)))
        return {self._topic: {number: self._begin.get(number, 0) for number in numbers}}

    def latestOffset(self, start: TopicOffsets, limit: Any) -> TopicOffsets:  # type: ignore[override]  # noqa: N802, ARG002
        """The ends of the last whole records; with a limit, at most that many records after the last batch."""
        return {self._topic: {number: self._end(int(number), since) for number, since in start[self._topic].items()}}

    def _end(self, number: int, since: int) -> int:
        path = partition_file(self._folder, self._topic, number)
        return end_of(path, since, self._limit)

    def partitions(self, start: TopicOffsets, end: TopicOffsets) -> list[Range]:
        """The ranges that a batch reads; a partition without new records has none."""
        since = start[self._topic]
        ranges = [Range(int(number), since[number], until) for number, until in end[self._topic].items()]
        return [each for each in ranges if each.end > each.start]

    def read(self, partition: Range) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield the records of a range, many in one Arrow batch."""
        import pyarrow as pa

        path = partition_file(self._folder, self._topic, partition.partition)
        records = read(path, partition.start, partition.end)
        while taken := list(islice(records, TOGETHER)):
            offsets, values = zip(*taken, strict=True)
            topics = pa.array([self._topic] * len(taken), pa.string())
            numbers = pa.array([partition.partition] * len(taken), pa.int32())
            arrays = [topics, numbers, pa.array(offsets, pa.int64()), pa.array(values, pa.binary())]
            yield pa.RecordBatch.from_arrays(arrays, names=["topic", "partition", "offset", "value"])
        settle()
