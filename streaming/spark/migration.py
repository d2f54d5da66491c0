"""Migration: move the state of a stopped job to another number of shards, or to more partitions.

The state is read from Spark's own files, as of the last batch that the job has committed, and written to a new folder,
which becomes the checkpoint of the next job: chunks of a snapshot for each shard, and the offsets up to which the
sources were read. A batch that the old job had begun and not committed is matched again, with the same result. Each
shard takes its chunks at its first batch (`host`), one after the other: Spark's own way to set an initial state would
first gather all of a shard as rows.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from silbo.errors import InvalidValue
from silbo.streaming.bulk.order import NEVER, Arrival, Frontier, Partition
from silbo.streaming.bulk.routing import targets
from silbo.streaming.bulk.snapshots import pack, restored
from silbo.streaming.bulk.step import Settings, State, records_of, take_records
from silbo.streaming.spark.checkpoint import (
    JobSettings,
    is_migratable,
    refusal,
    settings_at,
    write_settings,
    write_through,
)
from silbo.streaming.topics import INPUTS
from silbo.wire.records import LAST, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIGRATED = "migrated"  # the folder in a checkpoint, next to Spark's own
OFFSETS = "offsets.json"

TopicOffsets: TypeAlias = Mapping[str, Mapping[str, int]]  # by topic and partition: where the next record begins


class StoredState(NamedTuple):
    """The state of a stopped job: the chunks and deltas of each shard, and the offsets that its sources had reached."""

    shards: Sequence[tuple[Sequence[bytes], Sequence[bytes]]]
    offsets: TopicOffsets


class Migrated(NamedTuple):
    """How much was migrated."""

    subscribers: int
    waiting: int  # records


def migrate(spark: SparkSession, old: Path, new: Path, settings: JobSettings) -> Migrated:
    """Make a new checkpoint with these settings that continues where the old one ended; the old one is not changed."""
    existing = settings_at(old)
    if existing is None:
        raise InvalidValue("--checkpoint", f"{old} is not a checkpoint of silbo.")
    if not is_migratable(existing, settings):
        raise refusal(old, existing, settings)
    if new.exists():
        raise InvalidValue("--migrate", f"{new} exists. Name a folder that does not exist.")
    stored = _stored_state(spark, old)
    before = step_settings(existing)
    restored_states = [restored(before, *each) for each in stored.shards]
    states = redistributed(restored_states or [State(before)], step_settings(settings))
    _write(new, settings, states, stored.offsets)
    return Migrated(sum(len(state.core.clients) for state in states), len(_waiting(states)))


def step_settings(settings: JobSettings) -> Settings:
    """The settings of the step, from those of a checkpoint."""
    partitions = tuple((topic, number) for topic in INPUTS for number in range(settings[topic]))
    lateness, idle = (
        None if settings.get(name) is None else round(settings[name] * 1_000_000) for name in ("lateness", "idle")
    )
    return Settings(settings["order"], lateness or 0, partitions, shards=settings["shards"], idle=idle)


# redistribution


def redistributed(states: Sequence[State], settings: Settings) -> list[State]:
    """The same subscribers and waiting records, in other shards."""
    frontier = _frontier(states, settings.partitions)
    parts = [_Part([], []) for _ in range(settings.shards)]
    for state in states:
        for record in records_of(state):
            for shard in targets(record, settings.shards):
                parts[shard].records.append(record)
    for each in _waiting(states):
        for shard in targets(each.record, settings.shards):
            parts[shard].waiting.append(each)
    return [_state(settings, frontier, part) for part in parts]


class _Part(NamedTuple):
    """The records for one shard."""

    records: list[Record]
    waiting: list[Arrival]


def _state(settings: Settings, frontier: Frontier, part: _Part) -> State:
    state = State(settings)
    take_records(state, part.records)
    state.frontier, state.waiting = frontier, part.waiting
    return state


def _waiting(states: Iterable[State]) -> list[Arrival]:
    """The records that wait for the frontier, each once: a publication waits in every shard."""
    return sorted(
        {(each.topic, each.partition, each.offset): each for state in states for each in state.waiting}.values()
    )


def _frontier(states: Sequence[State], partitions: Iterable[Partition]) -> Frontier:
    """The frontier, which is the same in all shards: each shard gets the marks of every partition, at every batch.

    It does not go back. A new partition starts at the frontier: an older record of it is late, because the records of
    that time have been matched; from then on the partition holds the frontier like the others.
    """
    frontier = states[0].frontier
    if any(state.frontier.marks != frontier.marks for state in states):
        raise InvalidValue("--checkpoint", "its shards have different frontiers: it is damaged.")
    time = frontier.time
    mark = time if time in (NEVER, LAST) else time + frontier.lateness
    frontier.raise_marks({partition: mark for partition in partitions if partition not in frontier.marks})
    return frontier


# reading


def _stored_state(spark: SparkSession, checkpoint: Path) -> StoredState:
    """The state as of the last committed batch."""
    commits = _committed(checkpoint)
    if commits:
        return _stored_by_spark(spark, checkpoint, max(commits))
    if (checkpoint / MIGRATED).exists():  # and no batch has followed yet
        existing = settings_at(checkpoint) or {}
        shards = [(list(chunks(checkpoint, shard)), ()) for shard in range(existing["shards"])]
        return StoredState(shards, offsets(checkpoint))
    raise InvalidValue(
        "--checkpoint", f"no batch was ever completed with {checkpoint}. Begin with a new checkpoint instead."
    )


def _stored_by_spark(spark: SparkSession, checkpoint: Path, batch: int) -> StoredState:
    snapshots, deltas = (_entries(spark, checkpoint, batch, name) for name in ("snapshot", "deltas"))
    shards = sorted(snapshots.keys() | deltas.keys())
    entries = [(snapshots.get(shard, ()), deltas.get(shard, ())) for shard in shards]
    return StoredState(entries, _read_to(checkpoint, batch))


def _entries(spark: SparkSession, checkpoint: Path, batch: int, name: str) -> dict[int, list[bytes]]:
    """The values of a map in Spark's state by shard, in the order of their numbers; each shard has its own reducer."""
    reader = spark.read.format("statestore").option("path", str(checkpoint.absolute()))
    frame = reader.option("batchId", batch).option("stateVarName", name).load()
    by_shard: dict[int, dict[int, bytes]] = {}
    columns = ("partition_id as shard", "user_map_key.number as number", "user_map_value.value as value")
    for row in frame.selectExpr(*columns).toLocalIterator():
        by_shard.setdefault(row.shard, {})[row.number] = bytes(row.value)
    return {shard: [entries[number] for number in sorted(entries)] for shard, entries in by_shard.items()}


