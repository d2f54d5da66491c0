"""Logs as files: JSON Lines of events going in, JSON lines of notifications coming out.

The form is told in docs/log.md. A line that is no event is an error with its reason; the reader of a
log goes on with the next one.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, Protocol, assert_never

from silbo.errors import InvalidEvent, InvalidValue, SilboError
from silbo.model.events import (
    Advertise,
    Disconnect,
    Event,
    Publish,
    SetContext,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from silbo.model.geometry import Geometry, geometry
from silbo.model.values import Attributes, Context, ContextValue, ValueSet, checked_changes, checked_name, checked_names

BEYOND = 10**1_000  # no integer that enters

# longer values are cut where people read them
SHOWN = 80  # characters


class Line(NamedTuple):
    """A line that is not blank: its number from 1, and the event it is or the reason why it is none."""

    number: int
    event: Event | None
    error: SilboError | None


def read_log(file: BinaryIO | Iterable[bytes]) -> Iterator[Line]:
    """Every line of a log that is not blank. Lines end at LF, whatever else is in them."""
    for number, line in enumerate(file, 1):
        if not isinstance(line, bytes):
            raise InvalidValue("log", "a log is read as bytes. Open the file with mode 'rb'.")
        if line.strip(b" \t\r\n"):
            try:
                yield Line(number, parse_event(line), None)
            except SilboError as error:
                yield Line(number, None, error)


def parse_event(line: str | bytes) -> Event:
    """The event that one line is, or an `InvalidEvent` or `InvalidValue`."""
    return event_of(parse_json(line))


def parse_json(line: str | bytes) -> Any:
    """JSON as RFC 8259 has it: UTF-8, no NaN, no infinity."""
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        return json.loads(text, parse_constant=_no_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise InvalidEvent(f"this is no JSON: {error.msg} (column {error.colno}).") from None
    except (ValueError, RecursionError) as error:
        raise InvalidEvent(f"this is no JSON: {error}.") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _integer(digits: str) -> int:
    """An integer; one of more digits than Python reads is out of range in any case, whatever it is."""
    return int(digits) if len(digits) < 1_000 else BEYOND


def event_of(value: object) -> Event:
    """The event that a JSON value is; unknown keys are ignored, null equals missing where a key may miss."""
    if not isinstance(value, dict):
        raise InvalidEvent(f"an event is a JSON object, not {type(value).__name__}.")
    kind = value.get("event")
    if not isinstance(kind, str) or kind not in READERS:
        raise InvalidEvent(f"unknown event {kind!r}; expected one of: {', '.join(READERS)}.")
    _check_time(value.get("time"))
    return READERS[kind](value, checked_name(_required(value, "session"), "session"))


def _required(value: Mapping[str, Any], key: str) -> Any:
    if value.get(key) is None:
        raise InvalidEvent(f"the key {key!r} is missing.")
    return value[key]


def _check_time(time: object) -> None:
    whole = type(time) is int or (isinstance(time, float) and time.is_integer())
    if time is not None and not whole:
        raise InvalidValue("time", f"whole microseconds are expected, not {time!r}.")


def _id(value: Mapping[str, Any]) -> str:
    return checked_name(_required(value, "id"), "id")


def _text(value: Mapping[str, Any], key: str) -> str | None:
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise InvalidValue(key, f"an expression is a string, not {type(text).__name__}.")
    return text


def _filter(value: Mapping[str, Any]) -> str:
    _required(value, "filter")
    return _text(value, "filter") or ""


def _names(value: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    names = value.get(key)
    if names is not None and not isinstance(names, list):
        raise InvalidValue(key, f"a list of names is expected, not {type(names).__name__}.")
    return None if names is None else checked_names(names, key)


def _advertise(value: Mapping[str, Any], session: str) -> Event:
    return Advertise(session, _id(value), _filter(value), _names(value, "offers"), _names(value, "reads"))


def _subscribe(value: Mapping[str, Any], session: str) -> Event:
    return Subscribe(session, _id(value), _filter(value), _text(value, "context"), _names(value, "include") or ())


def _set_context(value: Mapping[str, Any], session: str) -> Event:
    values = _with_geometries(_required(value, "values"), "values")
    return SetContext(session, checked_changes(values, "values"))


def _publish(value: Mapping[str, Any], session: str) -> Event:
    attributes = _required(value, "attributes")
    context = _with_geometries({} if value.get("context") is None else value["context"], "context")
    return Publish.checked(session, attributes, context, _text(value, "scope"), _payload(value.get("payload")))


READERS: Mapping[str, Callable[[Mapping[str, Any], str], Event]] = {
    "advertise": _advertise,
    "unadvertise": lambda value, session: Unadvertise(session, _id(value)),
    "subscribe": _subscribe,
    "unsubscribe": lambda value, session: Unsubscribe(session, _id(value)),
    "set_context": _set_context,
    "publish": _publish,
    "disconnect": lambda _, session: Disconnect(session),
}


def _with_geometries(values: object, path: str) -> object:
    """The values with `{"wkt": …}` and `{"geojson": …}` read; everything else is left to the door."""
    if not isinstance(values, dict):
        return values
    return {name: _value(value, f"{path}.{name}") for name, value in values.items()}


def _value(value: object, path: str) -> object:
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and isinstance(value.get("wkt"), str):
        return geometry(value["wkt"], path)
    if len(value) == 1 and isinstance(value.get("geojson"), dict):
        return geometry(value["geojson"], path)
    raise InvalidValue(path, 'an object is no value; a geometry is {"wkt": "…"} or {"geojson": {…}}.')


def _payload(value: object) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("base64"), str):
        raise InvalidValue("payload", 'a payload is {"base64": "…"}.')
    text = value["base64"]
    try:
        # Python takes padding beyond what is due
        if len(text) % 4 == 0 and not text.endswith("==="):
            return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise InvalidValue("payload", "this is no base64 of the standard alphabet with padding.")


def event_json(event: Event) -> str:
    """One line of a log, without its end."""
    return _dumps({key: value for key, value in _event_object(event).items() if value is not None})


def _event_object(event: Event) -> dict[str, Any]:
    head: dict[str, Any] = {"event": EVENT_NAMES[type(event)], "session": event.session}
    match event:
        case Advertise(_, id, filter, offers, reads):
            return head | {"id": id, "filter": filter, "offers": offers, "reads": reads}
        case Subscribe(_, id, filter, context, include):
            return head | {"id": id, "filter": filter, "context": context, "include": include or None}
        case SetContext(_, values):
            return head | {"values": _plain_context(values)}
        case Publish(_, attributes, sent, scope, payload):
            body = {"attributes": dict(attributes), "context": _plain_context(sent) or None, "scope": scope}
            return head | body | {"payload": _plain_payload(payload)}
        case Unadvertise(_, id) | Unsubscribe(_, id):
            return head | {"id": id}
        case Disconnect():
            return head
        case _:
            assert_never(event)


EVENT_NAMES: Mapping[type, str] = {
    Advertise: "advertise",
    Unadvertise: "unadvertise",
    Subscribe: "subscribe",
    Unsubscribe: "unsubscribe",
    SetContext: "set_context",
    Publish: "publish",
    Disconnect: "disconnect",
}


class Notified(Protocol):
    """What the output tells of a notification, whichever engine made it."""

    @property
    def publisher(self) -> str:
        """The publishing session's name."""

    @property
    def sequence(self) -> int:
        """The place in the publisher's sequence."""

    @property
    def subscriber(self) -> str:
        """The subscribing session's name."""

    @property
    def subscription(self) -> str:
        """The subscription's id."""

    @property
    def attributes(self) -> Attributes:
        """The message."""

    @property
    def context(self) -> Context:
        """The publisher's variables that were asked for."""

    @property
    def payload(self) -> bytes | None:
        """The opaque bytes, if any."""


