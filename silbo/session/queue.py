"""A bounded queue of unread publications, and the policies for a full queue.

The queue of a subscription is a list of references to publications: those who get one message share it, and the
`Notification` is made when it is read. Everything here is called under the queue's lock. Nothing waits forever, and
nothing is lost silently: a publication that a policy drops is counted (`dropped`), or ends the queue with an error
that its reader gets.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from threading import Condition, RLock
from typing import Literal, Protocol, TypeAlias

from silbo.errors import SilboError
from silbo.model.notification import Notification, Publication, notification_of

Slow: TypeAlias = Literal["disconnect", "drop_oldest", "block"]
Deliver: TypeAlias = Callable[[Notification], object]
OnClose: TypeAlias = Callable[[SilboError], object]  # called with `Closed` or `SlowSubscriber`
Observer: TypeAlias = Callable[[bool], object]  # called with False for each arrival, and with True at the end

QUEUE = 65_536  # notifications; a subscriber further behind than this is slower than its own traffic
BLOCK_TIMEOUT = 5.0  # seconds that a publisher waits for room
READ = 64  # entries at the front that were read and may stay before the list is cut


class Keeper(Protocol):
    """The session of a queue, which gets a call when the queue's policy did something."""

    def note_dropped(self, queue: Queue, dropped: Publication) -> None:
        """The queue dropped a publication."""

    def note_blocked(self, queue: Queue, ticket: int) -> None:
        """A publication waits for room in the queue."""

    def end_slow(self, queue: Queue, at: int | None) -> None:
        """The queue is full, and its subscription ends; `at` is the time of the publication without room."""


