"""Kafka's topics: made, filled, counted and read. The job and the sessions over Kafka stand on this.

Topics are named by their role and a prefix, `silbo` unless told otherwise; a key decides the partition, so that
what concerns one session keeps its order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from silbo.errors import InvalidValue, MissingPart, NotAcknowledged
from silbo.streaming.log import partition_of
from silbo.streaming.records import LAST, Record, Tick, encode
from silbo.streaming.topics import COMPACTED, INPUTS, NOTIFICATIONS, REJECTED

if TYPE_CHECKING:
    from kafka import KafkaConsumer, KafkaProducer

PREFIX = "silbo"
ACKNOWLEDGED = 60.0  # seconds to wait for Kafka's word
ANSWER = 30.0  # seconds to wait for the first one
GRACE = 1.0  # seconds that a producer takes to give up, besides
LARGEST = 2**22  # bytes of a record: a message of 1 MiB, its context, and what a notification adds
SEGMENT = 86_400.0  # seconds
UNCONFIRMED = 10_000  # records on their way before somebody looks whether they arrived


def named(role: str, prefix: str = PREFIX) -> str:
    """The topic of a role."""
    return prefix + role.removeprefix(PREFIX)


def located(url: str) -> tuple[str, str]:
    """Address and prefix of `kafka://HOST:PORT/PREFIX`."""
    address, _, prefix = url.removeprefix("kafka://").partition("/")
    return address, checked_prefix(prefix or PREFIX)


def checked_prefix(prefix: str) -> str:
    """A prefix whose topics may exist, or `InvalidValue`."""
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
    try:
        return getattr(kafka, kind)(bootstrap_servers=address, bootstrap_timeout_ms=ANSWER * 1_000, **options)
    except kafka.errors.KafkaError as error:
        raise InvalidValue("kafka", f"nobody answers at {address} ({error}). See that Kafka runs there.") from None


def producer(address: str, seconds: float = ACKNOWLEDGED) -> KafkaProducer:
    """A producer whose records are acknowledged by every replica, each once, or given up after some seconds."""
    most = round(seconds * 1_000)
    return _client(
        "KafkaProducer", address, acks="all", max_request_size=LARGEST,
        delivery_timeout_ms=most, request_timeout_ms=most, max_block_ms=most,
    )  # fmt: skip


def consumer(address: str) -> KafkaConsumer:
    """A consumer that belongs to no group."""
    return _client("KafkaConsumer", address, enable_auto_commit=False)


def create_topics(address: str, partitions: int = 3, prefix: str = PREFIX, retention: float = 7 * 86_400.0) -> None:
    """Make the topics that are not there. What is compacted keeps its past as long as publications are kept."""
    from kafka.admin import NewTopic

    checked_prefix(prefix)
    kept = str(round(retention * 1_000))
    # publications go by whole segments: the last may live a segment longer than the others
    later = str(round((retention + SEGMENT) * 1_000))
    sized = {"max.message.bytes": str(LARGEST), "segment.ms": str(round(SEGMENT * 1_000))}
    compacted = {**sized, "cleanup.policy": "compact", "min.compaction.lag.ms": later}
    dated = {**sized, "cleanup.policy": "delete", "retention.ms": kept}
    admin = _client("KafkaAdminClient", address)
    try:
        there = set(admin.list_topics())
        wanted = [role for role in (*INPUTS, NOTIFICATIONS, REJECTED) if named(role, prefix) not in there]
        made = [
            NewTopic(named(role, prefix), partitions, 1, topic_configs=compacted if role in COMPACTED else dated)
            for role in wanted
        ]
        if made:
            admin.create_topics(made, wait_for_metadata=True)
    finally:
        admin.close()


def partition_counts(address: str, prefix: str = PREFIX) -> Mapping[str, int]:
    """How many partitions each input has, by role."""
    checked_prefix(prefix)
    asked = consumer(address)
    try:
        counts = {role: len(asked.partitions_for_topic(named(role, prefix)) or ()) for role in INPUTS}
    finally:
        asked.close()
    for role, count in counts.items():
        if not count:
            raise InvalidValue("kafka", f"{address} has no topic {named(role, prefix)}. Make them: --create-topics.")
    return counts


def delete_topics(address: str, prefix: str) -> None:
    """Take the topics of a prefix away, with all that is in them."""
    admin = _client("KafkaAdminClient", address)
    try:
        admin.delete_topics([named(role, prefix) for role in (*INPUTS, NOTIFICATIONS, REJECTED)])
    finally:
        admin.close()


class KafkaWriter:
    """Sends records to the partition of their key, as `Sender` wants it."""

    def __init__(self, address: str, prefix: str = PREFIX, seconds: float = ACKNOWLEDGED) -> None:
        self._counts = partition_counts(address, prefix)
        self._prefix = prefix
        self._seconds = seconds  # to wait for Kafka's word
        self._producer = producer(address, seconds)
        self._sent: list[Any] = []  # futures of what is not acknowledged yet, as far as we know

    def send(self, role: str, key: str, record: Record) -> None:
        """Send a record; `flush` tells whether it arrived."""
        # a subscription's key names its subscriber first: what is one session's stands in one partition
        self._send(role, key, record, partition_of(key.partition("/")[0], self._counts[role]))

    def _send(self, role: str, key: str, record: Record, partition: int) -> None:
        topic = named(role, self._prefix)
        try:
            self._sent.append(self._producer.send(topic, encode(record), key.encode(), partition=partition))
        except _kafka().errors.KafkaError as error:
            raise NotAcknowledged(str(error)) from None
        if len(self._sent) >= UNCONFIRMED:
            self.flush()

    def tick(self, time: int) -> None:
        """Say in every partition that nothing before this time will come, the lateness apart."""
        for role, count in self._counts.items():
            for number in range(count):
                self._send(role, "tick", Tick(time), number)
        self.flush()

    def drain(self) -> None:
        """Say in every partition that nothing more will come."""
        self.tick(LAST)

    def flush(self) -> None:
        """Wait until all is acknowledged; `NotAcknowledged` if something is not."""
        sent, self._sent = self._sent, []
        for future in sent:
            try:
                future.get(timeout=self._seconds + GRACE)
            except _kafka().errors.KafkaError as error:
                raise NotAcknowledged(str(error)) from None

    def close(self) -> None:
        """Wait until all is acknowledged, and end."""
        self.flush()
        self._producer.close()


def values(address: str, role: str, prefix: str = PREFIX) -> Iterator[bytes]:
    """The records of a topic, from its beginning to where it ends now."""
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
