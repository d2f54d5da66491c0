"""Subscription handles: the ways to read a subscription's queue, and to end it.

`queue` holds the notifications and handles a full queue; `dispatch` calls callbacks.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING

from silbo.errors import Closed, InvalidValue, Refused, SilboError, SlowSubscriber
from silbo.model.notification import Notification
from silbo.session.queue import Observer, Queue

if TYPE_CHECKING:
    from typing_extensions import Self

    from silbo.session.verbs import Verbs

COROUTINE = 0x80  # the flag of `async def` functions' code (inspect.CO_COROUTINE; inspect is slow to import)


class Subscription:
    """The handle that `subscribe` returns: read it with `get`, `poll`, `drain` or `for`, end it with `close`."""

    __slots__ = ("_queue", "_verbs", "context", "filter", "id")

    def __init__(self, verbs: Verbs, queue: Queue, filter: str, context: str | None) -> None:
        self.id = queue.id
        self.filter = filter  # the content filter as text
        self.context = context  # the context function as text, or None
        self._verbs = verbs
        self._queue = queue

    # reading

    def get(self, timeout: float | None = None) -> Notification:
        """Wait for the next notification and return it; raises `TimeoutError` after `timeout` seconds.

        Raises `Closed` once the subscription has ended and its queue is empty, or
        `SlowSubscriber` if that is why it ended.
        """
        self._check_readable()
        deadline = None if timeout is None else time.monotonic() + _checked_timeout(timeout)
        with self._queue.lock:
            while (notification := self._queue.take()) is None:
                self._raise_end(Closed, SlowSubscriber)
                if not self._queue.wait_for_arrival(deadline):
                    raise TimeoutError(f"no notification for {self._verbs.name}/{self.id} within {timeout} s")
            return notification

    def poll(self) -> Notification | None:
        """Return the next notification if one is queued, else None; never waits."""
        self._check_readable()
        with self._queue.lock:
            notification = self._queue.take()
            if notification is None:
                self._raise_end(SlowSubscriber)
            return notification

    def drain(self) -> list[Notification]:
        """Return everything queued; raises `SlowSubscriber` if that ended the subscription and the queue is empty."""
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
        return self._queue.waiting

    def __bool__(self) -> bool:
        return True  # a subscription with an empty queue is still a subscription

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
        """End the subscription (`unsubscribe`); a second call does nothing.

        Queued notifications can still be read. With a callback, the pending calls run first, for a few seconds at
        most; the callback is not called after `close` has returned. If a callback of the session calls `close`, the
        pending calls do not run.
        """
        verbs = self._verbs
        with verbs.lock:
            if self.closed:
                return
            acknowledgement = verbs.end(self)
        verbs.settle(acknowledgement.result())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{len(self)} queued"
        return f"<Subscription {self._verbs.name}/{self.id}: {state}>"

    def _observe(self, observer: Observer) -> None:
        """Call the observer, under the lock, for each arrival and for the end."""
        self._queue.observe(observer)

    def _check_active(self, broker: object) -> None:
        """Raise unless the subscription is active at this broker."""
        if self._verbs.link.broker is not broker:
            raise InvalidValue("subscription", f"{self!r} is of another broker. Ask that one.")
        if self.closed:
            self._raise_end(SilboError)

    def _raise_end(self, *kinds: type[SilboError]) -> None:
        # several readers may raise the same end: each raises its own copy
        if isinstance(self._queue.end, kinds):
            raise copy.copy(self._queue.end)

    def _check_readable(self) -> None:
        if self._queue.deliver is not None:
            raise Refused(
                f"subscription {self.id!r} delivers to a callback. Subscribe without deliver= to read it yourself."
            )


def check_options(queue: object, slow: object, block_timeout: object, deliver: object, on_close: object) -> None:
    """Refuse invalid options before anything is changed."""
    if type(queue) is not int or queue < 1:
        raise InvalidValue("queue", f"a queue holds at least one notification, not {queue!r}.")
    if slow not in ("disconnect", "drop_oldest", "block"):
        raise InvalidValue("slow", f"expected 'disconnect', 'drop_oldest' or 'block', not {slow!r}.")
    if _checked_timeout(block_timeout, "block_timeout") <= 0:
        raise InvalidValue("block_timeout", f"seconds greater than 0 are expected, not {block_timeout!r}.")
    _check_callback("deliver", deliver)
    _check_callback("on_close", on_close)
    if on_close is not None and deliver is None:
        raise InvalidValue("on_close", "it goes with deliver=; who reads the subscription meets its end there.")


def _check_callback(path: str, callback: object) -> None:
    code = getattr(callback, "__code__", None)
    if callback is not None and (not callable(callback) or (code is not None and code.co_flags & COROUTINE)):
        raise InvalidValue(path, f"an ordinary function is expected, not {callback!r}. For asyncio: silbo.aio.")


def _checked_timeout(timeout: object, path: str = "timeout") -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout != timeout:  # noqa: PLR0124  # NaN
        raise InvalidValue(path, f"seconds are expected, not {timeout!r}.")
    return min(timeout, TIMEOUT_MAX / 2)
