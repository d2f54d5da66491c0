"""A session that remembers all it received, for tests of programs that use silbo."""

from __future__ import annotations

from typing import Any, Self

from silbo.broker.delivery import Subscription
from silbo.broker.session import Session
from silbo.model.notification import Notification


class RecordingSession:
    """A session around another: every verb is the inner session's, and what arrives is kept.

    `received` holds everything that came for subscriptions made through it, in each subscription's
    order. Subscriptions are read here: do not read them yourself, and pass no `deliver`.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._subscriptions: list[Subscription] = []
        self._received: list[Notification] = []

    def subscribe(self, *arguments: Any, **options: Any) -> Subscription:
        """As `Session.subscribe`, with what arrives kept."""
        subscription = self._session.subscribe(*arguments, **options)
        self._subscriptions.append(subscription)
        return subscription

    @property
    def received(self) -> list[Notification]:
        """All notifications until now, also of subscriptions that ended."""
        for subscription in self._subscriptions:
            self._received += subscription.drain()
        self._subscriptions = [each for each in self._subscriptions if not each.closed]
        return list(self._received)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def __enter__(self) -> Self:
        self._session.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._session.closed:
            self._session.close()
