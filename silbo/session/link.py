"""The link: what a session speaks to, and the acknowledgements that come back.

A link takes the events of one session to an engine: the broker of this process, Kafka, or a fake for tests. It raises
at once what it can refuse at once; everything else comes with the acknowledgement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from silbo.matching.candidates import NOWHERE, Sink
from silbo.matching.explanation import Explanation
from silbo.model.events import Dropped, Event, Publish
from silbo.model.notification import Publication
from silbo.model.readonly import ReadOnlyDict
from silbo.model.values import Context

if TYPE_CHECKING:
    from silbo.session.queue import Queue

T = TypeVar("T")
U = TypeVar("U")
T_co = TypeVar("T_co", covariant=True)


class Acknowledgement(Protocol[T_co]):
    """The answer to an event: there at once, later, or never. A `concurrent.futures.Future` is one."""

    def done(self) -> bool:
        """Whether the answer is there, so that `result` does not wait."""

    def result(self, timeout: float | None = None) -> T_co:
        """Wait for the answer and return what the event changed, or raise the reason of its refusal."""


class Acknowledged(Generic[T]):
    """An answer that is there at once."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def done(self) -> bool:
        """Always true."""
        return True

    def result(self, timeout: float | None = None) -> T:  # noqa: ARG002  # there is nothing to wait for
        """The answer."""
        return self.value


class Chained(Generic[T, U]):
    """A later answer, and what the session does with it: once, as soon as the answer is there."""

    def __init__(self, first: Acknowledgement[T], then: Callable[[T], U], lock: RLock) -> None:
        self.first = first
        self._then = then
        self._lock = lock
        self._results: list[U] = []  # empty until `then` was called
        # a verb that nobody waits for any more is carried out all the same
        if (call_later := getattr(first, "add_done_callback", None)) is not None:
            call_later(self._settle)

    def _settle(self, _: object) -> None:
        with suppress(Exception):  # `result` raises it
            self.result(0)

    def done(self) -> bool:
        """Whether the answer is there."""
        return self.first.done()

    def result(self, timeout: float | None = None) -> U:
        """Wait for the answer, and return what the session made of it."""
        answer = self.first.result(timeout)
        with self._lock:
            if not self._results:
                self._results.append(self._then(answer))
            return self._results[0]


DONE: Acknowledged[None] = Acknowledged(None)
OWN: Context = ReadOnlyDict()  # in a publish that is submitted: the session's own context, as it is at that moment


def chained(first: Acknowledgement[T], then: Callable[[T], U], lock: RLock) -> Acknowledgement[U]:
    """What `then` makes of an answer, now if the answer is there."""
    if isinstance(first, Acknowledged):
        return Acknowledged(then(first.value))
    return Chained(first, then, lock)


class BrokerHandle(Protocol):
    """What `session.broker` is. An engine without one of these verbs raises `Refused` and names what to use instead."""

    @property
    def closed(self) -> bool:
        """Whether the broker is closed."""

    @property
    def sessions(self) -> tuple[Any, ...]:
        """The open sessions, the oldest first."""

    def connect(self, name: str | None = None) -> Any:
        """Open another session."""

    def set_contexts(self, sessions: Any, values: Any) -> None:
        """Change the contexts of many sessions at once, all or nothing."""

    def explain(self, message: Any, subscription: Any) -> Explanation:
        """Say why a subscription would get a message or not."""

    def tables(self) -> str:
        """The tables in the paper's notation."""

    def stats(self) -> dict[str, Any]:
        """Counts of what is connected now and of what happened."""

    def close(self) -> None:
        """Close every session."""


class Link(Protocol):
    """Takes the events of one session to its engine."""

    lock: RLock  # of the session's handles and of its queues; never held while something waits for another machine

    @property
    def name(self) -> str:
        """The session's label."""

    @property
    def uuid(self) -> str:
        """The session's identity."""

    @property
    def log_name(self) -> str:
        """The session's name in events: its label, or its UUID if another session has the same label."""

    @property
    def broker(self) -> BrokerHandle:
        """What `session.broker` returns."""

    @property
    def patience(self) -> float | None:
        """The seconds that a verb waits for its acknowledgement; None if the link itself sees to an answer in time."""

    def submit(self, event: Event, sink: Sink = NOWHERE) -> Acknowledgement[Any]:
        """Take an event to the engine; returns or raises as `Core.apply` does, now or with the acknowledgement.

        A publish whose context is `OWN` gets the session's own context.
        """

    def submit_all(self, events: Sequence[Publish]) -> Acknowledgement[list[Publication]]:
        """Take publishes to the engine, which accepts all or none."""

    def move(self, values: dict[str, Any]) -> bool:
        """Write floats over the floats of the context, if that is all there is to it; returns whether it is.

        This is the one shortcut past `submit` and `Core.apply`, for the most frequent change. It has the same effect.
        """

    def context(self) -> Context:
        """The session's context as it is now."""

    @property
    def is_prepared(self) -> bool:
        """Whether a subscription finds everything loaded."""

    def prepare(self) -> None:
        """Load or compile what the first subscription needs. The caller does not hold the lock."""

    def abandon(self) -> None:
        """Refuse all further events: the engine belongs to the parent of this forked process."""

    # what full queues do; the caller holds the lock

    def note_dropped(self, queue: Queue, dropped: Publication) -> None:
        """A full queue dropped a publication."""

    def dropped_entry(self, queue: Queue, dropped: Publication) -> Dropped:
        """What an event says of a dropped publication."""

    def note_blocked(self, queue: Queue, ticket: int) -> None:
        """A publication waits for room, so its publisher must wait as well."""

    def note_slow(self, queue: Queue) -> None:
        """A subscription ends because its queue is full."""
