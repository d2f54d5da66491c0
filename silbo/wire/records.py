"""Records: the entries of Kafka's topics and of the local log, in msgpack. Readers and writers share the schema.

A record is a list: version, kind, time in microseconds, then the fields of the kind in the order of its class. Sets
and geometries are extension types (`silbo.wire.values`). Decoded values are checked again, because a topic may hold
anything. Within the job, many checked records travel in one msgpack, as their fields. One record is created per
message, so the classes are plain and not frozen; no code changes a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeAlias

from silbo.errors import InvalidRecord, SilboError
from silbo.model.values import (
    Attributes,
    Context,
    check_message_size,
    checked_attributes,
    checked_context,
    checked_name,
    checked_names,
    checked_payload,
)
from silbo.wire.fields import checked_count, checked_expression, optional_expression
from silbo.wire.values import packed, unpacked

VERSION = 1
SHOWN = 65_536  # bytes of a rejected record that are kept, so that it fits a topic together with its reason
LAST = 2**63 - 1  # the time of the last tick: no record follows it


@dataclass(slots=True)
class SubscriptionRecord:
    """A subscription; a later one with the same subscriber and id replaces it."""

    time: int
    subscriber: str  # UUID
    name: str
    id: str
    filter: str
    context: str | None
    include: tuple[str, ...]


@dataclass(slots=True)
class UnsubscriptionRecord:
    """The end of a subscription."""

    time: int
    subscriber: str
    id: str


@dataclass(slots=True)
class ContextRecord:
    """A subscriber's whole context; an empty one removes it."""

    time: int
    subscriber: str
    values: Context


@dataclass(slots=True)
class PublicationRecord:
    """A message that its session accepted.

    `context` holds the offered variables of the publisher's context. `for_scope` holds variables that are not offered,
    sent because the scope reads them.
    """

    time: int
    publisher: str  # UUID
    name: str
    sequence: int
    attributes: Attributes
    context: Context
    for_scope: Context
    scope: str | None
    payload: bytes | None


@dataclass(slots=True)
class TickRecord:
    """The current time: apart from the lateness, no older record follows in this partition."""

    time: int


@dataclass(slots=True)
class NotificationRecord:
    """A notification. A batch that is matched again gives the same bytes."""

    time: int
    publisher_uuid: str
    publisher: str
    sequence: int
    subscriber_uuid: str
    subscriber: str
    subscription: str
    attributes: Attributes
    context: Context
    payload: bytes | None


@dataclass(slots=True)
class RejectionRecord:
    """A rejected record: its place, the reason, and at most `SHOWN` of its bytes."""

    time: int
    topic: str
    partition: int
    offset: int
    reason: str
    value: bytes


Record: TypeAlias = (
    SubscriptionRecord
    | UnsubscriptionRecord
    | ContextRecord
    | PublicationRecord
    | TickRecord
    | NotificationRecord
    | RejectionRecord
)

KINDS: Mapping[type[Any], str] = {
    SubscriptionRecord: "subscribe",
    UnsubscriptionRecord: "unsubscribe",
    ContextRecord: "context",
    PublicationRecord: "publish",
    TickRecord: "tick",
    NotificationRecord: "notify",
    RejectionRecord: "reject",
}


CLASSES: Mapping[str, Callable[..., Record]] = {name: kind for kind, name in KINDS.items()}
FIELDS: Mapping[type, Callable[[Any], tuple[Any, ...]]] = {
    kind: attrgetter(*kind.__match_args__)
    for kind in KINDS
    if kind is not TickRecord  # attrgetter of a single name returns no tuple
}


def encode(record: Record) -> bytes:
    """The bytes of a record."""
    return packed([VERSION, *fields_of(record)])


# An encoded notification is a beginning, a recipient and an end. Notifications of one publication share the first, and
# those that show the same context share the last. The elements of an array in msgpack follow its header, which is one
# byte for at most 15 elements.


def notification_beginning(time: int, publisher_uuid: str, publisher: str, sequence: int) -> bytes:
    """The beginning of encoded notifications: the header of the whole array, version, kind, time and publication."""
    fields = (VERSION, KINDS[NotificationRecord], time, publisher_uuid, publisher, sequence)
    elements = 2 + len(NotificationRecord.__match_args__)
    return bytes([0x90 + elements]) + packed(fields)[1:]


