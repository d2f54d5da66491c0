"""A local append-only log: a folder with a file for each partition of each topic. What Kafka is, without Kafka.

A record is its length in four bytes, then its bytes. Its offset is where it begins in the file, so whoever tails
the log needs no index. A record counts once it is there whole; a writer that died in the middle of one leaves an
end that the next writer cuts off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from zlib import crc32

from silbo.errors import InvalidValue

LENGTH = 4  # bytes
BLOCK = 2**20  # bytes read at once
MOST = 2**24  # bytes of a record: whatever says more is no record


def partition_file(folder: Path, topic: str, partition: int) -> Path:
    """The file of a partition."""
    return folder / topic / f"{partition:05}.log"


def partition_of(key: str, partitions: int) -> int:
    """The partition of a key."""
    return crc32(key.encode()) % partitions


def partitions_of(folder: Path, topic: str) -> int:
    """How many partitions a topic has."""
    return len(list((folder / topic).glob("*.log")))


def create(folder: Path, topic: str, partitions: int) -> None:
    """Make a topic's partitions, if they are not there."""
    (folder / topic).mkdir(parents=True, exist_ok=True)
    for number in range(partitions):
        partition_file(folder, topic, number).touch()


class Writer:
    """Appends to one partition."""

    def __init__(self, folder: Path, topic: str, partition: int, since: int = 0) -> None:
        path = partition_file(folder, topic, partition)
        whole = end_of(path, since)
        self._file = path.open("r+b")
        self._file.truncate(whole)
        self._file.seek(whole)

    def append(self, value: bytes) -> None:
        """Write one record; it is on file, and safe from the death of this process, when `flush` returns."""
        if not 0 < len(value) <= MOST:
            raise InvalidValue("record", f"a record has 1 to {MOST:,} bytes, not {len(value):,}.")
        self._file.write(len(value).to_bytes(LENGTH, "big") + value)

    def flush(self) -> None:
        """Hand what was written to the system."""
        self._file.flush()

    def close(self) -> int:
        """Write it through to the disk; where the partition ends now."""
        self._file.flush()
        os.fsync(self._file.fileno())
        end = self._file.tell()
        self._file.close()
        return end


def end_of(path: Path, start: int = 0, most: int | None = None) -> int:
    """Where the last whole record from `start` on ends, or the last of so many."""
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
    """The whole records from one offset to another. They are cut from large blocks: a call for each costs more."""
    with path.open("rb") as file:
        file.seek(start)
        block = b""
        while more := file.read(min(BLOCK, end - start - len(block))):
            block += more
            used = 0
            while length := int.from_bytes(block[used : used + LENGTH], "big"):
                if length > MOST and len(block) >= used + LENGTH:
                    raise InvalidValue(
                        "log", f"{path}: no record begins at {start + used}. The file is damaged, or none of silbo's."
                    )
                behind = used + LENGTH + length
                if behind > len(block):
                    break
                yield start + used, block[used + LENGTH : behind]
                used = behind
            else:
                if len(block) >= used + LENGTH:  # no record is empty: zeros are what a power cut leaves behind
                    return
            start, block = start + used, block[used:]


def read_all(folder: Path, topic: str, partition: int) -> Iterator[bytes]:
    """Every record of a partition, if there is one."""
    path = partition_file(folder, topic, partition)
    if path.exists():
        yield from (value for _, value in read(path, 0, end_of(path)))
