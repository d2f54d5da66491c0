"""Hostile records and addresses: each is rejected or handled, and none ends the job."""

import logging

import pytest

import silbo
from silbo.streaming.bulk.order import NEVER, Frontier
from silbo.streaming.bulk.routing import REASON, Router
from silbo.streaming.kafka.client import KafkaWriter, checked_address
from silbo.streaming.kafka.worker import warn_if_slow
from silbo.streaming.topics import CONTEXTS, LARGEST
from silbo.wire.records import ContextRecord
from silbo.wire.values import packed

LONG = "\0" * 1_200_000


@pytest.mark.parametrize(
    "record",
    [
        [1, LONG, 5],
        [1, "context", 5, "u", {LONG: 1}],
        [1, "publish", 5, "p", "p", 1, {LONG: 1}, {}, {}, None, None],
        [1, "publish", 5, "p", "p", LONG, {}, {}, {}, None, None],
        [1, "subscribe", 5, "u", "car", "s", LONG, None, []],
    ],
)
def test_the_reason_of_a_rejected_record_is_short(record):
    ((_, chunk),) = Router(1).chunks(CONTEXTS, 0, [(0, packed(record))])
    ((_, reason, _),) = chunk.refused
    assert 0 < len(reason) <= REASON + 1


def test_the_earliest_time_with_a_lateness_gives_a_frontier_that_fits_64_bits():
    frontier = Frontier(1_000_000, [("t", 0)])
    frontier.raise_marks({("t", 0): -(2**63 - 1)})
    assert frontier.time == NEVER
    assert not frontier.is_late(("t", 0), -(2**63 - 1), NEVER)


def test_a_record_that_is_too_large_for_a_topic_is_refused_by_the_sender():
    writer = KafkaWriter.__new__(KafkaWriter)  # no Kafka is needed: the record is refused before it is sent
    writer._counts, writer._prefix = {CONTEXTS: 1}, "silbo"
    values = {f"v{i}": ("s" * 65_000,) * 3 for i in range(LARGEST // 195_000 + 1)}
    with pytest.raises(silbo.InvalidValue, match=r"are allowed\. Send less"):
        writer.send(CONTEXTS, "u", ContextRecord(1, "u", values))


def test_a_late_acknowledgement_of_kafka_is_logged(caplog):
    sent = [ContextRecord(1_000_000, "u", {})]
    with caplog.at_level(logging.WARNING, "silbo"):
        warn_if_slow(sent, 1_900_000)
        assert not caplog.records
        warn_if_slow(sent, 28_000_000)
    assert "Kafka took 27.0 s to acknowledge a record" in caplog.text


@pytest.mark.parametrize("address", ["a:b", "a:99999", "a b:1", "", ":9092"])
def test_an_invalid_address_is_refused_with_the_right_form(address):
    with pytest.raises(silbo.InvalidValue, match="Write HOST:PORT"):
        checked_address(address)


@pytest.mark.parametrize("address", ["localhost", "localhost:9092", "a:1,b:2", "[::1]:9092"])
def test_addresses_of_kafka_are_accepted(address):
    assert checked_address(address) == address


def test_a_reason_given_by_kafka_ends_with_one_full_stop():
    assert ": Timeout after 60.0 secs. See" in str(silbo.NotAcknowledged("Timeout after 60.0 secs.."))
