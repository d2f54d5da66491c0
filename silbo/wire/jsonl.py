"""Log files: JSON Lines of events as input, JSON Lines of notifications as output.

docs/log.md describes the format. A line that is not an event is an error with its reason; the reader of a
log goes on with the next line. The line of a notification is written in `silbo.model.notification`, for
`Notification.to_json`.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Literal, NamedTuple

from silbo.errors import InvalidEvent, InvalidValue, SilboError
from silbo.exhaustive import assert_never
from silbo.model import events
from silbo.model.geometry import geometry
from silbo.model.notification import notification_json
from silbo.model.plain import json_text, plain_context, plain_payload
from silbo.model.values import checked_changes, checked_name
from silbo.wire.fields import checked_expression, optional_expression, optional_names

__all__ = [
    "EVENT_NAMES",
    "Line",
    "event_json",
    "event_of",
    "notification_json",
    "parse_event",
    "parse_json",
    "read_log",
]

BEYOND = 10**1_000  # outside the range of integers


class Line(NamedTuple):
    """A line that is not blank: its number from 1, and its event or the error that explains why it has none."""

    number: int
    event: events.Event | None
    error: SilboError | None


def read_log(file: BinaryIO | Iterable[bytes]) -> Iterator[Line]:
    """Read every line of a log that is not blank. Only LF ends a line."""
    for number, line in enumerate(file, 1):
        if not isinstance(line, bytes):
            raise InvalidValue("log", "a log is read as bytes. Open the file with mode 'rb'.")
        if line.strip(b" \t\r\n"):
            try:
                yield Line(number, parse_event(line), None)
            except SilboError as error:
                yield Line(number, None, error)


def parse_event(line: str | bytes) -> events.Event:
    """Parse one line as an event; raises `InvalidEvent` or `InvalidValue`."""
    return event_of(parse_json(line))


def parse_json(line: str | bytes) -> Any:
    """Parse JSON as RFC 8259 defines it: UTF-8, no NaN, no infinity."""
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        return json.loads(text, parse_constant=_no_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise InvalidEvent(f"this is not JSON: {error.msg} at column {error.colno}.") from None
    except (ValueError, RecursionError) as error:
        raise InvalidEvent(f"this is not JSON: {error}.") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _integer(digits: str) -> int:
    """An integer; one with more digits than Python reads is out of range in any case."""
    return int(digits) if len(digits) < 1_000 else BEYOND


def event_of(value: object) -> events.Event:
    """The event of a JSON value; unknown keys are ignored, and null counts as missing for optional keys."""
    if not isinstance(value, dict):
        raise InvalidEvent(f"an event is a JSON object, not {type(value).__name__}.")
    kind = value.get("event")
    if not isinstance(kind, str) or kind not in READERS:
        raise InvalidEvent(f"unknown event {kind!r}; expected one of: {', '.join(READERS)}.")
    time = _time(value.get("time"))
    return READERS[kind](value, checked_name(_required(value, "session"), "session"), time)


def _required(value: Mapping[str, Any], key: str) -> Any:
    if value.get(key) is None:
        raise InvalidEvent(f"the key {key!r} is missing.")
    return value[key]


def _time(time: object) -> int | None:
    if time is None or type(time) is int:
        return time
    if isinstance(time, float) and time.is_integer():
        return int(time)
    raise InvalidValue("time", f"whole microseconds are expected, not {time!r}.")


def _id(value: Mapping[str, Any]) -> str:
    return checked_name(_required(value, "id"), "id")


def _filter(value: Mapping[str, Any]) -> str:
    return checked_expression(_required(value, "filter"), "filter")


def _text(value: Mapping[str, Any], key: str) -> str | None:
    return optional_expression(value.get(key), key)


def _names(value: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    return optional_names(value.get(key), key)


def _advertise(value: Mapping[str, Any], session: str, time: int | None) -> events.Event:
    return events.Advertise(
        session, _id(value), _filter(value), _names(value, "offers"), _names(value, "reads"), time=time
    )


def _subscribe(value: Mapping[str, Any], session: str, time: int | None) -> events.Event:
    function, include = _text(value, "context"), _names(value, "include") or ()
    return events.Subscribe(session, _id(value), _filter(value), function, include, time=time)


def _unsubscribe(value: Mapping[str, Any], session: str, time: int | None) -> events.Event:
    reason: Literal["slow"] | None = "slow" if value.get("reason") == "slow" else None
    return events.Unsubscribe(session, _id(value), time=time, reason=reason, dropped=_dropped(value.get("dropped")))


def _set_context(value: Mapping[str, Any], session: str, time: int | None) -> events.Event:
    values = _with_geometries(_required(value, "values"), "values")
    return events.SetContext(session, checked_changes(values, "values"), time=time)


def _publish(value: Mapping[str, Any], session: str, time: int | None) -> events.Event:
    attributes = _required(value, "attributes")
    context = _with_geometries({} if value.get("context") is None else value["context"], "context")
    return events.Publish.checked(
        session, attributes, context, _text(value, "scope"), _payload(value.get("payload")),
        time=time, dropped=_dropped(value.get("dropped")),
    )  # fmt: skip


def _dropped(value: object) -> tuple[events.Dropped, ...]:
    """The dropped notifications that a record lists. They change nothing, so malformed entries are ignored."""
    given = value if isinstance(value, list) else []
    return tuple(
        events.Dropped(*each) for each in given if isinstance(each, list) and _kinds(each) == (str, int, str, str)
    )


def _kinds(values: list[object]) -> tuple[type, ...]:
    return tuple(map(type, values))


READERS: Mapping[str, Callable[[Mapping[str, Any], str, int | None], events.Event]] = {
    "advertise": _advertise,
    "unadvertise": lambda value, session, time: events.Unadvertise(session, _id(value), time=time),
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "set_context": _set_context,
    "publish": _publish,
    "disconnect": lambda _, session, time: events.Disconnect(session, time=time),
}


def _with_geometries(values: object, path: str) -> object:
    """The values with `{"wkt": …}` and `{"geojson": …}` read; validation handles everything else."""
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
    raise InvalidValue(path, 'an object is not a value; a geometry is {"wkt": "…"} or {"geojson": {…}}.')


def _payload(value: object) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("base64"), str):
        raise InvalidValue("payload", 'a payload is {"base64": "…"}.')
    text = value["base64"]
    try:
        # Python accepts excess padding
        if len(text) % 4 == 0 and not text.endswith("==="):
            return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise InvalidValue("payload", "this is no base64 of the standard alphabet with padding.")


def event_json(event: events.Event) -> str:
    """One line of a log, without the line end."""
    return json_text({key: value for key, value in _event_object(event).items() if value is not None})


def _event_object(event: events.Event) -> dict[str, Any]:
    head: dict[str, Any] = {"event": EVENT_NAMES[type(event)], "time": event.time, "session": event.session}
    match event:
        case events.Advertise(_, id, filter, offers, reads):
            return head | {"id": id, "filter": filter, "offers": offers, "reads": reads}
        case events.Subscribe(_, id, filter, context, include):
            return head | {"id": id, "filter": filter, "context": context, "include": include or None}
        case events.SetContext(_, values):
            return head | {"values": plain_context(values)}
        case events.Publish(_, attributes, sent, scope, payload):
            body = {"attributes": dict(attributes), "context": plain_context(sent) or None, "scope": scope}
            return head | body | {"payload": plain_payload(payload), "dropped": event.dropped or None}
        case events.Unsubscribe(_, id):
            return head | {"id": id, "reason": event.reason, "dropped": event.dropped or None}
        case events.Unadvertise(_, id):
            return head | {"id": id}
        case events.Disconnect():
            return head
        case _:
            assert_never(event)


EVENT_NAMES: Mapping[type, str] = {
    events.Advertise: "advertise",
    events.Unadvertise: "unadvertise",
    events.Subscribe: "subscribe",
    events.Unsubscribe: "unsubscribe",
    events.SetContext: "set_context",
    events.Publish: "publish",
    events.Disconnect: "disconnect",
}
