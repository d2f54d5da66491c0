"""A session that remembers all it received, for tests of programs that use silbo."""

from __future__ import annotations

from typing import Any, Self

from silbo.broker.delivery import Subscription
from silbo.broker.session import Session
from silbo.model.notification import Notification


class RecordingSession:
    """A session around another: every verb is the inner session's, and what arrives is kept as well.

    `received` holds all that came for subscriptions made through it, in the order of arrival. The program
    under test reads them, or gets its callbacks, as ever.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._received: list[Notification] = []

    def subscribe(self, *arguments: Any, **options: Any) -> Subscription:
        """As `Session.subscribe`, with what arrives kept."""
        # nothing may arrive before it is kept: the lock is the broker's own
        with self._session._lock:
            subscription = self._session.subscribe(*arguments, **options)
            subscription._observe(self._keep)
            return subscription

    def _keep(self, notification: Notification | None) -> None:
        if notification is not None:
            self._received.append(notification)

    @property
    def received(self) -> list[Notification]:
        """All notifications until now, read or not."""
        return list(self._received)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def __enter__(self) -> Self:
        self._session.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._session.closed:
            self._session.close()
