"""Records: what stands in the topics and in the local log, as versioned msgpack. One schema for all who read or write.

A record is a list: version, kind, time in microseconds, then the kind's own fields. Sets and geometries are
extension types. Whatever is decoded passes the door again: a topic may hold anything. Within the job many checked
records travel in one msgpack, as their fields (`packed`, `unpacked`). Records are made per message: plain, not
frozen, and nobody changes one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeAlias, cast

import msgpack

from silbo.errors import InvalidRecord, SilboError
from silbo.model.geometry import Geometry, geometry
from silbo.model.values import (
    Attributes,
    Context,
    ValueSet,
    check_message_size,
    checked_attributes,
    checked_context,
    checked_context_value,
    checked_name,
    checked_names,
    checked_payload,
)

VERSION = 1
SET, GEOMETRY = 1, 2  # extension types
SHOWN = 65_536  # bytes of a rejected record that are kept: with its reason it must not outgrow what it is sent through
LAST = 2**63 - 1  # the time of a tick behind which nothing comes


@dataclass(slots=True)
class Subscribed:
    """A subscription; one with the same subscriber and id takes its place."""

    time: int
    subscriber: str  # UUID
    name: str
    id: str
    filter: str
    context: str | None
    include: tuple[str, ...]


@dataclass(slots=True)
class Unsubscribed:
    """A subscription ended."""

    time: int
    subscriber: str
    id: str


@dataclass(slots=True)
class ContextIs:
    """A subscriber's whole context; an empty one ends it."""

    time: int
    subscriber: str
    values: Context


@dataclass(slots=True)
class Published:
    """A message that its session accepted.

    `context` is what subscribers may see of the publisher's context, `seen` what besides only its scope reads.
    """

    time: int
    publisher: str  # UUID
    name: str
    sequence: int
    attributes: Attributes
    context: Context
    seen: Context
    scope: str | None
    payload: bytes | None


@dataclass(slots=True)
class Tick:
    """Nothing before this time will come in this partition, the lateness apart."""

    time: int


@dataclass(slots=True)
class Notified:
    """A notification: the same bytes, however often it is made."""

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
class Rejected:
    """A record that changed nothing: where it stands, why, and its bytes, `SHOWN` of them at most."""

    time: int
    topic: str
    partition: int
    offset: int
    reason: str
    value: bytes


Record: TypeAlias = Subscribed | Unsubscribed | ContextIs | Published | Tick | Notified | Rejected
Control: TypeAlias = Subscribed | Unsubscribed | ContextIs

KINDS: Mapping[type[Any], str] = {
    Subscribed: "subscribe",
    Unsubscribed: "unsubscribe",
    ContextIs: "context",
    Published: "publish",
    Tick: "tick",
    Notified: "notify",
    Rejected: "reject",
}


CLASSES: Mapping[str, Callable[..., Record]] = {name: kind for kind, name in KINDS.items()}
FIELDS: Mapping[type, Callable[[Any], tuple[Any, ...]]] = {
    kind: attrgetter(*kind.__match_args__)
    for kind in KINDS
    if kind is not Tick  # of one name it gives no tuple
}


def encode(record: Record) -> bytes:
    """The bytes of a record."""
    return packed([VERSION, *fields_of(record)])


def fields_of(record: Record) -> tuple[Any, ...]:
    """Kind and fields."""
    if isinstance(record, Tick):
        return "tick", record.time
    return KINDS[type(record)], *FIELDS[type(record)](record)


def record_of(fields: Sequence[Any]) -> Record:
    """The record that has these; they are trusted."""
    return CLASSES[fields[0]](*fields[1:])


def packed(whole: object) -> bytes:
    """As msgpack, sets and geometries with it."""
    return cast("bytes", msgpack.packb(whole, default=_extension))


def unpacked(data: bytes) -> Any:
    """What was packed."""
    return msgpack.unpackb(data, ext_hook=_read_extension, strict_map_key=False)


def _extension(value: object) -> object:
    match value:
        case ValueSet():
            return msgpack.ExtType(SET, msgpack.packb(list(value.given)))
        case Geometry():
            return msgpack.ExtType(GEOMETRY, msgpack.packb(list(value.given)))
        case Mapping():
            return dict(value)
        case _:
            raise TypeError(f"no record holds {type(value).__name__}")


