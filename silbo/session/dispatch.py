"""Call users' callbacks: outside any lock, one at a time per session, in order.

The order is the order of arrival; if a queue dropped its oldest notification, the next one of that
subscription takes its place. A session's thread lives while there is work and a moment longer, so that
thousands of idle sessions need no thread, and a busy one does not start a thread for each notification.
"""

from __future__ import annotations

import atexit
import logging
import time
from collections import Counter, deque
from collections.abc import Callable
from threading import Condition, RLock, Thread, current_thread
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from silbo.model.notification import Notification
    from silbo.session.queue import Queue

LINGER = 0.2  # seconds that an idle thread stays
FINISH = 5.0  # seconds that close() waits for pending callbacks, and the exit of the program for one that hangs

log = logging.getLogger("silbo")


class Dispatcher:
    """The callbacks of one session.

    A subscription has one turn for each queued notification, and one for its end, so the number of turns is bounded
    by the queues.
    """

    __slots__ = ("__weakref__", "_calls", "_changed", "_counts", "_name", "_running", "_thread", "_turns", "_turns_of")

    def __init__(self, name: str, lock: RLock, counts: dict[str, int]) -> None:
        self._name = name
        self._counts = counts
        self._turns: deque[Queue] = deque()
        self._turns_of: Counter[Queue] = Counter()
        self._running: Queue | None = None
        self._calls = 0  # turns that have finished
        self._changed = Condition(lock)
        self._thread: Thread | None = None

    def schedule(self, queue: Queue, *, is_end: bool) -> None:
        """Give a subscription a turn if it has more queued than turns, or if it ended; the caller holds the lock."""
        if is_end or self._turns_of[queue] < queue.waiting:
            self._turns_of[queue] += 1
            self._turns.append(queue)
        if self._turns and self._thread is None:
            self._start()
        self._changed.notify_all()

    @property
    def is_current(self) -> bool:
        """Whether this is called from a callback of the session."""
        return self._thread is current_thread()

    def finish(self, deadline: float) -> None:
        """Wait until all pending callbacks have run, or until the deadline; returns at once in a callback."""
        self._wait(lambda: not self._turns, deadline, self._name)

    def finish_of(self, queue: Queue, deadline: float) -> None:
        """Wait, as `finish` does, until all pending calls of one subscription's callback have run."""
        self._wait(
            lambda: not self._turns_of[queue] and self._running is not queue,
            deadline,
            f"{self._name}/{queue.id}",
        )

    def _wait(self, is_done: Callable[[], bool], deadline: float, name: str) -> None:
        with self._changed:
            if self.is_current:
                return
            done = self._changed.wait_for(is_done, max(0.0, deadline - time.monotonic()))
        if not done:
            log.warning(
                "closing %s did not wait any longer for its callbacks; those that were due are not called", name
            )

    def finish_at_exit(self) -> None:
        """Let pending callbacks run at the exit of the program, unless one of them does not return."""
        with self._changed:
            while self._turns:
                calls = self._calls
                if not self._changed.wait_for(lambda: self._calls != calls, FINISH):  # noqa: B023  # called here only
                    log.warning(
                        "the program ends though a callback of %s has not returned for %g s", self._name, FINISH
                    )
                    return

    def _start(self) -> None:
        # a daemon: a callback that never returns must not keep the process alive; `_finish_all` waits for the others
        thread = Thread(target=self._run, name=f"silbo callbacks of {self._name}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the process has too many threads; the next arrival tries again
            log.exception("cannot start the thread for the callbacks of %s", self._name)
        else:
            self._thread = thread
            _busy.add(self)

    def _run(self) -> None:
        while (queue := self._next()) is not None:
            notification = self._take(queue)
            if notification is not None:
                self._call(queue, queue.deliver, notification)
            elif queue.take_end():
                self._call(queue, queue.on_close, queue.end)
            with self._changed:
                self._running = None
                self._calls += 1
                self._turns.popleft()
                self._changed.notify_all()

    def _take(self, queue: Queue) -> Notification | None:
        """Take the notification of a turn; this uses up the turn."""
        with self._changed:
            self._running = queue
            self._turns_of[queue] -= 1
            if not self._turns_of[queue]:
                del self._turns_of[queue]
            return queue.take()

    def _next(self) -> Queue | None:
        """The subscription whose turn it is; it stays first until its callback returns. None ends the thread."""
        with self._changed:
            if not self._turns:
                self._changed.wait(LINGER)
            if not self._turns:
                self._thread = None
                return None
            return self._turns[0]

    def _call(self, queue: Queue, callback: Callable[[Any], object] | None, given: object) -> None:
        assert callback is not None
        try:
            callback(given)
        except BaseException:  # an exception of a user's callback, SystemExit too, must not affect other callbacks
            with self._changed:
                self._counts["callback_errors"] += 1
            log.exception("the callback of %s/%s raised", self._name, queue.id)


_busy: WeakSet[Dispatcher] = WeakSet()  # dispatchers that have started a thread


@atexit.register
def _finish_all() -> None:
    for dispatcher in list(_busy):
        dispatcher.finish_at_exit()
