"""Subscriptions as users hold them: ways to read a queue, and its end.

What is queued and what happens when a queue is full is `queue`'s business; callbacks are `dispatch`'s.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING, Self, TypeAlias

from silbo.broker.queue import Observer, Queue
from silbo.errors import Closed, InvalidValue, Refused, SilboError, SlowSubscriber
from silbo.model.notification import Notification

if TYPE_CHECKING:
    from silbo.broker.session import Session

Deliver: TypeAlias = Callable[[Notification], object]

COROUTINE = 0x80  # the flag of `async def` functions' code (inspect.CO_COROUTINE; inspect is slow to import)


class Subscription:
    """What `subscribe` gives: read it with `get`, `poll`, `drain` or `for`, end it with `close`."""

    __slots__ = ("_block_timeout", "_deliver", "_queue", "_session", "id")

    def __init__(self, session: Session, id: str, queue: Queue, deliver: Deliver | None, block_timeout: float) -> None:
        self.id = id
        self._session = session
        self._queue = queue
        self._deliver = deliver
        self._block_timeout = block_timeout
        if deliver is not None:
            queue.observers = (lambda _: session._dispatcher.schedule(self),)

    # reading

    def get(self, timeout: float | None = None) -> Notification:
        """The next notification; waits for it, `TimeoutError` after `timeout` seconds.

        Raises `Closed` once the subscription ended and everything queued was read, or
        `SlowSubscriber` if that is why it ended.
        """
        self._check_readable()
        deadline = None if timeout is None else time.monotonic() + _checked_timeout(timeout)
        with self._queue.lock:
            while (notification := self._queue.take()) is None:
                self._raise_end(Closed, SlowSubscriber)
                if not self._queue.wait_for_arrival(deadline):
                    raise TimeoutError(f"no notification for {self._session.name}/{self.id} within {timeout} s")
            return notification

    def poll(self) -> Notification | None:
        """The next notification if one is queued, else None, at once."""
        self._check_readable()
        with self._queue.lock:
            notification = self._queue.take()
            if notification is None:
                self._raise_end(SlowSubscriber)
            return notification

    def drain(self) -> list[Notification]:
        """Everything queued, at once; raises `SlowSubscriber` when there is nothing and never will be."""
        with self._queue.lock:
            drained = []
            notification = self.poll()
            while notification is not None:
                drained.append(notification)
                notification = self._queue.take()
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
        return len(self._queue)

    def __bool__(self) -> bool:
        return True  # an empty queue is no missing subscription

    @property
    def dropped(self) -> int:
        """How many notifications were dropped because the queue was full."""
        return self._queue.dropped

    # ending

    @property
    def closed(self) -> bool:
        """Whether no more notifications will come."""
        return self._queue.end is not None

    def close(self) -> None:
        """End the subscription (`unsubscribe`); what is queued can still be read, callbacks that are due still run."""
        self._session.unsubscribe(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._session._lock:
            if not self.closed:
                self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{len(self)} queued"
        return f"<Subscription {self._session.name}/{self.id}: {state}>"

    # filling, under the broker's lock

    def _offer(self, notification: Notification) -> int | None:
        """Queue a notification as the policy says; a ticket if the publisher must wait for room."""
        queue = self._queue
        with queue.lock:
            if queue.end is not None:
                return None
            if queue.must_wait:
                return queue.put_behind(notification)
            is_too_slow = queue.is_full and queue.slow == "disconnect"
            if not is_too_slow and queue.put(notification):
                self._session._broker._counts["dropped"] += 1
        if is_too_slow:
            self._end_slow()
        return None

    def _wait_for_room(self, ticket: int, since: float) -> None:
        """Wait for room up to the time-out, counted from `since`; then the subscription ends as slow."""
        remaining = self._block_timeout - (time.monotonic() - since)
        if not self._queue.wait_for_room(ticket, max(0.0, remaining)):
            with self._session._lock:
                if not self.closed:
                    self._end_slow()

    def _end_slow(self) -> None:
        """End it because nobody reads it; with a callback nobody would hear of it, so it is also reported."""
        session = self._session
        session._broker._report_slow(f"{session.name}/{self.id}", self._queue.limit)
        session._end_subscription(self.id, SlowSubscriber(self.id, self._queue.limit))

    def _observe(self, observer: Observer) -> None:
        """Have the observer told, under the lock, of each arrival and of the end."""
        self._queue.observers += (observer,)

    def _raise_end(self, *kinds: type[SilboError]) -> None:
        # one end, met by many readers: each raises an error of its own
        if isinstance(self._queue.end, kinds):
            raise copy.copy(self._queue.end)

    def _check_readable(self) -> None:
        if self._deliver is not None:
            raise Refused(
                f"subscription {self.id!r} delivers to a callback. Subscribe without deliver= to read it yourself."
            )


def check_options(queue: object, slow: object, block_timeout: object, deliver: object) -> None:
    """Refuse options that mean nothing, before anything was changed."""
    if type(queue) is not int or queue < 1:
        raise InvalidValue("queue", f"a queue holds at least one notification, not {queue!r}.")
    if slow not in ("disconnect", "drop_oldest", "block"):
        raise InvalidValue("slow", f"expected 'disconnect', 'drop_oldest' or 'block', not {slow!r}.")
    if _checked_timeout(block_timeout, "block_timeout") <= 0:
        raise InvalidValue("block_timeout", f"seconds greater than 0 are expected, not {block_timeout!r}.")
    code = getattr(deliver, "__code__", None)
    if deliver is not None and (not callable(deliver) or (code is not None and code.co_flags & COROUTINE)):
        raise InvalidValue("deliver", f"an ordinary function is expected, not {deliver!r}. For asyncio: silbo.aio.")


def _checked_timeout(timeout: object, path: str = "timeout") -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout != timeout:  # noqa: PLR0124  # NaN
        raise InvalidValue(path, f"seconds are expected, not {timeout!r}.")
    return min(timeout, TIMEOUT_MAX / 2)
