"""Call users' callbacks: outside any lock, one at a time per session, in order.

The order is that of arrival; where a queue dropped its oldest, the next of that subscription takes the
place of what was dropped. A session's thread lives while there is work and a moment longer, so that
thousands of quiet sessions cost no thread, and a busy one does not start a thread for each notification.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from threading import Condition, RLock, Thread, current_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from silbo.broker.delivery import Subscription
    from silbo.model.notification import Notification

LINGER = 0.2  # seconds that an idle thread stays; a program's end waits for it
FINISH = 5.0  # seconds that close() waits for callbacks that are due

log = logging.getLogger("silbo")


class Dispatcher:
    """The callbacks of one session.

    A subscription has as many turns as it has notifications queued, so turns are as bounded as queues.
    """

    __slots__ = ("_changed", "_counts", "_name", "_thread", "_turns", "_turns_of")

    def __init__(self, name: str, lock: RLock, counts: dict[str, int]) -> None:
        self._name = name
        self._counts = counts
        self._turns: deque[Subscription] = deque()
        self._turns_of: Counter[Subscription] = Counter()
        self._changed = Condition(lock)
        self._thread: Thread | None = None

    def schedule(self, subscription: Subscription) -> None:
        """Give a subscription its turn if it has more queued than turns; the caller holds the lock."""
        if self._turns_of[subscription] < len(subscription):
            self._turns_of[subscription] += 1
            self._turns.append(subscription)
        if self._turns and self._thread is None:
            self._start()
        self._changed.notify_all()

    def finish(self, deadline: float) -> None:
        """Wait until every callback that is due has run, at most to the deadline; never from a callback itself."""
        with self._changed:
            if self._thread is current_thread():
                return
            done = self._changed.wait_for(lambda: not self._turns, max(0.0, deadline - time.monotonic()))
        if not done:
            log.warning("closing %s did not wait any longer for its callbacks; they go on", self._name)

    def _start(self) -> None:
        thread = Thread(target=self._run, name=f"silbo callbacks of {self._name}")
        try:
            thread.start()
        except RuntimeError:  # the process has too many threads; the next arrival tries again
            log.exception("cannot start the thread for the callbacks of %s", self._name)
        else:
            self._thread = thread

    def _run(self) -> None:
        while (subscription := self._next()) is not None:
            notification = self._take(subscription)
            if notification is not None:
                self._call(subscription, notification)
            with self._changed:
                self._turns.popleft()
                self._changed.notify_all()

    def _take(self, subscription: Subscription) -> Notification | None:
        """What the turn is for; the turn is used up by it."""
        with self._changed:
            self._turns_of[subscription] -= 1
            if not self._turns_of[subscription]:
                del self._turns_of[subscription]
            return subscription._queue.take()

    def _next(self) -> Subscription | None:
        """Whose turn it is; it stays the first until its callback is over. None ends the thread."""
        with self._changed:
            if not self._turns:
                self._changed.wait(LINGER)
            if not self._turns:
                self._thread = None
                return None
            return self._turns[0]

    def _call(self, subscription: Subscription, notification: Notification) -> None:
        assert subscription._deliver is not None
        try:
            subscription._deliver(notification)
        except BaseException:  # whatever a user's callback raises, SystemExit too, must hurt nobody else
            with self._changed:
                self._counts["callback_errors"] += 1
            log.exception("the callback of %s/%s raised", notification.subscriber, notification.subscription)
