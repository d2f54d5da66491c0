"""A state as bytes: chunks of a snapshot, and deltas behind them. This is what Spark owns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgpack

from silbo.streaming.idle import IdleFrontier
from silbo.streaming.order import Arrival, arrival
from silbo.streaming.records import trusted
from silbo.streaming.step import Delta, Settings, State, absorb, records_of, take_records

CHUNK = 2**20  # bytes of a chunk, about
WAITING = 1_000  # records of a chunk that wait for the frontier


def pack_delta(delta: Delta) -> bytes:
    """A delta as bytes."""
    marks = [[*partition, mark] for partition, mark in delta.marks.items()]
    kept = [[each.topic, each.partition, each.offset, each.value] for each in delta.kept]
    packed: bytes = msgpack.packb([marks, kept])
    return packed


def unpack_delta(data: bytes) -> Delta:
    """A delta from bytes."""
    marks, kept = msgpack.unpackb(data)
    return Delta({(topic, partition): mark for topic, partition, mark in marks}, [_arrival(*each) for each in kept])


def _arrival(topic: str, partition: int, offset: int, value: bytes) -> Arrival:
    return arrival(topic, partition, offset, trusted(value), value)


def pack(state: State) -> Iterator[bytes]:
    """A state as chunks: what holds as of the frontier, then what waits for it."""
    for chunk in _chunks(records_of(state)):
        yield msgpack.packb(["records", chunk])
    yield msgpack.packb(["delta", pack_delta(Delta(state.frontier.marks, []))])
    if isinstance(state.frontier, IdleFrontier):
        yield msgpack.packb(["silence", state.frontier.silence()])
    for first in range(0, len(state.waiting), WAITING):
        yield msgpack.packb(["delta", pack_delta(Delta({}, state.waiting[first : first + WAITING]))])


def _chunks(values: Iterable[bytes]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for value in values:
        chunk.append(value)
        size += len(value)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def restored(settings: Settings, chunks: Iterable[bytes], deltas: Sequence[bytes] | Iterable[bytes]) -> State:
    """The state of these chunks and deltas."""
    state = State(settings)
    for data in chunks:
        kind: str
        content: Any
        kind, content = msgpack.unpackb(data)
        if kind == "records":
            take_records(state, content)
        elif kind == "silence":
            assert isinstance(state.frontier, IdleFrontier)
            state.frontier.restore(content)
        else:
            absorb(state, unpack_delta(content))
    for data in deltas:
        absorb(state, unpack_delta(data))
    return state
