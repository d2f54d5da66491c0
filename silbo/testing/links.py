"""Links for tests: one that acknowledges late, out of step or never, and a Kafka in memory with a job that matches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from types import SimpleNamespace
from typing import Any, Literal

from silbo.embedded.broker import Broker
from silbo.errors import NotAcknowledged, SilboError
from silbo.matching.candidates import NOWHERE, Sink
from silbo.model.events import Event, Publish
from silbo.model.notification import Publication
from silbo.session.link import Acknowledgement, Link
from silbo.session.session import Session
from silbo.session.verbs import Verbs
from silbo.streaming.bulk.chunks import Chunk, ShardBatch
from silbo.streaming.bulk.step import Settings, State, step
from silbo.streaming.kafka.connection import KafkaConnection
from silbo.testing.own.notified import notification_records
from silbo.wire.records import Record, encode

Order = Literal["oldest", "newest", "never"]

HELD = 0.005  # seconds in which acknowledgements collect, so that several can be given out of step


class LateBroker:
    """A broker whose acknowledgements come later: the oldest first, the newest first, or never."""

    def __init__(self, broker: Broker, order: Order = "oldest", patience: float = 30.0) -> None:
        self.broker = broker
        self.patience = patience
        self._order = order
        self._held: list[tuple[Future[Any], Callable[[], None]]] = []
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._acknowledge, daemon=True)
        self._thread.start()

    def connect(self, name: str | None = None) -> Session:
        """Open a session whose verbs wait for late acknowledgements."""
        inner = self.broker.connect(name)._verbs.link
        return Session(Verbs(LateLink(self, inner), {"callback_errors": 0}))

    def close(self) -> None:
        """Stop acknowledging, and close the broker."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()
        self.broker.close()

    def hold(self, work: Callable[[], Any]) -> Future[Any]:
        """Do the work at once, and give its answer later."""
        future: Future[Any] = Future()
        try:
            result = work()
        except SilboError as error:  # the caller gets it with the acknowledgement
            answer: Callable[[], None] = partial(future.set_exception, error)
        else:
            answer = partial(future.set_result, result)
        with self._changed:
            self._held.append((future, answer))
            self._changed.notify()
        return future

    def _acknowledge(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed or (self._held and self._order != "never"))
                if self._is_closed:
                    return
                self._changed.wait(HELD)
                _, answer = self._held.pop(0 if self._order == "oldest" else -1)
            answer()


class LateLink:
    """Passes everything on to another link, and holds its answers back."""

    def __init__(self, late: LateBroker, inner: Link) -> None:
        self._late = late
        self._inner = inner
        self.patience = late.patience

    def submit(self, event: Event, sink: Sink = NOWHERE) -> Acknowledgement[Any]:
        """Apply the event now, and acknowledge it later; a refusal comes with the acknowledgement too."""
        return self._late.hold(lambda: self._inner.submit(event, sink).result())

    def submit_all(self, events: Sequence[Publish]) -> Acknowledgement[list[Publication]]:
        """Apply many publishes now, and acknowledge them later."""
        return self._late.hold(lambda: self._inner.submit_all(events).result())

    def move(self, values: dict[str, Any]) -> bool:  # noqa: ARG002  # every change is an event here
        """Return False: every change is an event here."""
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class FakeKafka:
    """Kafka and the job in memory: the records of a flush are matched by the job's own step, and can be polled.

    Sending fails for the types of records in `fails_at`.
    """

    def __init__(self) -> None:
        self.sent: list[Record] = []
        self.fails_at: tuple[type, ...] = ()
        self.flushes = 0
        self.patience: list[float | None] = []  # how long each record was allowed to wait; None: as long as usual
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self._waiting: list[tuple[str, Record]] = []
        self._state = State(Settings(order="arrival"))
        self._arrived: SimpleQueue[Any] = SimpleQueue()

    def send(self, role: str, key: str, record: Record, seconds: float | None = None) -> None:  # noqa: ARG002  # one partition
        """Take a record."""
        self.patience.append(seconds)
        if type(record) in self.fails_at:
            raise NotAcknowledged("Kafka is away")
        self.sent.append(record)
        self._waiting.append((role, record))

    def flush(self, seconds: float | None = None) -> None:  # noqa: ARG002
        """Match everything that was sent, once `may_go_on` is set."""
        self.may_go_on.wait()
        self.flushes += 1
        waiting, self._waiting = self._waiting, []
        chunks = [Chunk(role, 0, each.time, [0], [0], [each]) for role, each in waiting]
        for notified in notification_records(step(self._state, ShardBatch(chunks)).matches):
            record = SimpleNamespace(key=notified.subscriber_uuid.encode(), value=encode(notified))
            self._arrived.put(record)

    def poll(self, timeout_ms: int) -> Mapping[Any, Sequence[Any]]:
        """The next notification, if one comes in time."""
        with suppress(Empty):
            return {0: [self._arrived.get(timeout=timeout_ms / 1_000)]}
        return {}

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def connection(self) -> KafkaConnection:
        """A new connection to this Kafka."""
        return KafkaConnection(self, self)


@contextmanager
def brokers(kind: str) -> Iterator[Any]:
    """A broker of each kind of link: "embedded", "kafka", "late" or "out of step"."""
    made: dict[str, Callable[[], Any]] = {
        "embedded": lambda: Broker(index="plain"),
        "kafka": lambda: FakeKafka().connection(),
        "late": lambda: LateBroker(Broker(index="plain")),
        "out of step": lambda: LateBroker(Broker(index="plain"), "newest"),
    }
    broker = made[kind]()
    try:
        yield broker
    finally:
        broker.close()
