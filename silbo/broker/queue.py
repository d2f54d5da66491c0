"""A bounded queue of notifications: what waits to be read, and what happens when it is full.

Everything here is called under the broker's lock. Nothing waits for ever, and nothing is lost silently:
what a policy gives up is counted (`dropped`) or ends the queue with an error that its reader meets.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Condition, RLock
from typing import Literal, TypeAlias

from silbo.errors import SilboError
from silbo.model.notification import Notification

Slow: TypeAlias = Literal["disconnect", "drop_oldest", "block"]
Observer: TypeAlias = Callable[[Notification | None], object]  # told of each arrival, and None at the end

QUEUE = 65_536  # notifications; a subscriber further behind than this is slower than its own traffic
BLOCK_TIMEOUT = 5.0  # seconds that a publisher waits for room


class Queue:
    """First in, first out. With the policy 'block', what finds no room stands behind it in an overflow.

    The overflow holds what publishers are waiting to put in, in their order, so that nobody overtakes.
    """

    __slots__ = (
        "_arrived", "_moved", "_overflow", "_room", "_waiting", "dropped", "end", "limit", "lock", "observers", "slow",
    )  # fmt: skip

    def __init__(self, lock: RLock, limit: int, slow: Slow) -> None:
        self.lock = lock  # whoever reads it or puts something in holds it
        self.limit = limit  # how many it holds at most
        self.slow: Slow = slow
        self.dropped = 0
        self.end: SilboError | None = None
        self.observers: tuple[Observer, ...] = ()
        # most subscriptions of a large broker are quiet: what they do not use is not made.
        self._waiting: deque[Notification] | None = None
        self._overflow: deque[Notification] | None = None
        self._moved = 0  # how many left the overflow
        self._arrived: Condition | None = None
        self._room: Condition | None = None

    def __len__(self) -> int:
        return len(self._waiting or ())

    @property
    def is_full(self) -> bool:
        """Whether nothing more has room."""
        return len(self) >= self.limit

    @property
    def must_wait(self) -> bool:
        """Whether a publisher has to wait. While others do there is no room: what is taken is made up at once."""
        return self.slow == "block" and self.is_full

    def put_if_room(self, notification: Notification) -> bool:
        """Add one at the end if it has room there; whether it had."""
        waiting = self._waiting
        if waiting is None:
            waiting = self._waiting = deque()
        if self.end is not None or len(waiting) >= self.limit:
            return False
        waiting.append(notification)
        if self._arrived is not None or self.observers:
            self._tell(notification)
        return True

    def put(self, notification: Notification) -> bool:
        """Add one at the end; a full queue loses its first. Whether one was lost."""
        if self._waiting is None:
            self._waiting = deque()
        is_full = self.is_full
        if is_full:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(notification)
        self._tell(notification)
        return is_full

    def put_behind(self, notification: Notification) -> int:
        """Have one wait for room; the ticket to wait with."""
        if self._overflow is None:
            self._overflow = deque()
        self._overflow.append(notification)
        return self._moved + len(self._overflow)

    def take(self) -> Notification | None:
        """The first, or None; what waits for room moves up."""
        if not self._waiting:
            return None
        notification = self._waiting.popleft()
        if self._overflow:
            moved = self._overflow.popleft()
            self._waiting.append(moved)
            self._moved += 1
            self._tell(moved)
            if self._room is not None:
                self._room.notify_all()
        return notification

    def wait_for_room(self, ticket: int, timeout: float) -> bool:
        """Wait until the ticket's notification is in, or the queue ended; False if neither came in time."""
        with self.lock:
            self._room = self._room or Condition(self.lock)
            return self._room.wait_for(lambda: self.end is not None or self._moved >= ticket, timeout)

    def wait_for_arrival(self, deadline: float | None) -> bool:
        """Wait until something may have come; False once the deadline has passed."""
        self._arrived = self._arrived or Condition(self.lock)
        remaining = None if deadline is None else deadline - time.monotonic()
        if remaining is not None and remaining <= 0:
            return False
        self._arrived.wait(remaining)
        return True

    def close(self, why: SilboError) -> None:
        """Nothing more will come: what waits for room is given up, whoever waits is told."""
        with self.lock:
            self.end = why
            self._overflow = None
            for waiting in (self._arrived, self._room):
                if waiting is not None:
                    waiting.notify_all()
            self._tell(None)

    def _tell(self, notification: Notification | None) -> None:
        if self._arrived is not None:
            self._arrived.notify()
        for observer in self.observers:
            observer(notification)