class Queue(list[Publication]):
    """First in, first out. With the policy 'block', publications without room wait in an overflow.

    The overflow holds the publications of waiting publishers in their order, so that none overtakes another.
    An idle queue is an empty list: a large broker has many.
    """

    __slots__ = (
        "_arrived", "_end_taken", "_freed", "_keeper", "_moved", "_overflow", "_read", "_readers", "asked",
        "block_timeout", "deliver", "dropped", "end", "id", "limit", "lock", "observers", "on_close", "room", "slow",
        "subscriber",
    )  # fmt: skip

    def __init__(
        self,
        keeper: Keeper,
        lock: RLock,
        subscriber: str,
        id: str,
        asked: AbstractSet[str],
        *,
        limit: int = QUEUE,
        slow: Slow = "disconnect",
        block_timeout: float = BLOCK_TIMEOUT,
        deliver: Deliver | None = None,
        on_close: OnClose | None = None,
    ) -> None:
        self.lock = lock
        self.subscriber = subscriber  # the session's name
        self.id = id
        self.asked = asked  # the publisher's variables that notifications show
        self.limit = limit  # notifications that it holds at most
        self.slow: Slow = slow
        self.block_timeout = block_timeout
        self.deliver = deliver
        self.on_close = on_close
        self.dropped = 0
        self.end: SilboError | None = None
        self.observers: tuple[Observer, ...] = ()
        # while the list is shorter than this, `append` is all that an arrival needs (`Sink`)
        self.room = limit
        self._keeper = keeper
        self._read = 0  # entries at the front of the list that were read
        self._readers = 0  # threads that wait for an arrival
        self._moved = 0  # publications that have left the overflow
        self._end_taken = False
        # most queues never need these parts
        self._overflow: deque[Publication] | None = None
        self._arrived: Condition | None = None
        self._freed: Condition | None = None

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:  # type: ignore[override]  # a queue is a key: it is compared by identity
        return id(self)

    @property
    def waiting(self) -> int:
        """The number of unread publications."""
        return len(self) - self._read

    def _set_room(self) -> None:
        """Send arrivals to `put` if the queue has ended, or if a reader or an observer waits."""
        is_quiet = self.end is None and not self.observers and not self._readers
        self.room = self.limit + self._read if is_quiet else -1

    # arrivals

    def put(self, publication: Publication) -> None:
        """Take a publication by the policy if there is no room, and tell those who wait for it."""
        with self.lock:
            if self.end is not None:
                return
            if self.waiting < self.limit:
                self.append(publication)
                self._tell()
                return
            if self.slow == "block":
                self._put_behind(publication)
                return
            if self.slow == "drop_oldest":
                oldest = self._pop()
                self.dropped += 1
                self.append(publication)
                self._tell()
                self._keeper.note_dropped(self, oldest)
                return
        self._keeper.end_slow(self, publication.time)

    def _put_behind(self, publication: Publication) -> None:
        if self._overflow is None:
            self._overflow = deque()
        self._overflow.append(publication)
        self._keeper.note_blocked(self, self._moved + len(self._overflow))

    def _tell(self, *, is_end: bool = False) -> None:
        if self._arrived is not None:
            self._arrived.notify()
        for observer in self.observers:
            observer(is_end)

    def observe(self, observer: Observer) -> None:
        """Call the observer, under the lock, for each arrival and for the end."""
        self.observers += (observer,)
        self._set_room()

    # reading

    def newest(self) -> Notification:
        """The notification of the last publication that arrived, which stays in the queue."""
        return notification_of(self[-1], self.subscriber, self.id, self.asked)

    def take(self) -> Notification | None:
        """Remove the first publication and return its notification, or None; the first of the overflow moves up."""
        if len(self) == self._read:
            return None
        publication = self._pop()
        if self._overflow:
            self.append(self._overflow.popleft())
            self._moved += 1
            self._tell()
            if self._freed is not None:
                self._freed.notify_all()
        return notification_of(publication, self.subscriber, self.id, self.asked)

    def _pop(self) -> Publication:
        publication = self[self._read]
        self._read += 1
        if self._read == len(self):
            self.clear()
            self._read = 0
        elif self._read >= READ and 2 * self._read >= len(self):
            del self[: self._read]  # cutting costs as much as the reads that it follows
            self._read = 0
        else:
            self[self._read - 1] = None  # type: ignore[call-overload]  # nobody reads it again
        self._set_room()
        return publication

    def wait_for_arrival(self, deadline: float | None) -> bool:
        """Wait until something may have arrived; False once the deadline has passed."""
        self._arrived = self._arrived or Condition(self.lock)
        remaining = None if deadline is None else deadline - time.monotonic()
        if remaining is not None and remaining <= 0:
            return False
        self._readers += 1
        self._set_room()
        try:
            self._arrived.wait(remaining)
        finally:
            self._readers -= 1
            self._set_room()
        return True

    # room

    def wait_for_room(self, ticket: int, timeout: float) -> bool:
        """Wait until the ticket's publication is queued or the queue has ended; False if the time-out passes first."""
        with self.lock:
            self._freed = self._freed or Condition(self.lock)
            return self._freed.wait_for(lambda: self.end is not None or self._moved >= ticket, timeout)

    def give_up(self) -> None:
        """End the subscription as slow, because a publisher has waited for room in vain."""
        self._keeper.end_slow(self, None)

    @property
    def overflow(self) -> Sequence[Publication]:
        """The publications of waiting publishers."""
        return tuple(self._overflow or ())

    # the end

    def take_end(self) -> bool:
        """Whether `on_close` must be called now: once, after the last notification. For the callback thread only."""
        if self.on_close is None:
            return False
        with self.lock:
            is_due = self.end is not None and not self.waiting and not self._end_taken
            self._end_taken = self._end_taken or is_due
            return is_due

    def discard(self) -> None:
        """Remove everything that is queued."""
        with self.lock:
            self.clear()
            self._read = 0
            self._set_room()

    def close(self, why: SilboError) -> None:
        """End the queue: drop the overflow, and wake all waiting readers and publishers."""
        with self.lock:
            self.end = why
            self._set_room()
            self._overflow = None
            for waiting in (self._arrived, self._freed):
                if waiting is not None:
                    waiting.notify_all()
            self._tell(is_end=True)

    def abandon(self, why: SilboError) -> None:
        """End the queue without waking anybody."""
        self.end = why
        self._set_room()


def wait_for_room(tickets: dict[Queue, int], since: float) -> None:
    """Wait for room in full queues, each until its time-out, after which its subscription ends as slow."""
    for queue, ticket in tickets.items():
        remaining = queue.block_timeout - (time.monotonic() - since)
        if not queue.wait_for_room(ticket, max(0.0, remaining)):
            queue.give_up()
