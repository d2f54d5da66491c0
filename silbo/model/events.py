"""The seven events: what can happen, in the form that every engine takes.

Expressions are text here; the engines read them. Values have passed the door.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from silbo.model.values import (
    ContextValue,
    Scalar,
    check_message_size,
    checked_attributes,
    checked_context,
    checked_payload,
)


@dataclass(frozen=True, slots=True)
class Advertise:
    """A session says what it will publish, what of its context it offers, and what its scopes read."""

    session: str
    id: str
    filter: str
    offers: tuple[str, ...] | None = None
    reads: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Unadvertise:
    """An advertisement ends."""

    session: str
    id: str


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A session says what it wants, and in which situation."""

    session: str
    id: str
    filter: str
    context: str | None = None
    include: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A subscription ends."""

    session: str
    id: str


@dataclass(frozen=True, slots=True)
class SetContext:
    """A session's situation changed; None removes a variable."""

    session: str
    values: Mapping[str, ContextValue | None]


@dataclass(frozen=True, slots=True)
class Publish:
    """A message with the publisher's context as it was sent; `context` is whole, offered or not."""

    session: str
    attributes: Mapping[str, Scalar]
    context: Mapping[str, ContextValue]
    scope: str | None = None
    payload: bytes | None = None

    @classmethod
    def checked(
        cls,
        session: str,
        attributes: object,
        context: object,
        scope: str | None = None,
        payload: object = None,
    ) -> Publish:
        """One that passed the door: every value, and the size of the whole."""
        message = checked_attributes(attributes)
        publish = cls(session, message, checked_context(context), scope, checked_payload(payload))
        check_message_size(publish.attributes, publish.payload)
        return publish


@dataclass(frozen=True, slots=True)
class Disconnect:
    """A session ends, with all it had."""

    session: str


Event: TypeAlias = Advertise | Unadvertise | Subscribe | Unsubscribe | SetContext | Publish | Disconnect
