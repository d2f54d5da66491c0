"""The seven events in msgpack, one form for connections and journals, which no engine has yet.

An event is a msgpack array, the head first, then the fields of its kind:

    version (1), kind, number or nil, time or nil, uuid or nil, session

    1  advertise      id, filter, offers or nil, reads or nil
    2  unadvertise    id
    3  subscribe      id, filter, context or nil, include
    4  unsubscribe    id, reason ("slow") or nil, dropped
    5  set_context    values, where nil removes a variable
    6  publish        scope or nil, context, dropped, attributes, payload or nil
    7  disconnect

`number` is that of the event's frame in its session, from 1; `time` is in microseconds since 1970; `uuid` is the
session's UUID, and `session` its name. `dropped` lists (publisher, sequence, subscriber, subscription).

The message of a publish, its attributes and its payload, is the end of the bytes: one range, which `message_of` finds
and `encode(…, message=…)` puts into another event as it is. So a broker can forward what the publisher wrote, whichever
encoder wrote it. No map may have a key twice, because two readers of these bytes could then see different messages.

`decode` checks all values, names and bounds, and raises nothing but `InvalidEvent`. Expressions stay text, which the
engines read. Lengths, acknowledgements and the frames that are no events belong to a connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from silbo.errors import InvalidEvent, InvalidValue, SilboError, shortened
from silbo.model import events
from silbo.model.values import LARGEST_INT, SMALLEST_INT, checked_changes, checked_name
from silbo.wire.fields import checked_count, checked_expression, listed_names, optional_expression, optional_names
from silbo.wire.values import packed, place_of, unpacked

VERSION = 1
HEAD = ("version", "kind", "number", "time", "uuid", "session")
REASON = 1_000  # characters of an error: it may quote a name or a value, which may be megabytes
MESSAGE = 2  # elements at the end of a publish: its attributes and its payload


class Numbered(NamedTuple):
    """An event with what its bytes say besides: the number of its frame in the session, and the session's UUID."""

    event: events.Event
    number: int | None
    uuid: str | None


def encode(
    event: events.Event, *, number: int | None = None, uuid: str | None = None, message: bytes | None = None
) -> bytes:
    """The bytes of an event; `message` has the encoded attributes and payload, if they exist already."""
    form = FORMS[type(event)]
    if event.time is not None and not SMALLEST_INT <= event.time <= LARGEST_INT:
        raise InvalidEvent("the time is outside 64 bits. Use microseconds since 1970.")
    elements = (VERSION, form.kind, number, event.time, uuid, event.session, *form.fields_of(event))
    try:
        if message is None:
            return packed(elements)
        # the header of an array with at most 15 elements is one byte; the elements follow one another
        return bytes([0x90 + len(elements)]) + packed(elements[:-MESSAGE])[1:] + message
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidEvent(f"this event cannot be encoded ({shortened(str(error))}).") from None


def decode(data: bytes) -> events.Event:
    """Decode and check an event; raises `InvalidEvent` with the reason."""
    return decode_numbered(data).event


def decode_numbered(data: bytes) -> Numbered:
    """Decode and check an event with its number and UUID; raises `InvalidEvent` with the reason."""
    try:
        return _numbered(unpacked(data, _mapping))
    except SilboError as error:
        raise InvalidEvent(shortened(error.line, REASON)) from None
    except Exception as error:  # noqa: BLE001  # for arbitrary bytes msgpack and shapely raise many kinds of errors
        reason = shortened(str(error)).rstrip(".") or type(error).__name__
        raise InvalidEvent(f"this is not an event in msgpack ({reason}).") from None


def message_of(data: bytes) -> bytes:
    """The encoded attributes and payload of a publish that `decode` accepts, as its publisher wrote them."""
    return data[place_of(data, len(HEAD) + len(FORMS[events.Publish].names) - MESSAGE) :]