def read_to(checkpoint: Path) -> TopicOffsets:
    """The offsets at which a job with this checkpoint continues to read; empty for a new or a damaged checkpoint."""
    commits = _committed(checkpoint)
    try:
        return _read_to(checkpoint, max(commits)) if commits else offsets(checkpoint)
    except (OSError, ValueError):  # Spark reports what is damaged
        return {}


def _committed(checkpoint: Path) -> list[int]:
    """The numbers of the batches that were completed and that Spark still remembers."""
    return [int(path.name) for path in (checkpoint / "commits").glob("*") if path.name.isdigit()]


def _read_to(checkpoint: Path, batch: int) -> TopicOffsets:
    """The offsets up to which a batch had read: Spark's file has two other lines, then one for each source."""
    lines = (checkpoint / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()[2:]
    offsets: dict[str, Mapping[str, int]] = {}
    for line in lines:
        source: Any = None if line == "-" else json.loads(line)
        if isinstance(source, dict):  # offsets of topics; other sources of a query are ignored
            offsets.update(source)
    return offsets


# a migrated state as files


def _write(new: Path, settings: JobSettings, states: Iterable[State], offsets: TopicOffsets) -> None:
    """Write a checkpoint, to a temporary folder first, so that a partial one is never taken for complete."""
    partial = new.with_name(f"{new.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for shard, state in enumerate(states):
        folder = _folder(partial, shard)
        folder.mkdir(parents=True)
        for number, chunk in enumerate(pack(state)):
            write_through(folder / f"{number:06}", chunk)
        _sync(folder)
    write_through(partial / MIGRATED / OFFSETS, json.dumps(offsets).encode())
    write_settings(partial, settings)
    for folder in (partial / MIGRATED, partial):
        _sync(folder)
    partial.rename(new)
    _sync(new.parent)


def _folder(checkpoint: Path, shard: int) -> Path:
    return checkpoint / MIGRATED / str(shard)


def _sync(folder: Path) -> None:
    """Sync the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def chunks(checkpoint: Path, shard: int) -> Iterator[bytes]:
    """The chunks that were migrated for a shard; none, if this checkpoint is not migrated."""
    return (path.read_bytes() for path in sorted(_folder(checkpoint, shard).glob("*")))


def offsets(checkpoint: Path) -> TopicOffsets:
    """The offsets at which the sources of a migrated state begin; empty, if this checkpoint is not migrated."""
    path = checkpoint / MIGRATED / OFFSETS
    read: TopicOffsets = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return read
