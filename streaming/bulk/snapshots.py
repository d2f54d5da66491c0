"""A state as bytes: the chunks of a snapshot, and the deltas since the snapshot. Spark owns these bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from silbo.streaming.bulk.idle import IdleFrontier
from silbo.streaming.bulk.order import Arrival
from silbo.streaming.bulk.step import Delta, Settings, State, absorb, records_of, take_records
from silbo.wire.records import PublicationRecord, fields_of, record_of
from silbo.wire.values import packed, unpacked

CHUNK = 2**20  # bytes of a chunk, about

Fields: TypeAlias = Sequence[Any]  # a record's kind and fields


def pack_delta(delta: Delta) -> bytes:
    """A delta as bytes."""
    marks = [[*partition, mark] for partition, mark in delta.marks.items()]
    return packed([marks, list(map(_placed, delta.retained))])


def unpack_delta(data: bytes) -> Delta:
    """A delta from bytes."""
    marks, retained = unpacked(data)
    return Delta({(topic, partition): mark for topic, partition, mark in marks}, [_arrival(*each) for each in retained])


def _placed(each: Arrival) -> tuple[str, int, int, Fields]:
    return each.topic, each.partition, each.offset, fields_of(each.record)


def _arrival(topic: str, partition: int, offset: int, fields: Fields) -> Arrival:
    record = record_of(fields)
    return Arrival(record.time, isinstance(record, PublicationRecord), topic, partition, offset, record)


def pack(state: State) -> Iterator[bytes]:
    """Yield a state as chunks: subscriptions and contexts as of the frontier, the marks, then the waiting records."""
    for chunk in _chunks(map(fields_of, records_of(state))):
        yield packed(["records", chunk])
    yield packed(["delta", pack_delta(Delta(state.frontier.marks, []))])
    if isinstance(state.frontier, IdleFrontier):
        yield packed(["silence", state.frontier.silence()])
    for chunk in _chunks(map(_placed, state.waiting)):
        yield packed(["waiting", chunk])


def _chunks(entries: Iterable[Fields]) -> Iterator[list[bytes]]:
    """Group entries into chunks. Each entry is packed by itself: it may be small or have megabytes."""
    chunk: list[bytes] = []
    size = 0
    for entry in map(packed, entries):
        chunk.append(entry)
        size += len(entry)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def restored(settings: Settings, chunks: Iterable[bytes], deltas: Iterable[bytes]) -> State:
    """Rebuild a state from its chunks and deltas."""
    state = State(settings)
    for data in chunks:
        _take(state, *unpacked(data))
    for data in deltas:
        absorb(state, unpack_delta(data))
    return state


def _take(state: State, kind: str, content: Any) -> None:
    """Apply a chunk to a state that has the chunks before it."""
    match kind:
        case "records":
            take_records(state, (record_of(unpacked(entry)) for entry in content))
        case "delta":
            absorb(state, unpack_delta(content))
        case "silence":
            assert isinstance(state.frontier, IdleFrontier)
            state.frontier.restore(content)
        case _:
            absorb(state, Delta({}, [_arrival(*unpacked(entry)) for entry in content]))
