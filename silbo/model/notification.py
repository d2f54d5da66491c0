"""Publications and notifications, and the line of JSON that an output has for a notification.

Both are created for every message, so they are plain slotted objects: a frozen dataclass takes three times as long.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from typing import Any, Protocol, TypeVar, overload

from silbo.model.plain import json_text, plain_context, plain_payload
from silbo.model.readonly import ReadOnlyDict
from silbo.model.values import Attributes, Context, Scalar

Default = TypeVar("Default")

NOTHING_ASKED: Context = ReadOnlyDict()


class Publication:
    """A message that a broker accepted, with its position in its publisher's sequence.

    `context` is the publisher's context as sent, `offered` the part that subscribers may see. `time` is when the broker
    accepted the message, in microseconds since 1970, or None if a log does not say.
    """

    __slots__ = (
        "attributes", "context", "offered", "payload", "publisher", "publisher_uuid", "scope", "sequence", "time",
    )  # fmt: skip

    def __init__(
        self,
        publisher: str,
        publisher_uuid: str,
        sequence: int,
        attributes: Attributes,
        context: Context,
        offered: Context,
        scope: str | None,
        payload: bytes | None,
        time: int | None = None,
    ) -> None:
        self.publisher = publisher
        self.publisher_uuid = publisher_uuid
        self.sequence = sequence
        self.attributes = attributes
        self.context = context
        self.offered = offered
        self.scope = scope
        self.payload = payload
        self.time = time


class Notification(Mapping[str, Scalar]):
    """A publication for one subscription: a mapping of the message's attributes, with its metadata as properties.

    `context` holds the publisher's variables that the subscription asked for. A notification equals another with the
    same content, and any other mapping that has the same attributes.
    """

    __slots__ = ("_publication", "context", "subscriber", "subscription")

    def __init__(self, publication: Publication, subscriber: str, subscription: str, context: Context) -> None:
        self._publication = publication
        self.subscriber = subscriber
        self.subscription = subscription
        self.context = context

    @property
    def publisher(self) -> str:
        """The publishing session's name, a label; `publisher_uuid` is its identity."""
        return self._publication.publisher

    @property
    def publisher_uuid(self) -> str:
        """The publishing session's identity; with the sequence it identifies a repeated delivery."""
        return self._publication.publisher_uuid

    @property
    def sequence(self) -> int:
        """The position in the publishing session's sequence, from 1."""
        return self._publication.sequence

    @property
    def time(self) -> int | None:
        """When the broker accepted the message, in microseconds since 1970; None if a replayed log does not say."""
        return self._publication.time

    @property
    def attributes(self) -> Attributes:
        """The message's attributes; read-only."""
        return self._publication.attributes

    @property
    def payload(self) -> bytes | None:
        """The message's opaque bytes, if it has any."""
        return self._publication.payload

    def to_json(self) -> str:
        """The notification as one line of JSON, in the form that `silbo replay` prints."""
        return notification_json(self)

    # a mapping of the attributes; these methods call the dictionary, which is faster than the inherited ones

    def __getitem__(self, attribute: str) -> Scalar:
        return self._publication.attributes[attribute]

    def __contains__(self, attribute: object) -> bool:
        return attribute in self._publication.attributes

    def __iter__(self) -> Iterator[str]:
        return iter(self._publication.attributes)

    def __len__(self) -> int:
        return len(self._publication.attributes)

    def __bool__(self) -> bool:
        return True  # a message without attributes is a message: `while (n := subscription.poll())` must not stop there

    def keys(self) -> KeysView[str]:
        """The attributes' names."""
        return self._publication.attributes.keys()

    def values(self) -> ValuesView[Scalar]:
        """The attributes' values."""
        return self._publication.attributes.values()

    def items(self) -> ItemsView[str, Scalar]:
        """The attributes, name and value."""
        return self._publication.attributes.items()

    @overload
    def get(self, attribute: str) -> Scalar | None: ...
    @overload
    def get(self, attribute: str, default: Scalar | Default) -> Scalar | Default: ...
    def get(self, attribute: str, default: Scalar | Default | None = None) -> Scalar | Default | None:
        """An attribute, or the default if it is absent."""
        return self._publication.attributes.get(attribute, default)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Notification):
            return self._content() == other._content()
        return self._publication.attributes == other if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.publisher_uuid, self.sequence, self.subscriber, self.subscription))

    def _content(self) -> tuple[object, ...]:
        sent = self._publication
        place = (sent.publisher_uuid, sent.publisher, sent.sequence, self.subscriber, self.subscription)
        return (*place, sent.attributes, self.context, sent.payload, sent.time)

    def __copy__(self) -> Notification:
        return self  # it is immutable

    def __deepcopy__(self, _: object) -> Notification:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only what the subscriber may see: variables that are not offered stay in this process."""
        sent, shown = self._publication, self.context
        message = (sent.publisher, sent.publisher_uuid, sent.sequence, sent.attributes, shown, shown)
        return _restored, ((*message, None, sent.payload, sent.time), self.subscriber, self.subscription)

    def __repr__(self) -> str:
        return (
            f"<Notification {self.publisher}#{self.sequence} to {self.subscriber}/{self.subscription}: "
            f"{dict(self.attributes)}{' context ' + str(dict(self.context)) if self.context else ''}>"
        )


def notification_of(
    publication: Publication, subscriber: str, subscription: str, asked: AbstractSet[str]
) -> Notification:
    """The notification of a publication for a subscription that asked for these variables of the publisher."""
    if not asked:
        return Notification(publication, subscriber, subscription, NOTHING_ASKED)
    shown = {name: value for name, value in publication.offered.items() if name in asked}
    return Notification(publication, subscriber, subscription, ReadOnlyDict(shown))


def _restored(publication: tuple[Any, ...], subscriber: str, subscription: str) -> Notification:
    sent = Publication(*publication)
    return Notification(sent, subscriber, subscription, sent.offered)


class Notified(Protocol):
    """The fields of a notification in the output, from any engine."""

    @property
    def publisher(self) -> str:
        """The publishing session's name."""

    @property
    def sequence(self) -> int:
        """The position in the publisher's sequence."""

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
        """The publisher's variables that the subscription asks for."""

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
        "context": plain_context(notification.context),
    }
    if notification.payload is not None:
        line["payload"] = plain_payload(notification.payload)
    return json_text(line)
