"""The seven events, in the form that every engine takes.

Expressions are text here; the engines read them. Values are validated. Two events are equal if they have the same
content: comparison ignores `time`, `reason` and `dropped`, which are for people who read a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from silbo.model.values import (
    ContextValue,
    Scalar,
    check_message_size,
    checked_attributes,
    checked_context,
    checked_payload,
)


class Dropped(NamedTuple):
    """A notification that its subscriber could not read, because a full queue dropped it."""

    publisher: str
    sequence: int
    subscriber: str
    subscription: str


@dataclass(frozen=True, slots=True)
class Happening:
    """The base of all events: the time of the event in microseconds since 1970, if it is known."""

    time: int | None = field(default=None, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Advertise(Happening):
    """A session declares what it will publish, which variables of its context it offers, and what its scopes read."""

    session: str
    id: str
    filter: str
    offers: tuple[str, ...] | None = None
    reads: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Unadvertise(Happening):
    """An advertisement ends."""

    session: str
    id: str


@dataclass(frozen=True, slots=True)
class Subscribe(Happening):
    """A session subscribes to messages by their content and by context.

    `read` has the filter and the function if the session has read them: the core need not read their texts again.
    """

    session: str
    id: str
    filter: str
    context: str | None = None
    include: tuple[str, ...] = ()
    read: Any = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Unsubscribe(Happening):
    """A subscription ends; `reason` is "slow" if a full queue ended it, and `dropped` lists what had no room."""

    session: str
    id: str
    reason: Literal["slow"] | None = field(default=None, compare=False, kw_only=True)
    dropped: tuple[Dropped, ...] = field(default=(), compare=False, kw_only=True)


class SetContext:
    """A session's context changes; None removes a variable. One is made for each change, so the class is plain."""

    __slots__ = ("session", "time", "values")
    __match_args__ = ("session", "values")

    def __init__(self, session: str, values: Mapping[str, ContextValue | None], *, time: int | None = None) -> None:
        self.session = session
        self.values = values
        self.time = time

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SetContext):
            return NotImplemented
        return (self.session, self.values) == (other.session, other.values)

    __hash__ = None  # type: ignore[assignment]  # its values are a dictionary

    def __repr__(self) -> str:
        return f"SetContext(session={self.session!r}, values={self.values!r})"


class Publish:
    """A message with the publisher's context at that time; `context` includes variables that are not offered.

    `dropped` lists the notifications that full queues dropped to make room for those of this message. One is made
    for each message, so the class is plain: a frozen dataclass takes several times as long.
    """

    __slots__ = ("attributes", "context", "dropped", "payload", "scope", "session", "time")
    __match_args__ = ("session", "attributes", "context", "scope", "payload")

    def __init__(
        self,
        session: str,
        attributes: Mapping[str, Scalar],
        context: Mapping[str, ContextValue],
        scope: str | None = None,
        payload: bytes | None = None,
        *,
        time: int | None = None,
        dropped: tuple[Dropped, ...] = (),
    ) -> None:
        self.session = session
        self.attributes = attributes
        self.context = context
        self.scope = scope
        self.payload = payload
        self.time = time
        self.dropped = dropped

    @classmethod
    def checked(
        cls,
        session: str,
        attributes: object,
        context: object,
        scope: str | None = None,
        payload: object = None,
        *,
        time: int | None = None,
        dropped: tuple[Dropped, ...] = (),
    ) -> Publish:
        """A validated publish: every value, and the size of the message."""
        message, sent, body = checked_attributes(attributes), checked_context(context), checked_payload(payload)
        publish = cls(session, message, sent, scope, body, time=time, dropped=dropped)
        check_message_size(publish.attributes, publish.payload)
        return publish

    def _content(self) -> tuple[object, ...]:
        return self.session, self.attributes, self.context, self.scope, self.payload

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Publish) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # its attributes are a dictionary

    def __repr__(self) -> str:
        shown = zip(self.__match_args__, self._content(), strict=True)
        return f"Publish({', '.join(f'{name}={value!r}' for name, value in shown)})"


@dataclass(frozen=True, slots=True)
class Disconnect(Happening):
    """A session ends, with its advertisements, subscriptions and context."""

    session: str


Event: TypeAlias = Advertise | Unadvertise | Subscribe | Unsubscribe | SetContext | Publish | Disconnect
