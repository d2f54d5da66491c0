"""Kafka's topics: create, fill, count and read them. The job and the sessions over Kafka use this.

A topic is named by a prefix (`silbo` by default) and its role. The key of a record decides its partition, so that the
records of one session keep their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from silbo.errors import InvalidValue, MissingPart, NotAcknowledged, NotReachable
from silbo.streaming.local.log import partition_of
from silbo.streaming.topics import COMPACTED, INPUTS, LARGEST, LARGEST_VALUE, NOTIFICATIONS, REJECTED
from silbo.wire.records import LAST, Record, TickRecord, encode

if TYPE_CHECKING:
    from kafka import KafkaConsumer, KafkaProducer

PREFIX = "silbo"
ACKNOWLEDGED = 60.0  # seconds to wait for an acknowledgement
ANSWER = 30.0  # seconds to wait for the first answer of an address
MOST_PORT = 65_535
BACKOFF = 2_000  # milliseconds between two attempts to connect again, at most; after an outage this delays everything
GRACE = 1.0  # extra seconds that a producer takes to give up
SEGMENT = 86_400.0  # seconds of a topic in one segment
UNCONFIRMED = 10_000  # records that may be on their way before the writer waits for their acknowledgement


def named(role: str, prefix: str = PREFIX) -> str:
    """The name of the topic of a role."""
    return prefix + role.removeprefix(PREFIX)


def located(url: str) -> tuple[str, str]:
    """The address and the prefix in `HOST:PORT/PREFIX`, which `kafka://` may precede."""
    address, _, prefix = url.removeprefix("kafka://").partition("/")
    return checked_address(address), checked_prefix(prefix or PREFIX)


def checked_address(address: str) -> str:
    """Check HOST:PORT, or several of them separated by commas; raises `InvalidValue`."""
    for each in address.split(","):
        address_parts = re.fullmatch(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+)(?::(\d{1,5}))?", each.strip())
        if address_parts is None or int(address_parts[1] or 0) > MOST_PORT:
            raise InvalidValue("kafka", f"{address!r} is not an address. Write HOST:PORT, such as localhost:9092.")
    return address


def checked_prefix(prefix: str) -> str:
    """Check a prefix of topic names; raises `InvalidValue`."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,200}", prefix):
        raise InvalidValue("prefix", f"{prefix!r} has characters besides letters, digits, '.', '_' and '-'.")
    return prefix


def _kafka() -> Any:
    try:
        import kafka
    except ImportError:
        raise MissingPart("kafka-python", extra="kafka") from None
    return kafka


def _client(kind: str, address: str, **options: Any) -> Any:
    kafka = _kafka()
    checked_address(address)
    try:
        return getattr(kafka, kind)(bootstrap_servers=address, bootstrap_timeout_ms=ANSWER * 1_000, **options)
    except kafka.errors.KafkaError as error:
        raise NotReachable(address, str(error)) from None


def producer(address: str, seconds: float = ACKNOWLEDGED) -> KafkaProducer:
    """A producer whose records every replica acknowledges, each once; it gives up after `seconds`."""
    most = round(seconds * 1_000)
    return _client(
        "KafkaProducer", address, acks="all", max_request_size=LARGEST,
        delivery_timeout_ms=most, request_timeout_ms=most, max_block_ms=most, reconnect_backoff_max_ms=BACKOFF,
    )  # fmt: skip


def consumer(address: str) -> KafkaConsumer:
    """A consumer that belongs to no group."""
    return _client("KafkaConsumer", address, enable_auto_commit=False, reconnect_backoff_max_ms=BACKOFF)


def create_topics(address: str, partitions: int = 3, prefix: str = PREFIX, retention: float = 7 * 86_400.0) -> None:
    """Create the missing topics.

    `retention` is the number of seconds that publications, and the history of compacted topics, are kept.
    """
    _kafka()
    from kafka.admin import NewTopic

    checked_prefix(prefix)
    milliseconds = str(round(retention * 1_000))
    # Kafka deletes publications by whole segments, so the last may live a segment longer than the others
    later = str(round((retention + SEGMENT) * 1_000))
    sized = {"max.message.bytes": str(LARGEST), "segment.ms": str(round(SEGMENT * 1_000))}
    compacted = {**sized, "cleanup.policy": "compact", "min.compaction.lag.ms": later}
    dated = {**sized, "cleanup.policy": "delete", "retention.ms": milliseconds}
    admin = _client("KafkaAdminClient", address)
    try:
        existing = set(admin.list_topics())
        wanted = [role for role in (*INPUTS, NOTIFICATIONS, REJECTED) if named(role, prefix) not in existing]
        topics = [
            NewTopic(named(role, prefix), partitions, 1, topic_configs=compacted if role in COMPACTED else dated)
            for role in wanted
        ]
        if topics:
            admin.create_topics(topics, wait_for_metadata=True)
    finally:
        admin.close()


