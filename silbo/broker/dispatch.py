"""Call users' callbacks: outside any lock, one at a time per session, in order.

A session's thread lives while there is work and a moment longer, so that thousands of quiet sessions
cost no thread, and a busy one does not start a thread for each notification.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from threading import Condition, RLock, Thread, current_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from silbo.broker.delivery import Deliver, Subscription
    from silbo.model.notification import Notification

LINGER = 0.2  # seconds that an idle thread stays; a program's end waits for it
FINISH = 5.0  # seconds that close() waits for callbacks that are under way

log = logging.getLogger("silbo")


class Dispatcher:
    """The callbacks of one session."""

    __slots__ = ("_changed", "_counts", "_name", "_thread", "_turns")

    def __init__(self, name: str, lock: RLock, counts: dict[str, int]) -> None:
        self._name = name
        self._counts = counts
        self._turns: deque[Subscription] = deque()
        self._changed = Condition(lock)
        self._thread: Thread | None = None

    def schedule(self, subscription: Subscription) -> None:
        """Give a subscription with something in its queue its turn; the caller holds the lock."""
        self._turns.append(subscription)
        if self._thread is None:
            self._thread = Thread(target=self._run, name=f"silbo callbacks of {self._name}")
            self._thread.start()
        else:
            self._changed.notify_all()

    def finish(self) -> None:
        """Wait until every callback that is due has run, at most for a while; never from a callback itself."""
        with self._changed:
            if self._thread is not None and self._thread is not current_thread():
                deadline = time.monotonic() + FINISH
                while self._turns and time.monotonic() < deadline:
                    self._changed.wait(deadline - time.monotonic())

    def _run(self) -> None:
        while (subscription := self._next()) is not None:
            with self._changed:
                due = subscription._take_for_callback()
            if due is not None:
                self._call(*due)
            with self._changed:
                self._turns.popleft()
                self._changed.notify_all()

    def _next(self) -> Subscription | None:
        """Whose turn it is; it stays the first until its callback is over. None ends the thread."""
        with self._changed:
            if not self._turns:
                self._changed.wait(LINGER)
            if not self._turns:
                self._thread = None
                return None
            return self._turns[0]

    def _call(self, deliver: Deliver, notification: Notification) -> None:
        try:
            deliver(notification)
        except Exception:  # whatever a user's callback raises must hurt nobody else
            with self._changed:
                self._counts["callback_errors"] += 1
            log.exception("the callback of %s/%s raised", notification.subscriber, notification.subscription)
