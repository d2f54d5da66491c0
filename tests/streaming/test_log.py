"""The local log: a failed write leaves only whole records, and later records can be read."""

import resource

import pytest

from silbo.streaming.local.log import LogWriter, Writer, create, read_all
from silbo.streaming.topics import CONTEXTS, SUBSCRIPTIONS
from silbo.wire.records import ContextRecord, SubscriptionRecord, encode


@pytest.fixture
def room():
    """A function that limits the size of files, to simulate a full disk. The limit ends with the test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (soft if size is None else size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_records_flushed_after_a_failed_write_can_be_read(tmp_path, room):
    create(tmp_path, "topic", 1)
    writer = Writer(tmp_path, "topic", 0)
    writer.append(b"first")
    writer.flush()
    room(50_000)
    writer.append(b"too long" * 10_000)
    with pytest.raises(OSError, match="File too large"):
        writer.flush()
    room(None)
    for value in (b"third", b"fourth"):
        writer.append(value)
        writer.flush()
    assert list(read_all(tmp_path, "topic", 0)) == [b"first", b"third", b"fourth"]
    writer.append(b"fifth")
    writer.close()
    Writer(tmp_path, "topic", 0).close()
    assert list(read_all(tmp_path, "topic", 0)) == [b"first", b"third", b"fourth", b"fifth"]


def test_a_close_writes_every_partition_although_one_fails_and_closes_again_in_peace(tmp_path, room):
    writer = LogWriter(tmp_path, 1)
    large, small = (
        ContextRecord(1, "u", {"x": "long" * 15_000}),
        SubscriptionRecord(1, "u", "car", "s", "true", None, ()),
    )
    writer.send(CONTEXTS, "u", large)
    writer.send(SUBSCRIPTIONS, "u/s", small)
    room(50_000)
    with pytest.raises(OSError, match="File too large"):
        writer.close()
    room(None)
    writer.close()
    assert list(read_all(tmp_path, SUBSCRIPTIONS, 0)) == [encode(small)]
    assert list(read_all(tmp_path, CONTEXTS, 0)) == []