def partition_counts(address: str, prefix: str = PREFIX) -> Mapping[str, int]:
    """The number of partitions of each input topic, by role."""
    checked_prefix(prefix)
    reader = consumer(address)
    try:
        counts = {role: len(reader.partitions_for_topic(named(role, prefix)) or ()) for role in INPUTS}
    finally:
        reader.close()
    for role, count in counts.items():
        if not count:
            raise missing_topic(address, role, prefix)
    return counts


def bounds(address: str, topic: str) -> Mapping[int, tuple[int, int]]:
    """The offsets of the first record of each partition that Kafka still has, and of the next one to come."""
    from kafka import TopicPartition

    reader = consumer(address)
    try:
        partitions = [TopicPartition(topic, number) for number in reader.partitions_for_topic(topic) or ()]
        begins, ends = reader.beginning_offsets(partitions), reader.end_offsets(partitions)
        return {each.partition: (begins[each], ends[each]) for each in partitions}
    finally:
        reader.close()


def missing_topic(address: str, role: str, prefix: str) -> InvalidValue:
    """The error for a missing topic, with the command that creates it."""
    more = "" if prefix == PREFIX else f" --prefix {prefix}"
    command = f"silbo stream --kafka {address}{more} --create-topics --order arrival --checkpoint DIR"
    return InvalidValue("kafka", f"{address} has no topic {named(role, prefix)}. The job creates it: {command}")


def delete_topics(address: str, prefix: str) -> None:
    """Delete the topics of a prefix, with their contents."""
    admin = _client("KafkaAdminClient", address)
    try:
        admin.delete_topics([named(role, prefix) for role in (*INPUTS, NOTIFICATIONS, REJECTED)])
    finally:
        admin.close()


class KafkaWriter:
    """Sends records to the partition of their key; its `send` is what `Sender` calls."""

    def __init__(self, address: str, prefix: str = PREFIX, seconds: float = ACKNOWLEDGED) -> None:
        self._counts = partition_counts(address, prefix)
        self._prefix = prefix
        self._seconds = seconds  # to wait for an acknowledgement
        self._producer = producer(address, seconds)
        self._sent: list[Any] = []  # futures of the records that are not known to be acknowledged

    def send(self, role: str, key: str, record: Record, seconds: float | None = None) -> None:
        """Send a record; `flush` waits for its acknowledgement. A Kafka that is away is given `seconds` to answer."""
        # a subscription's key begins with its subscriber: all records of a session are in one partition of a topic
        self._send(role, key, record, partition_of(key.partition("/")[0], self._counts[role]), seconds)

    def _send(self, role: str, key: str, record: Record, partition: int, seconds: float | None = None) -> None:
        topic, value = named(role, self._prefix), encode(record)
        if len(value) > LARGEST_VALUE:
            raise InvalidValue(
                "record", f"the record has {len(value):,} bytes; at most {LARGEST_VALUE:,} are allowed. Send less."
            )
        self._producer.config["max_block_ms"] = round((self._seconds if seconds is None else seconds) * 1_000)
        try:
            self._sent.append(self._producer.send(topic, value, key.encode(), partition=partition))
        except _kafka().errors.KafkaError as error:
            raise NotAcknowledged(str(error)) from None
        if len(self._sent) >= UNCONFIRMED:
            self.flush()

    def tick(self, time: int) -> None:
        """Send a tick with this time to every partition."""
        for role, count in self._counts.items():
            for number in range(count):
                self._send(role, "tick", TickRecord(time), number)
        self.flush()

    def drain(self) -> None:
        """Send to every partition the tick that says that no record follows."""
        self.tick(LAST)

    def flush(self, seconds: float | None = None) -> None:
        """Wait until all records are acknowledged, up to `seconds` for each; raises `NotAcknowledged` if one is not."""
        sent, self._sent = self._sent, []
        for future in sent:
            try:
                future.get(timeout=self._seconds + GRACE if seconds is None else seconds)
            except _kafka().errors.KafkaError as error:
                raise NotAcknowledged(str(error)) from None

    def close(self) -> None:
        """Wait until all records are acknowledged, and close the producer."""
        self.flush()
        self._producer.close()

    def abandon(self) -> None:
        """Close the producer at once, without waiting for records on their way; after `close` this does nothing."""
        self._producer.close(timeout=0)


def values(address: str, role: str, prefix: str = PREFIX) -> Iterator[bytes]:
    """The records of a topic, from its beginning to its present end."""
    from kafka import TopicPartition

    reader = consumer(address)
    try:
        topic = named(role, prefix)
        all_of_it = [TopicPartition(topic, number) for number in reader.partitions_for_topic(topic) or ()]
        reader.assign(all_of_it)
        reader.seek_to_beginning(*all_of_it)
        ends = reader.end_offsets(all_of_it)
        while any(reader.position(each) < ends[each] for each in all_of_it):
            for records in reader.poll(timeout_ms=500).values():
                yield from (record.value for record in records)
    finally:
        reader.close()
