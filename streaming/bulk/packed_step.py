"""The step over bytes: unpack the batch of a shard, apply it, and pack the change of the state and the output."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from silbo.streaming.bulk.chunks import Chunk, ShardBatch
from silbo.streaming.bulk.garbage import uncollected
from silbo.streaming.bulk.order import NEVER
from silbo.streaming.bulk.output import Output, output_of
from silbo.streaming.bulk.snapshots import pack, pack_delta
from silbo.streaming.bulk.step import Outcome, State, step

FOLD = 4  # deltas larger than a quarter of the snapshot are folded into it
SMALL = 2**20  # bytes; smaller deltas are never folded


class Sizes(NamedTuple):
    """The stored state of a shard: entries and bytes of the snapshot, and of the deltas since the snapshot."""

    chunks: int = 0
    snapshot_bytes: int = 0
    deltas: int = 0
    delta_bytes: int = 0


class Answer(NamedTuple):
    """The result of a batch."""

    delta: bytes
    snapshot: Sequence[bytes] | None  # replaces all deltas; None if they are not folded yet
    output: Sequence[Output]
    metrics: dict[str, Any]


def packed_step(state: State, chunks: Sequence[bytes], sizes: Sizes) -> Answer:
    """Apply a batch to the state, and return the result."""
    with uncollected():
        watch = _Watch()
        batch = ShardBatch([Chunk.unpack(each) for each in chunks])
        watch.lap("unpack_ms")
        outcome = step(state, batch)
        watch.lap("step_ms")
        delta = pack_delta(outcome.delta)
        is_fold = sizes.delta_bytes + len(delta) > max(SMALL, sizes.snapshot_bytes // FOLD)
        snapshot = list(pack(state)) if is_fold else None
        watch.lap("pack_ms")
        metrics = {**_metrics(state, batch, outcome), "folds": int(is_fold), **watch.laps}
        return Answer(delta, snapshot, list(output_of(outcome.matches, outcome.rejected)), metrics)


def _metrics(state: State, batch: ShardBatch, outcome: Outcome) -> dict[str, int]:
    return {
        "frontier": state.frontier.time,
        "waiting": len(state.waiting),
        "held": sum(each.is_publication for each in state.waiting),
        "silent": sum(mark == NEVER for mark in state.frontier.marks.values()),
        "partitions": len(state.frontier.marks),
        "records": len(batch),
        "notifications": sum(len(rows) for _, rows in outcome.matches),
        "rejected": len(outcome.rejected),
    }


class _Watch:
    """Measures the milliseconds of consecutive stages."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = (now - self._since) * 1_000
        self._since = now
