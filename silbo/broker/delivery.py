"""Subscriptions as users hold them: a bounded queue, a policy for when it is full, and ways to read it.

A queue is filled under the broker's lock, which also guards its end; an ordinary read takes from it
without the lock. Nothing waits for ever, and nothing is lost silently: what a policy gave up is
counted (`dropped`) or raised (`SlowSubscriber`).
"""

from __future__ import annotations

import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, RLock
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from silbo.errors import Closed, InvalidValue, Refused, SilboError, SlowSubscriber
from silbo.model.notification import Notification

if TYPE_CHECKING:
    from silbo.broker.session import Session

Slow: TypeAlias = Literal["disconnect", "drop_oldest", "block"]
Deliver: TypeAlias = Callable[[Notification], object]

log = logging.getLogger("silbo")

QUEUE = 65_536  # notifications; a subscriber further behind than this is slower than its own traffic
BLOCK_TIMEOUT = 5.0  # seconds that a publisher waits for room


class Subscription:
    """What `subscribe` gives: read it with `get`, `poll`, `drain` or `for`, end it with `close`."""

    __slots__ = (
        "_arrived", "_block_timeout", "_deliver", "_end", "_limit", "_lock", "_queue", "_room", "_session", "_slow",
        "_tap", "_wake", "dropped", "id",
    )  # fmt: skip

    def __init__(
        self,
        session: Session,
        id: str,
        lock: RLock,
        deliver: Deliver | None,
        queue: int,
        slow: Slow,
        block_timeout: float,
    ) -> None:
        if isinstance(queue, bool) or not isinstance(queue, int) or queue < 1:
            raise InvalidValue("queue", f"a queue holds at least one notification, not {queue!r}.")
        if slow not in ("disconnect", "drop_oldest", "block"):
            raise InvalidValue("slow", f"expected 'disconnect', 'drop_oldest' or 'block', not {slow!r}.")
        if not isinstance(block_timeout, int | float) or not 0 < block_timeout < threading.TIMEOUT_MAX:
            raise InvalidValue("block_timeout", f"seconds greater than 0 are expected, not {block_timeout!r}.")
        if deliver is not None and (not callable(deliver) or inspect.iscoroutinefunction(deliver)):
            raise InvalidValue("deliver", f"an ordinary function is expected, not {deliver!r}. For asyncio: silbo.aio.")
        self.id = id
        self.dropped = 0
        self._session = session
        self._lock = lock
        self._deliver = deliver
        self._limit = queue
        self._slow = slow
        self._block_timeout = block_timeout
        # most subscriptions of a large broker are waiting: what they do not use is not made.
        self._queue: deque[Notification] | None = None
        self._arrived: Condition | None = None
        self._room: Condition | None = None
        self._wake: Callable[[], None] | None = None
        self._tap: Callable[[Notification], object] | None = None
        self._end: SilboError | None = None

    # reading

    def get(self, timeout: float | None = None) -> Notification:
        """The next notification; waits for it, `TimeoutError` after `timeout` seconds.

        Raises `Closed` once the subscription ended and everything queued was read, or
        `SlowSubscriber` if that is why it ended.
        """
        self._check_readable()
        if timeout is not None and (not isinstance(timeout, int | float) or timeout != timeout):  # noqa: PLR0124  # NaN
            raise InvalidValue("timeout", f"seconds are expected, not {timeout!r}.")
        deadline = None if timeout is None else time.monotonic() + min(timeout, threading.TIMEOUT_MAX / 2)
        with self._lock:
            while (notification := self._take()) is None:
                if self._end is not None:
                    raise self._end.with_traceback(None)  # one error, raised to many: each has its own way
                self._wait(deadline, timeout)
            return notification

    def poll(self) -> Notification | None:
        """The next notification if one is queued, else None, at once."""
        self._check_readable()
        with self._lock:
            notification = self._take()
            if notification is None and isinstance(self._end, SlowSubscriber):
                raise self._end.with_traceback(None)
            return notification

    def drain(self) -> list[Notification]:
        """Everything queued, at once; raises `SlowSubscriber` when there is nothing and never will be."""
        with self._lock:
            drained = []
            notification = self.poll()
            while notification is not None:
                drained.append(notification)
                notification = self._take()
            return drained

    def __iter__(self) -> Iterator[Notification]:
        self._check_readable()
        return self

    def __next__(self) -> Notification:
        try:
            return self.get()
        except Closed:
            raise StopIteration from None

    def __len__(self) -> int:
        """How many notifications are queued."""
        return len(self._queue or ())

    def __bool__(self) -> bool:
        return True  # an empty queue is no missing subscription

    # ending

    @property
    def closed(self) -> bool:
        """Whether no more notifications will come."""
        return self._end is not None

    def close(self) -> None:
        """End the subscription (`unsubscribe`); what is queued can still be read."""
        self._session.unsubscribe(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.closed:
            self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{len(self)} queued"
        return f"<Subscription {self._session.name}/{self.id}: {state}>"

    # filling, under the broker's lock

    def _offer(self, notification: Notification) -> bool:
        """Queue a notification as the policy says; False if the publisher must wait for room."""
        if self._queue is None:
            self._queue = deque()
        if len(self._queue) >= self._limit:
            if self._slow == "block":
                return False
            if self._slow == "disconnect":
                self._end_slow()
                return True
            self._queue.popleft()
            self.dropped += 1
            self._session._broker._counts["dropped"] += 1
        self._put(notification)
        return True

    def _offer_waiting(self, notification: Notification) -> None:
        """Queue a notification, waiting for room up to the time-out; then the subscription ends as slow."""
        self._room = self._room or Condition(self._lock)
        has_room = self._room.wait_for(
            lambda: self._end is not None or len(self._queue or ()) < self._limit, self._block_timeout
        )
        if self._end is not None:
            return
        if has_room:
            self._put(notification)
        else:
            self._end_slow()

    def _end_slow(self) -> None:
        """End it because nobody reads it; with a callback nobody would hear of it, so it is also logged."""
        log.warning("subscription %s/%s ended: its queue of %d was full", self._session.name, self.id, self._limit)
        self._session._broker._counts["slow"] += 1
        self._session._end_subscription(self.id, SlowSubscriber(self.id, self._limit))

    def _end_with(self, why: SilboError) -> None:
        """Nothing more will come; tell everyone who waits."""
        self._end = why
        for waiting in (self._arrived, self._room):
            if waiting is not None:
                waiting.notify_all()
        if self._wake is not None:
            self._wake()

    def _on_arrival(self, wake: Callable[[], None]) -> None:
        """Have `wake` called, under the lock, whenever something was queued or the subscription ended."""
        with self._lock:
            self._wake = wake
            if self._queue or self._end is not None:
                wake()

    def _take_for_callback(self) -> tuple[Deliver, Notification] | None:
        """The callback and what it is called with next, if anything is queued."""
        notification = self._take()
        return None if notification is None or self._deliver is None else (self._deliver, notification)

    def _put(self, notification: Notification) -> None:
        assert self._queue is not None
        self._queue.append(notification)
        if self._tap is not None:
            self._tap(notification)
        if self._deliver is not None:
            self._session._dispatcher.schedule(self)
        elif self._arrived is not None:
            self._arrived.notify()
        if self._wake is not None:
            self._wake()

    def _take(self) -> Notification | None:
        if not self._queue:
            return None
        notification = self._queue.popleft()
        if self._room is not None:
            self._room.notify()
        return notification

    def _wait(self, deadline: float | None, timeout: float | None) -> None:
        self._arrived = self._arrived or Condition(self._lock)
        remaining = None if deadline is None else deadline - time.monotonic()
        if remaining is not None and (remaining <= 0 or not self._arrived.wait(remaining)) and not self._queue:
            raise TimeoutError(f"no notification for {self._session.name}/{self.id} within {timeout} s")
        if remaining is None:
            self._arrived.wait()

    def _check_readable(self) -> None:
        if self._deliver is not None:
            raise Refused(
                f"subscription {self.id!r} delivers to a callback. Subscribe without deliver= to read it yourself."
            )
