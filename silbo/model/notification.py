"""Publications and notifications: made for every message, so plain slotted objects.

A frozen dataclass costs three times as much to make.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView

from silbo.model.values import Attributes, Context, Scalar


class Publication:
    """A message that a broker accepted, with its place in its publisher's sequence.

    `context` is what the publisher sent, `offered` what subscribers may see of it.
    """

    __slots__ = ("attributes", "context", "offered", "payload", "publisher", "publisher_uuid", "scope", "sequence")

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
    ) -> None:
        self.publisher = publisher
        self.publisher_uuid = publisher_uuid
        self.sequence = sequence
        self.attributes = attributes
        self.context = context
        self.offered = offered
        self.scope = scope
        self.payload = payload


class Notification:
    """A publication on its way to one subscription; `context` holds the publisher's variables it asked for."""

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
        """The publishing session's identity: repeats are judged by it and the sequence."""
        return self._publication.publisher_uuid

    @property
    def sequence(self) -> int:
        """The place in the publishing session's sequence, from 1."""
        return self._publication.sequence

    @property
    def attributes(self) -> Attributes:
        """The message's attributes; read-only."""
        return self._publication.attributes

    @property
    def payload(self) -> bytes | None:
        """The message's opaque bytes, if it has any."""
        return self._publication.payload

    def __getitem__(self, attribute: str) -> Scalar:
        return self._publication.attributes[attribute]

    def __contains__(self, attribute: object) -> bool:
        return attribute in self._publication.attributes

    def __iter__(self) -> Iterator[str]:
        return iter(self._publication.attributes)

    def keys(self) -> KeysView[str]:
        """The attributes' names: `dict(notification)` is the message."""
        return self._publication.attributes.keys()

    def get(self, attribute: str, default: Scalar | None = None) -> Scalar | None:
        """An attribute, or the default where it is absent."""
        return self._publication.attributes.get(attribute, default)

    def __repr__(self) -> str:
        return (
            f"<Notification {self.publisher}#{self.sequence} to {self.subscriber}/{self.subscription}: "
            f"{dict(self.attributes)}{' context ' + str(dict(self.context)) if self.context else ''}>"
        )