def notification_recipient(subscriber_uuid: str, subscriber: str, subscription: str) -> bytes:
    """The recipient in an encoded notification."""
    return packed((subscriber_uuid, subscriber, subscription))[1:]


def notification_end(attributes: Attributes, context: Context, payload: bytes | None) -> bytes:
    """The end of encoded notifications: the message, and the context that they show."""
    return packed((attributes, context, payload))[1:]


def fields_of(record: Record) -> tuple[Any, ...]:
    """The kind and the fields of a record."""
    if isinstance(record, TickRecord):
        return "tick", record.time
    return KINDS[type(record)], *FIELDS[type(record)](record)


def record_of(fields: Sequence[Any]) -> Record:
    """The record with this kind and these fields, which are not checked."""
    return CLASSES[fields[0]](*fields[1:])


def decode(data: bytes) -> Record:
    """Decode and check a record; raises `InvalidRecord` with the reason."""
    version, kind, time, fields = parts(data)
    if version > VERSION:
        raise InvalidRecord(f"version {version} is newer than {VERSION}, which this silbo reads. Update silbo.")
    if version < VERSION:
        raise InvalidRecord(f"there is no version {version}.")
    reader = READERS.get(kind)
    if reader is None:
        raise InvalidRecord(f"unknown kind {kind!r}; expected one of: {', '.join(READERS)}.")
    if time == LAST and kind != "tick":
        raise InvalidRecord("only a tick may have the last of all times.")
    try:
        return reader(time, *fields)
    except (TypeError, ValueError) as error:
        if isinstance(error, SilboError):
            raise InvalidRecord(error.line) from None
        raise InvalidRecord(f"these {len(fields)} fields are not those of a record of kind {kind!r}.") from None


def parts(data: bytes) -> tuple[int, str, int, Sequence[Any]]:
    """The version, the kind, the time and the other fields of a record; the fields are not checked."""
    try:
        whole = unpacked(data)
    except Exception as error:  # noqa: BLE001  # for arbitrary bytes msgpack and shapely raise many kinds of errors
        raise InvalidRecord(f"this is not a msgpack record of silbo: {error}") from None
    match whole:
        case [int(version), str(kind), int(time), *fields] if type(version) is int and type(time) is int:
            if not -LAST <= time <= LAST:
                raise InvalidRecord(f"the time {time} is outside 63 bits.")
            return version, kind, time, fields
        case _:
            raise InvalidRecord("a record is a list of version, kind, time and fields.")


def _subscription(time: int, subscriber: Any, name: Any, id: Any, filter: Any, context: Any, include: Any) -> Record:
    names = checked_name(subscriber, "subscriber"), checked_name(name, "name"), checked_name(id, "id")
    texts = checked_expression(filter, "filter"), optional_expression(context, "context")
    return SubscriptionRecord(time, *names, *texts, checked_names(include, "include"))


def _unsubscription(time: int, subscriber: Any, id: Any) -> Record:
    return UnsubscriptionRecord(time, checked_name(subscriber, "subscriber"), checked_name(id, "id"))


def _context(time: int, subscriber: Any, values: Any) -> Record:
    return ContextRecord(time, checked_name(subscriber, "subscriber"), checked_context(values, "values"))


def _publication(
    time: int, publisher: Any, name: Any, sequence: Any, attributes: Any, context: Any, for_scope: Any, scope: Any,
    payload: Any,
) -> Record:  # fmt: skip
    message, body = checked_attributes(attributes), checked_payload(payload)
    check_message_size(message, body)
    text = optional_expression(scope, "scope")
    names = checked_name(publisher, "publisher"), checked_name(name, "name")
    return PublicationRecord(
        time, *names, checked_count(sequence, "sequence"), message, checked_context(context),
        checked_context(for_scope, "for_scope"), text, body,
    )  # fmt: skip


def _notification(time: int, *fields: Any) -> Record:
    uuid, publisher, sequence, subscriber_uuid, subscriber, id, attributes, context, payload = fields
    return NotificationRecord(
        time, uuid, publisher, checked_count(sequence, "sequence"), subscriber_uuid, subscriber, id,
        checked_attributes(attributes), checked_context(context), checked_payload(payload),
    )  # fmt: skip


READERS: Mapping[str, Callable[..., Record]] = {
    "subscribe": _subscription,
    "unsubscribe": _unsubscription,
    "context": _context,
    "publish": _publication,
    "tick": TickRecord,
    "notify": _notification,
    "reject": RejectionRecord,
}
