"""A batch of a shard, bytes in and bytes out: unpack, step, and what of it Spark is to keep and to put out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from silbo.streaming.collector import uncollected
from silbo.streaming.columns import Chunk, Columns
from silbo.streaming.records import encode
from silbo.streaming.snapshots import pack, pack_delta
from silbo.streaming.step import Outcome, State, step
from silbo.streaming.topics import NOTIFICATIONS, REJECTED

FOLD = 4  # deltas larger than a fourth of the snapshot are folded into it
SMALL = 2**20  # bytes of deltas that are never worth it

Output: TypeAlias = tuple[str, bytes | None, bytes]  # topic, key, value


class Sizes(NamedTuple):
    """What Spark keeps of a shard: entries and bytes of the snapshot, and of the deltas behind it."""

    chunks: int = 0
    snapshot_bytes: int = 0
    deltas: int = 0
    delta_bytes: int = 0


class Answer(NamedTuple):
    """What a batch gave."""

    delta: bytes
    snapshot: Sequence[bytes] | None  # that takes the place of all deltas, if it is time
    output: Sequence[Output]
    told: dict[str, Any]  # how it went


def advance(state: State, chunks: Sequence[bytes], sizes: Sizes) -> Answer:
    """Take a batch in; the state moves on."""
    with uncollected():
        watch = _Watch()
        columns = Columns([Chunk.unpack(each) for each in chunks])
        watch.lap("unpack_ms")
        outcome = step(state, columns)
        watch.lap("step_ms")
        delta = pack_delta(outcome.delta)
        is_fold = sizes.delta_bytes + len(delta) > max(SMALL, sizes.snapshot_bytes // FOLD)
        snapshot = list(pack(state)) if is_fold else None
        watch.lap("pack_ms")
        told = {**_told(state, columns, outcome), "folds": int(is_fold), **watch.laps}
        return Answer(delta, snapshot, list(_output(outcome)), told)


def _told(state: State, columns: Columns, outcome: Outcome) -> dict[str, int]:
    return {
        "frontier": state.frontier.time,
        "waiting": len(state.waiting),
        "records": len(columns),
        "notifications": len(outcome.notifications),
        "rejected": len(outcome.rejected),
    }


def _output(outcome: Outcome) -> Iterator[Output]:
    for notification in outcome.notifications:
        yield NOTIFICATIONS, notification.subscriber_uuid.encode(), encode(notification)
    for rejected in outcome.rejected:
        yield REJECTED, None, encode(rejected)


class _Watch:
    """Milliseconds of one stage after the other."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = (now - self._since) * 1_000
        self._since = now
