"""The host of the step in Spark: routing in front of it, state owned by Spark around it.

`transformWithState` keeps for each shard a short head, the chunks of a snapshot and the deltas behind them. The
state that can be matched is a cache in the Python worker; it is used only if the head's token says that it is the
one that was written last, whichever attempt, executor or restart wrote it. Besides what it puts out, a shard tells
of each batch how it went, in a row of its own that `frames` observes.
"""

from __future__ import annotations

import gc
import os
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from silbo.streaming.columns import Chunk, Columns
from silbo.streaming.records import encode
from silbo.streaming.routing import Router
from silbo.streaming.snapshots import pack, pack_delta, restored
from silbo.streaming.step import Outcome, Settings, State, step
from silbo.streaming.topics import NOTIFICATIONS, REJECTED

if TYPE_CHECKING:
    import pyarrow as pa

ROUTED = "shard int, chunk binary"
TOLD = (
    "frontier long, waiting long, records long, notifications long, rejected long, hits long, folds long,"
    " bytes long, unpack_ms double, state_ms double, step_ms double, keep_ms double"
)
OUTPUT = f"topic string, key binary, value binary, shard int, executor string, told struct<{TOLD}>"
HEAD = "token string, chunks int, snapshot_bytes long, deltas int, delta_bytes long"
NUMBER, BYTES = "number int", "value binary"

FOLD = 4  # deltas larger than a fourth of the snapshot are folded into it
CACHED = 64  # states in one worker
SMALL = 2**20  # bytes of deltas that are never worth it


class Sizes(NamedTuple):
    """What the head tells besides the token: the entries and the bytes of both parts."""

    chunks: int = 0
    snapshot_bytes: int = 0
    deltas: int = 0
    delta_bytes: int = 0


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
            made = self._routed(router, batch)
            if made:
                keys, chunks = zip(*made, strict=True)
                arrays = [pa.array(keys, pa.int32()), pa.array(chunks, pa.binary())]
                yield pa.RecordBatch.from_arrays(arrays, names=["shard", "chunk"])

    def _routed(self, router: Router, batch: pa.RecordBatch) -> list[tuple[int, bytes]]:
        with uncollected():
            return [
                (self._keys[shard], chunk.pack())
                for (topic, partition), records in _by_partition(batch).items()
                for shard, chunk in router.chunks(topic, partition, records)
            ]


@contextmanager
def uncollected() -> Iterator[None]:
    """Let the garbage collector rest: thousands of new records would send it through all subscriptions, in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


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
        """Name the state's parts: what is written at every batch first, apart from what seldom is.

        RocksDB packs neighbouring keys together; a large snapshot between the two would be packed again and again.
        """
        self._head = handle.getValueState("head", HEAD)
        self._deltas = handle.getMapState("deltas", NUMBER, BYTES)
        self._snapshot = handle.getMapState("snapshot", NUMBER, BYTES)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803, ARG002
        """Take a batch in, and put out notifications in the order of their publications."""
        with uncollected():
            made = list(self._matched(self._keys.index(key[0]), rows))
        return iter(made)

    def _matched(self, shard: int, rows: Iterator[Row]) -> Iterator[Row]:
        watch = _Watch()
        columns = Columns([Chunk.unpack(bytes(row.chunk)) for row in rows])
        watch.lap("unpack_ms")
        identity, state, sizes, is_hit = self._state(shard)
        watch.lap("state_ms")
        outcome = step(state, columns)
        watch.lap("step_ms")
        kept, is_folded = self._keep(identity, shard, state, sizes, pack_delta(outcome.delta))
        watch.lap("keep_ms")
        told = Row(
            frontier=state.frontier.time, waiting=len(state.waiting), records=len(columns),
            notifications=len(outcome.notifications), rejected=len(outcome.rejected), hits=int(is_hit),
            folds=int(is_folded), bytes=kept.snapshot_bytes + kept.delta_bytes, **watch.laps,
        )  # fmt: skip
        yield from _output(outcome, shard, told)

    def close(self) -> None:
        """Nothing is open."""

    def _state(self, shard: int) -> tuple[str, State, Sizes, bool]:
        """The identity of a shard's state, the state, its sizes, and whether this worker had it."""
        settings = replace(self._settings, shard=shard)
        head = self._head.get()
        if head is None:
            return uuid.uuid4().hex, State(settings), Sizes(), True  # there was nothing to read
        token, *sizes = head
        identity = token.partition("/")[0]
        cached = _states.pop((identity, shard), None)
        if cached is not None and cached[0] == token:
            return identity, cached[1], Sizes(*sizes), True
        chunks, deltas = map(_in_order, (self._snapshot, self._deltas))
        return identity, restored(settings, chunks, deltas), Sizes(*sizes), False

    def _keep(self, identity: str, shard: int, state: State, sizes: Sizes, delta: bytes) -> tuple[Sizes, bool]:
        """Write what came, folded if the deltas are too many, and remember the state under a token of this write."""
        token = f"{identity}/{uuid.uuid4().hex}"
        is_fold = sizes.delta_bytes + len(delta) > max(SMALL, sizes.snapshot_bytes // FOLD)
        if is_fold:
            sizes = self._fold(list(pack(state)), sizes)
        else:
            self._deltas.updateValue((sizes.deltas,), (delta,))
            sizes = sizes._replace(deltas=sizes.deltas + 1, delta_bytes=sizes.delta_bytes + len(delta))
        self._head.update((token, *sizes))
        while len(_states) >= CACHED:  # of queries that ended, the oldest first
            _states.pop(next(iter(_states)))
        _states[identity, shard] = token, state
        return sizes, is_fold

    def _fold(self, chunks: list[bytes], sizes: Sizes) -> Sizes:
        """A new snapshot takes the place of the old one and of all deltas."""
        for number, chunk in enumerate(chunks):
            self._snapshot.updateValue((number,), (chunk,))
        for number in range(len(chunks), sizes.chunks):
            self._snapshot.removeKey((number,))
        self._deltas.clear()
        return Sizes(len(chunks), sum(map(len, chunks)))


class _Watch:
    """Milliseconds of one stage after the other."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = (now - self._since) * 1_000
        self._since = now


def _in_order(part: Any) -> Iterator[bytes]:
    """The values of a part by their numbers, which RocksDB may keep in another order."""
    found = {number: bytes(value) for (number,), (value,) in part.iterator()}
    return (found[number] for number in sorted(found))


def _output(outcome: Outcome, shard: int, told: Row) -> Iterator[Row]:
    executor = executor_name()
    place = {"shard": shard, "executor": executor}
    yield Row(topic=None, key=None, value=None, **place, told=told)
    for notification in outcome.notifications:
        key = notification.subscriber_uuid.encode()
        yield Row(topic=NOTIFICATIONS, key=key, value=encode(notification), **place, told=None)
    for rejected in outcome.rejected:
        yield Row(topic=REJECTED, key=None, value=encode(rejected), **place, told=None)
