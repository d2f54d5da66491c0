"""The host of the step in Spark: routing before it, and Spark's state around it.

`transformWithState` stores for each shard a short head, the chunks of a snapshot and the deltas since the snapshot.
The matchable form of a state is a cache in a Python worker (`holding`), used only if its token is the one in the head.
Each shard also outputs a row with the metrics of the batch, which `frames` observes.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from silbo.streaming.bulk.garbage import settle, uncollected
from silbo.streaming.bulk.output import SCHEMA
from silbo.streaming.bulk.packed_step import Answer, Sizes
from silbo.streaming.bulk.routing import Router
from silbo.streaming.bulk.snapshots import restored
from silbo.streaming.bulk.step import Settings, State
from silbo.streaming.spark.holding import match_batch
from silbo.streaming.spark.migration import chunks

if TYPE_CHECKING:
    import pyarrow as pa

ROUTED = "shard int, chunk binary"
METRICS = (
    "frontier long, waiting long, held long, silent long, partitions long,"
    " records long, notifications long, rejected long, hits long, folds long,"
    " bytes long, unpack_ms double, step_ms double, pack_ms double, match_ms double, keep_ms double"
)
OUTPUT = f"{SCHEMA}, shard int, executor string, metrics struct<{METRICS}>"
NAMES = tuple(each.split()[0] for each in METRICS.split(", "))
HEAD = "identity string, token string, chunks int, snapshot_bytes long, deltas int, delta_bytes long"
NUMBER, BYTES = "number int", "value binary"


def executor_name() -> str:
    """The executor of this process: the host, and the pid of the executor's daemon of Python workers."""
    return f"{socket.gethostname()}:{os.getppid()}"


class Routing:
    """The function that Spark maps over the sources' partitions: records in, chunks by shard out."""

    def __init__(self, keys: tuple[int, ...]) -> None:
        self._keys = keys  # one for each shard: Spark's hash of the key is the number of its reducer

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Route the records of one or more partitions of a source, in the order of their offsets."""
        import pyarrow as pa

        router = Router(len(self._keys))
        for batch in batches:
            chunks_by_key = self._routed(router, batch)
            if chunks_by_key:
                keys, chunks = zip(*chunks_by_key, strict=True)
                arrays = [pa.array(keys, pa.int32()), pa.array(chunks, pa.binary())]
                yield pa.RecordBatch.from_arrays(arrays, names=["shard", "chunk"])
        settle()

    def _routed(self, router: Router, batch: pa.RecordBatch) -> list[tuple[int, bytes]]:
        with uncollected():
            return [
                (self._keys[shard], chunk.pack())
                for (topic, partition), records in _by_partition(batch).items()
                for shard, chunk in router.chunks(topic, partition, records)
            ]


def _by_partition(batch: pa.RecordBatch) -> dict[tuple[str, int], list[tuple[int, bytes | None]]]:
    columns = (batch.column(name).to_pylist() for name in ("topic", "partition", "offset", "value"))
    records_by_partition: dict[tuple[str, int], list[tuple[int, bytes | None]]] = {}
    for topic, partition, offset, value in zip(*columns, strict=True):
        records_by_partition.setdefault((topic, partition), []).append((offset, value))
    for records in records_by_partition.values():
        records.sort(key=lambda record: record[0])
    return records_by_partition


class Matcher(StatefulProcessor):
    """Runs the step of a shard for each batch."""

    def __init__(self, settings: Settings, keys: tuple[int, ...], migrated: Path | None = None) -> None:
        self._settings = settings
        self._keys = keys
        self._migrated = migrated  # the checkpoint that may hold an initial state

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the parts of the state: first those that every batch writes, then the snapshot, written seldom.

        RocksDB packs neighbouring keys together; a large snapshot between the two would be packed again and again.
        """
        self._head = handle.getValueState("head", HEAD)
        self._deltas = handle.getMapState("deltas", NUMBER, BYTES)
        self._snapshot = handle.getMapState("snapshot", NUMBER, BYTES)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803, ARG002
        """Match a batch, and output its notifications in the order of their publications."""
        shard = self._keys.index(key[0])
        batch = [bytes(row.chunk) for row in rows]
        since = time.perf_counter()
        head = self._head.get()
        identity, token, *numbers = head or (uuid.uuid4().hex, "", *self._initial_sizes(shard))
        sizes = Sizes(*numbers)
        answer, new_token, is_hit = match_batch((identity, shard), token, batch, sizes, lambda: self._restored(shard))
        matched = time.perf_counter()
        sizes = self._store(answer, sizes)
        self._head.update((identity, new_token, *sizes))
        metrics = {
            **answer.metrics, "hits": int(is_hit or head is None), "bytes": sizes.snapshot_bytes + sizes.delta_bytes,
            "match_ms": (matched - since) * 1_000, "keep_ms": (time.perf_counter() - matched) * 1_000,
        }  # fmt: skip
        return _rows(answer, shard, metrics)

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _restored(self, shard: int) -> State:
        parts = map(_in_order, (self._snapshot, self._deltas))
        with uncollected():
            return restored(replace(self._settings, shard=shard), *parts)

    def _initial_sizes(self, shard: int) -> Sizes:
        """Store the chunks that were migrated for a shard, at its first batch; returns their sizes."""
        if self._migrated is None:
            return Sizes()
        sizes = Sizes()
        for chunk in chunks(self._migrated, shard):
            self._snapshot.updateValue((sizes.chunks,), (chunk,))
            sizes = Sizes(sizes.chunks + 1, sizes.snapshot_bytes + len(chunk))
        return sizes

    def _store(self, answer: Answer, sizes: Sizes) -> Sizes:
        """Store the new state; a new snapshot replaces the old one and all deltas. Returns the sizes."""
        if answer.snapshot is None:
            self._deltas.updateValue((sizes.deltas,), (answer.delta,))
            return sizes._replace(deltas=sizes.deltas + 1, delta_bytes=sizes.delta_bytes + len(answer.delta))
        for number, chunk in enumerate(answer.snapshot):
            self._snapshot.updateValue((number,), (chunk,))
        for number in range(len(answer.snapshot), sizes.chunks):
            self._snapshot.removeKey((number,))
        self._deltas.clear()
        return Sizes(len(answer.snapshot), sum(map(len, answer.snapshot)))


def _in_order(part: Any) -> Iterator[bytes]:
    """The values of a part by their numbers, which RocksDB may keep in another order."""
    values = {number: bytes(value) for (number,), (value,) in part.iterator()}
    return (values[number] for number in sorted(values))


def _rows(answer: Answer, shard: int, metrics: dict[str, Any]) -> Iterator[Row]:
    place = {"shard": shard, "executor": executor_name()}
    yield Row(topic=None, recipients=None, tail=None, **place, metrics=Row(**{name: metrics[name] for name in NAMES}))
    for topic, recipients, tail in answer.output:
        each = [Row(key=key, head=head) for key, head in recipients]
        yield Row(topic=topic, recipients=each, tail=tail, **place, metrics=None)