def _mapping(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise InvalidEvent("a map has a key twice. Give each name one value.")
    return mapping


def _numbered(whole: object) -> Numbered:
    if not isinstance(whole, list) or not whole or type(whole[0]) is not int:
        raise InvalidEvent(f"an event is an array of {', '.join(HEAD)} and the fields of its kind.")
    if whole[0] > VERSION:
        raise InvalidEvent(f"version {whole[0]} is newer than {VERSION}, which this silbo reads. Update silbo.")
    if whole[0] < VERSION:
        raise InvalidEvent(f"there is no version {whole[0]}.")
    if len(whole) < len(HEAD):
        raise InvalidEvent(f"an event begins with {', '.join(HEAD)}; here are {len(whole)} elements.")
    _, kind, number, time, uuid, session, *fields = whole
    form = KINDS.get(kind) if type(kind) is int else None
    if form is None:
        raise InvalidEvent(f"unknown kind {shortened(repr(kind))}; expected one of 1 to {len(KINDS)}.")
    if len(fields) != len(form.names):
        expected = ", ".join(form.names) or "no fields"
        raise InvalidEvent(f"an event of kind {kind} has {expected} after its head; here are {len(fields)} fields.")
    return Numbered(
        form.read(checked_name(session, "session"), _optional_integer(time, "time"), *fields),
        None if number is None else checked_count(_optional_integer(number, "number"), "number"),
        None if uuid is None else checked_name(uuid, "uuid"),
    )


def _optional_integer(value: object, path: str) -> int | None:
    if value is None or (type(value) is int and SMALLEST_INT <= value <= LARGEST_INT):
        return value
    raise InvalidValue(path, f"an integer of 64 bits is expected, not {shortened(repr(value))}.")


def _advertise(session: str, time: int | None, id: Any, filter: Any, offers: Any, reads: Any) -> events.Event:
    names = optional_names(offers, "offers"), optional_names(reads, "reads")
    return events.Advertise(session, checked_name(id, "id"), checked_expression(filter, "filter"), *names, time=time)


def _unadvertise(session: str, time: int | None, id: Any) -> events.Event:
    return events.Unadvertise(session, checked_name(id, "id"), time=time)


def _subscribe(session: str, time: int | None, id: Any, filter: Any, context: Any, include: Any) -> events.Event:
    texts = checked_expression(filter, "filter"), optional_expression(context, "context")
    return events.Subscribe(session, checked_name(id, "id"), *texts, listed_names(include, "include"), time=time)


def _unsubscribe(session: str, time: int | None, id: Any, reason: Any, dropped: Any) -> events.Event:
    return events.Unsubscribe(
        session, checked_name(id, "id"), time=time, reason=_reason(reason), dropped=_dropped(dropped, "dropped")
    )


def _set_context(session: str, time: int | None, values: Any) -> events.Event:
    return events.SetContext(session, checked_changes(values, "values"), time=time)


def _publish(
    session: str, time: int | None, scope: Any, context: Any, dropped: Any, attributes: Any, payload: Any
) -> events.Event:
    text, lost = optional_expression(scope, "scope"), _dropped(dropped, "dropped")
    return events.Publish.checked(session, attributes, context, text, payload, time=time, dropped=lost)


def _disconnect(session: str, time: int | None) -> events.Event:
    return events.Disconnect(session, time=time)


def _reason(value: object) -> Literal["slow"] | None:
    if value is None:
        return None
    if value == "slow":
        return "slow"
    raise InvalidValue("reason", f'"slow" or nil is expected, not {shortened(repr(value))}.')


def _dropped(value: object, path: str) -> tuple[events.Dropped, ...]:
    if not isinstance(value, list):
        raise InvalidValue(path, f"an array of notifications is expected, not {type(value).__name__}.")
    return tuple(_one_dropped(each, f"{path}[{i}]") for i, each in enumerate(value))


def _one_dropped(value: object, path: str) -> events.Dropped:
    if not isinstance(value, list) or len(value) != len(events.Dropped._fields):
        raise InvalidValue(path, f"an array of {', '.join(events.Dropped._fields)} is expected.")
    publisher, sequence, subscriber, subscription = value
    return events.Dropped(
        checked_name(publisher, f"{path}.publisher"),
        checked_count(_optional_integer(sequence, f"{path}.sequence"), f"{path}.sequence"),
        checked_name(subscriber, f"{path}.subscriber"),
        checked_name(subscription, f"{path}.subscription"),
    )


class _Form:
    """How a kind of event is written: its number, the names of its fields after the head, and its reader."""

    __slots__ = ("fields_of", "kind", "names", "read")

    def __init__(self, kind: int, names: tuple[str, ...], read: Callable[..., events.Event]) -> None:
        self.kind = kind
        self.names = names
        self.read = read
        self.fields_of = _getter(names)


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns the attributes of these names as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda event: tuple(getattr(event, name) for name in names)


FORMS: Mapping[type[Any], _Form] = {
    events.Advertise: _Form(1, ("id", "filter", "offers", "reads"), _advertise),
    events.Unadvertise: _Form(2, ("id",), _unadvertise),
    events.Subscribe: _Form(3, ("id", "filter", "context", "include"), _subscribe),
    events.Unsubscribe: _Form(4, ("id", "reason", "dropped"), _unsubscribe),
    events.SetContext: _Form(5, ("values",), _set_context),
    events.Publish: _Form(6, ("scope", "context", "dropped", "attributes", "payload"), _publish),
    events.Disconnect: _Form(7, (), _disconnect),
}
KINDS: Mapping[int, _Form] = {form.kind: form for form in FORMS.values()}
