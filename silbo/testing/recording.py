"""A session that records all notifications it receives, for tests of programs that use silbo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from silbo.model.notification import Notification
from silbo.session.session import Session
from silbo.session.subscription import Subscription

if TYPE_CHECKING:
    from typing_extensions import Self


class RecordingSession:
    """A session around another one: it passes every verb on, and records the notifications.

    `received` holds the notifications of subscriptions made through it, in the order of arrival. The program
    under test reads them, or gets its callbacks, as without it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._received: list[Notification] = []

    def subscribe(self, *arguments: Any, **options: Any) -> Subscription:
        """Subscribe as `Session.subscribe` does, and record what arrives."""
        # the session's lock: nothing may arrive before the observer is there
        with self._session._verbs.lock:
            subscription = self._session.subscribe(*arguments, **options)
            queue = subscription._queue
            queue.observe(lambda is_end: None if is_end else self._received.append(queue.newest()))
            return subscription

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