def notification_json(notification: Notified) -> str:
    """One line of a replay's output."""
    line = {
        "publisher": notification.publisher,
        "sequence": notification.sequence,
        "subscriber": notification.subscriber,
        "subscription": notification.subscription,
        "attributes": dict(notification.attributes),
        "context": _plain_context(notification.context),
    }
    if notification.payload is not None:
        line["payload"] = _plain_payload(notification.payload)
    return _dumps(line)


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _plain_context(values: Mapping[str, ContextValue | None]) -> dict[str, object]:
    return {name: plain(value) for name, value in values.items()}


def plain(value: ContextValue | None) -> object:
    """A context value as JSON: sets are arrays, a geometry is in the form it came in."""
    if isinstance(value, ValueSet):
        return list(value.given)
    if isinstance(value, Geometry):
        form, given = value.given
        return {form: given}
    return value


def value_text(value: ContextValue | None) -> str:
    """A value on one short line, for people: tables and explanations."""
    if value is None:
        return "absent"
    if isinstance(value, ValueSet):
        return "{" + ", ".join(map(value_text, value)) + "}"
    text = value.wkt if isinstance(value, Geometry) else _dumps(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _plain_payload(payload: bytes | None) -> dict[str, str] | None:
    return None if payload is None else {"base64": base64.b64encode(payload).decode("ascii")}
