"""A local append-only log, used in place of Kafka: a folder with a file for each partition of each topic.

A record is its length in four bytes, then its bytes. Its offset is its position in the file, so a reader needs no
index. Only whole records count; the next writer cuts off a record that a writer left unfinished.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from zlib import crc32

from silbo.errors import InvalidValue
from silbo.streaming.topics import INPUTS
from silbo.wire.records import Record, encode

LENGTH = 4  # bytes
BLOCK = 2**20  # bytes read at once
MOST = 2**24  # bytes of a record; a larger length means a damaged file


def partition_file(folder: Path, topic: str, partition: int) -> Path:
    """The file of a partition."""
    return folder / topic / f"{partition:05}.log"


def partition_of(key: str, partitions: int) -> int:
    """The partition of a key."""
    return crc32(key.encode()) % partitions


def partitions_of(folder: Path, topic: str) -> int:
    """The number of partitions of a topic."""
    return len(list((folder / topic).glob("*.log")))


def create(folder: Path, topic: str, partitions: int) -> None:
    """Create the missing partitions of a topic."""
    (folder / topic).mkdir(parents=True, exist_ok=True)
    for number in range(partitions):
        partition_file(folder, topic, number).touch()


class Writer:
    """Appends to one partition."""

    def __init__(self, folder: Path, topic: str, partition: int, since: int = 0) -> None:
        path = partition_file(folder, topic, partition)
        self._end = end_of(path, since)  # the end of the last whole record on file
        self._is_torn = False  # whether a part of a record may follow it
        self._buffer = bytearray()
        self._file = path.open("r+b", buffering=0)
        self._cut()

    def append(self, value: bytes) -> None:
        """Write one record; it is on file, and safe from the death of this process, when `flush` returns."""
        if not 0 < len(value) <= MOST:
            raise InvalidValue("record", f"a record has 1 to {MOST:,} bytes, not {len(value):,}.")
        self._buffer += len(value).to_bytes(LENGTH, "big") + value
        if len(self._buffer) >= BLOCK:
            self.flush()

    def flush(self) -> None:
        """Write the buffered records to the file.

        If that fails (the disk is full), nothing that was still buffered is on file, and the next records follow the
        last whole one.
        """
        if self._is_torn:
            self._cut()
        left, self._buffer = memoryview(self._buffer), bytearray()
        length = len(left)
        self._is_torn = length > 0
        try:
            while left:
                left = left[self._file.write(left) :]
        except BaseException:
            self._cut()
            raise
        self._is_torn = False
        self._end += length

    def _cut(self) -> None:
        """Cut the file back to its last whole record."""
        self._file.truncate(self._end)
        self._file.seek(self._end)
        self._is_torn = False

    def close(self) -> int:
        """Write everything through to the disk; return where the partition ends now."""
        if not self._file.closed:
            try:
                self.flush()
                os.fsync(self._file.fileno())
            finally:
                self._file.close()
        return self._end


class LogWriter:
    """Writes records to a log's partitions; its `send` is what `Sender` calls."""

    def __init__(self, folder: Path, partitions: int) -> None:
        self._partitions = partitions
        for topic in INPUTS:
            create(folder, topic, partitions)
        self._writers = {
            (topic, number): Writer(folder, topic, number) for topic in INPUTS for number in range(partitions)
        }

    def send(self, topic: str, key: str, record: Record) -> None:
        """Append a record to the partition of its key."""
        self._writers[topic, partition_of(key, self._partitions)].append(encode(record))

    def flush(self) -> None:
        """Let readers see everything that was sent."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Write everything through to the disk: every partition, also if one fails. A second call does nothing."""
        with ExitStack() as closing:
            for writer in self._writers.values():
                closing.callback(writer.close)


def append(folder: Path, topic: str, partition: int, records: Iterable[bytes], since: int = 0) -> int:
    """Append records to a partition that is whole up to `since`, sync it to the disk, and return its new end."""
    writer = Writer(folder, topic, partition, since)
    for record in records:
        writer.append(record)
    return writer.close()


def end_of(path: Path, start: int = 0, most: int | None = None) -> int:
    """The end of the last whole record after `start`, or of the last of `most` records."""
    size = path.stat().st_size
    if start > size:
        raise InvalidValue(
            "log", f"{path} was {start:,} bytes long and has {size:,} now. It is another log, or damaged."
        )
    end = start
    for offset, value in islice(read(path, start, size), most):
        end = offset + LENGTH + len(value)
    return end


def read(path: Path, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the whole records between two offsets. It reads large blocks: a read for each record would be slower."""
    with path.open("rb") as file:
        file.seek(start)
        block = b""
        while more := file.read(min(BLOCK, end - start - len(block))):
            block += more
            used = 0
            while length := int.from_bytes(block[used : used + LENGTH], "big"):
                if length > MOST and len(block) >= used + LENGTH:
                    raise InvalidValue(
                        "log", f"{path}: no record begins at {start + used}. The file is damaged, or no log of silbo."
                    )
                after = used + LENGTH + length
                if after > len(block):
                    break
                yield start + used, block[used + LENGTH : after]
                used = after
            else:
                if len(block) >= used + LENGTH:  # no record is empty; a power cut may leave zeros at the end of a file
                    return
            start, block = start + used, block[used:]


def read_all(folder: Path, topic: str, partition: int) -> Iterator[bytes]:
    """Every record of a partition, if there is one."""
    path = partition_file(folder, topic, partition)
    if path.exists():
        yield from (value for _, value in read(path, 0, end_of(path)))