def decode(data: bytes) -> Record:
    """The record that these bytes are, or `InvalidRecord` with the reason."""
    version, kind, time, fields = parts(data)
    if version > VERSION:
        raise InvalidRecord(f"version {version} is newer than {VERSION}, which this silbo reads. Update silbo.")
    if version < VERSION:
        raise InvalidRecord(f"there is no version {version}.")
    reader = READERS.get(kind)
    if reader is None:
        raise InvalidRecord(f"unknown kind {kind!r}; expected one of: {', '.join(READERS)}.")
    if time == LAST and kind != "tick":
        raise InvalidRecord("the last of all times is a tick's.")
    try:
        return reader(time, *fields)
    except (TypeError, ValueError) as error:
        if isinstance(error, SilboError):
            raise InvalidRecord(error.line) from None
        raise InvalidRecord(f"a record of kind {kind!r} has other fields than these {len(fields)}.") from None


def parts(data: bytes) -> tuple[int, str, int, Sequence[Any]]:
    """Version, kind, time and the other fields, as they stand there."""
    try:
        whole = unpacked(data)
    except Exception as error:  # noqa: BLE001  # whatever the bytes are, msgpack and shapely have many ways to say no
        raise InvalidRecord(f"this is no msgpack of silbo: {error}") from None
    match whole:
        case [int(version), str(kind), int(time), *fields] if type(version) is int and type(time) is int:
            if not -LAST <= time <= LAST:
                raise InvalidRecord(f"the time {time} is outside 63 bits.")
            return version, kind, time, fields
        case _:
            raise InvalidRecord("a record is a list of version, kind, time and fields.")


def _read_extension(code: int, data: bytes) -> object:
    given = msgpack.unpackb(data, strict_map_key=False)
    if code == SET and isinstance(given, list):
        return checked_context_value(given, "set")
    if code == GEOMETRY and isinstance(given, list) and len(given) == 2:
        return geometry(given[1], "geometry")
    raise InvalidRecord(f"unknown extension type {code}.")


def _subscribed(time: int, subscriber: Any, name: Any, id: Any, filter: Any, context: Any, include: Any) -> Record:
    names = _name(subscriber, "subscriber"), _name(name, "name"), _name(id, "id")
    texts = _text(filter, "filter"), None if context is None else _text(context, "context")
    return Subscribed(time, *names, *texts, checked_names(include, "include"))


def _unsubscribed(time: int, subscriber: Any, id: Any) -> Record:
    return Unsubscribed(time, _name(subscriber, "subscriber"), _name(id, "id"))


def _context_is(time: int, subscriber: Any, values: Any) -> Record:
    return ContextIs(time, _name(subscriber, "subscriber"), checked_context(values, "values"))


def _published(
    time: int, publisher: Any, name: Any, sequence: Any, attributes: Any, context: Any, seen: Any, scope: Any,
    payload: Any,
) -> Record:  # fmt: skip
    message, body = checked_attributes(attributes), checked_payload(payload)
    check_message_size(message, body)
    text = None if scope is None else _text(scope, "scope")
    return Published(
        time, _name(publisher, "publisher"), _name(name, "name"), _count(sequence, "sequence"), message,
        checked_context(context), checked_context(seen, "seen"), text, body,
    )  # fmt: skip


def _notified(time: int, *fields: Any) -> Record:
    uuid, publisher, sequence, subscriber_uuid, subscriber, id, attributes, context, payload = fields
    return Notified(
        time, uuid, publisher, _count(sequence, "sequence"), subscriber_uuid, subscriber, id,
        checked_attributes(attributes), checked_context(context), checked_payload(payload),
    )  # fmt: skip


def _name(value: object, path: str) -> str:
    return checked_name(value, path)


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidRecord(f"{path}: an expression is a string, not {type(value).__name__}.")
    return value


def _count(value: object, path: str) -> int:
    if type(value) is not int or value < 1:
        raise InvalidRecord(f"{path}: a number from 1 is expected, not {value!r}.")
    return value


READERS: Mapping[str, Callable[..., Record]] = {
    "subscribe": _subscribed,
    "unsubscribe": _unsubscribed,
    "context": _context_is,
    "publish": _published,
    "tick": Tick,
    "notify": _notified,
    "reject": Rejected,
}
