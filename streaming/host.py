"""The host of the step in Spark: routing in front of it, state owned by Spark around it.

`transformWithState` keeps for each shard a short head, the chunks of a snapshot and the deltas behind them. The
state that can be matched is a cache in the Python worker; it is used only if the head's token says that it is the
one that was written last, whichever attempt, executor or restart wrote it.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from silbo.streaming.columns import Chunk, Columns
from silbo.streaming.records import encode
from silbo.streaming.routing import Router
from silbo.streaming.snapshots import pack, pack_delta, restored
from silbo.streaming.step import Settings, State, step
from silbo.streaming.topics import NOTIFICATIONS, REJECTED

if TYPE_CHECKING:
    import pyarrow as pa

ROUTED = "shard int, chunk binary"
OUTPUT = "topic string, key binary, value binary, shard int, executor string"
HEAD = "token string, snapshot_bytes long, delta_bytes long"
BYTES = "value binary"

FOLD = 4  # deltas larger than a fourth of the snapshot are folded into it
CACHED = 64  # states in one worker
SMALL = 2**20  # bytes of deltas that are never worth it


class Sizes(NamedTuple):
    """What the head tells besides the token: the bytes of both parts."""

    snapshot: int
    deltas: int


# by the shard and the identity of its state: the token of what was written last, and the state itself
_states: dict[tuple[str, int], tuple[str, State]] = {}


def executor_name() -> str:
    """Where this process runs: the host, and the daemon of Python workers that each executor has one of."""
    return f"{socket.gethostname()}:{os.getppid()}"


class Routing:
    """What Spark maps over the sources' partitions: records in, chunks by shard out."""

    def __init__(self, keys: tuple[int, ...]) -> None:
        self._keys = keys  # one for each shard: the key whose hash is its reducer's number

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Of one partition of a source, or several, in the order of their offsets."""
        import pyarrow as pa

        router = Router(len(self._keys))
        for batch in batches:
            made = [
                (self._keys[shard], chunk.pack())
                for (topic, partition), records in _by_partition(batch).items()
                for shard, chunk in router.chunks(topic, partition, records)
            ]
            if made:
                keys, chunks = zip(*made, strict=True)
                yield pa.RecordBatch.from_arrays(
                    [pa.array(keys, pa.int32()), pa.array(chunks, pa.binary())], names=["shard", "chunk"]
                )


def _by_partition(batch: pa.RecordBatch) -> dict[tuple[str, int], list[tuple[int, bytes | None]]]:
    columns = (batch.column(name).to_pylist() for name in ("topic", "partition", "offset", "value"))
    found: dict[tuple[str, int], list[tuple[int, bytes | None]]] = {}
    for topic, partition, offset, value in zip(*columns, strict=True):
        found.setdefault((topic, partition), []).append((offset, value))
    for records in found.values():
        records.sort(key=lambda record: record[0])
    return found


class Matcher(StatefulProcessor):
    """A shard's step, batch after batch."""

    def __init__(self, settings: Settings, keys: tuple[int, ...]) -> None:
        self._settings = settings
        self._keys = keys

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state's parts."""
        self._head = handle.getValueState("head", HEAD)
        self._snapshot = handle.getListState("snapshot", BYTES)
        self._deltas = handle.getListState("deltas", BYTES)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803, ARG002
        """Take a batch in, and put out notifications in the order of their publications."""
        shard = self._keys.index(key[0])
        columns = Columns([Chunk.unpack(bytes(row.chunk)) for row in rows])
        identity, state, sizes = self._state(shard)
        outcome = step(state, columns)
        self._keep(identity, shard, state, sizes, pack_delta(outcome.delta))
        executor = executor_name()
        for notification in outcome.notifications:
            key = notification.subscriber_uuid.encode()
            yield Row(topic=NOTIFICATIONS, key=key, value=encode(notification), shard=shard, executor=executor)
        for rejected in outcome.rejected:
            yield Row(topic=REJECTED, key=None, value=encode(rejected), shard=shard, executor=executor)

    def close(self) -> None:
        """Nothing is open."""

    def _state(self, shard: int) -> tuple[str, State, Sizes]:
        settings = replace(self._settings, shard=shard)
        head = self._head.get()
        if head is None:
            return uuid.uuid4().hex, State(settings), Sizes(0, 0)
        token, *sizes = head
        identity = token.partition("/")[0]
        cached = _states.pop((identity, shard), None)
        if cached is not None and cached[0] == token:
            return identity, cached[1], Sizes(*sizes)
        chunks, deltas = ([bytes(each[0]) for each in part.get()] for part in (self._snapshot, self._deltas))
        return identity, restored(settings, chunks, deltas), Sizes(*sizes)

    def _keep(self, identity: str, shard: int, state: State, sizes: Sizes, delta: bytes) -> None:
        """Write what came, folded if the deltas are too many, and remember the state under a token of this write."""
        token = f"{identity}/{uuid.uuid4().hex}"
        snapshot_bytes, delta_bytes = sizes.snapshot, sizes.deltas + len(delta)
        if delta_bytes > max(SMALL, snapshot_bytes // FOLD):
            chunks = list(pack(state))
            self._snapshot.put([(chunk,) for chunk in chunks])
            self._deltas.clear()
            snapshot_bytes, delta_bytes = sum(map(len, chunks)), 0
        else:
            self._deltas.appendValue((delta,))
        self._head.update((token, snapshot_bytes, delta_bytes))
        while len(_states) >= CACHED:  # of queries that ended, the oldest first
            _states.pop(next(iter(_states)))
        _states[identity, shard] = token, state
