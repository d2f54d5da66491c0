"""The same sessions for asyncio: `session = await silbo.aio.connect("memory://city", "car-1")`.

An `AsyncSession` belongs to the loop it was made in. Verbs that may wait for another (a publish that
meets a full queue with slow='block') wait in a thread, so the loop goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Generator, Iterable, Mapping
from typing import Any, Self

from silbo.broker.broker import Broker, Tickets
from silbo.broker.delivery import Subscription
from silbo.broker.queue import BLOCK_TIMEOUT, QUEUE, Slow
from silbo.broker.session import (
    Advertisement,
    ArrowTable,
    FilterLike,
    FunctionLike,
    Receipt,
    ScopeLike,
    Session,
)
from silbo.engines.connect import connect as connect_session
from silbo.errors import Closed, Refused
from silbo.model.notification import Notification
from silbo.model.values import Context

__all__ = ["AsyncSession", "AsyncSubscription", "connect"]


def connect(url: str | Broker = "memory://", name: str | None = None) -> Connecting:
    """A session of the engine that the URL names, or of a broker at hand: `await` it, or `async with` it."""
    return Connecting(url, name)


class Connecting:
    """A session to come: `session = await connect(…)`, or `async with connect(…) as session`."""

    def __init__(self, url: str | Broker, name: str | None) -> None:
        self._url = url
        self._name = name
        self._session: AsyncSession | None = None

    def __await__(self) -> Generator[Any, None, AsyncSession]:
        return self._connect().__await__()

    async def __aenter__(self) -> AsyncSession:
        self._session = await self._connect()
        return self._session

    async def __aexit__(self, *_: object) -> None:
        assert self._session is not None
        await self._session.__aexit__()

    async def _connect(self) -> AsyncSession:
        broker = self._url if isinstance(self._url, Broker) else None
        return AsyncSession(
            connect_session(str(self._url), self._name) if broker is None else broker.connect(self._name)
        )


class AsyncSubscription:
    """What `subscribe` gives: `await get()`, `async for`, `poll`, `drain`, `await close()`."""

    def __init__(self, session: AsyncSession, subscription: Subscription) -> None:
        self._session = session
        self._subscription = subscription
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._waking = False
        subscription._observe(self._notice)

    @property
    def id(self) -> str:
        """Its id in the session."""
        return self._subscription.id

    @property
    def dropped(self) -> int:
        """How many notifications were dropped because the queue was full."""
        return self._subscription.dropped

    @property
    def closed(self) -> bool:
        """Whether no more notifications will come."""
        return self._subscription.closed

    async def get(self, timeout: float | None = None) -> Notification:
        """The next notification; `TimeoutError` after `timeout` seconds, `Closed` or `SlowSubscriber` at the end."""
        self._session._check_loop()
        try:
            async with asyncio.timeout(timeout):
                return await self._next()
        except TimeoutError:
            raise TimeoutError(f"no notification for {self._session.name}/{self.id} within {timeout} s") from None

    async def _next(self) -> Notification:
        while True:
            self._arrived.clear()
            try:
                return self._subscription.get(timeout=0)
            except TimeoutError:
                await self._arrived.wait()

    def poll(self) -> Notification | None:
        """The next notification if one is queued, else None."""
        return self._subscription.poll()

    def drain(self) -> list[Notification]:
        """Everything queued."""
        return self._subscription.drain()

    async def __aiter__(self) -> AsyncIterator[Notification]:
        while True:
            try:
                notification = await self.get()
            except Closed:
                return
            yield notification

    async def close(self) -> None:
        """End the subscription; what is queued can still be read."""
        self._subscription.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self.closed:
            await self.close()

    def __repr__(self) -> str:
        return repr(self._subscription).replace("<Subscription", "<AsyncSubscription")

    def _notice(self, _: object) -> None:
        """Called in the publisher's thread: wake the loop, once until it woke, unless it is over."""
        if not self._waking:
            self._waking = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._waking = False
        self._arrived.set()


class AsyncSession:
    """A `Session` whose verbs are awaited. Made by `silbo.aio.connect`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()

    @property
    def name(self) -> str:
        """The label it was connected with."""
        return self._session.name

    @property
    def uuid(self) -> str:
        """Its identity, made by the broker."""
        return self._session.uuid

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._session.closed

    @property
    def broker(self) -> Broker:
        """The broker it is connected to."""
        return self._session.broker

    @property
    def _own(self) -> Session:
        """The session behind it, for its own loop alone."""
        self._check_loop()
        return self._session

    def _check_loop(self) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise Refused(f"session {self.name!r} belongs to another event loop. Connect in the loop that uses it.")

    @property
    def context(self) -> Context:
        """Its context as it is now; read-only."""
        return self._session.context

    async def set_context(self, mapping: Mapping[str, Any] | None = None, /, **values: Any) -> None:
        """As `Session.set_context`."""
        self._own.set_context(mapping, **values)

    setContext = set_context  # noqa: N815  # the paper's spelling

    async def advertise(
        self,
        filter: FilterLike,
        *,
        offers: Iterable[str] | None = None,
        reads: Iterable[str] | None = None,
        id: str | None = None,
    ) -> Advertisement:
        """As `Session.advertise`."""
        return self._own.advertise(filter, offers=offers, reads=reads, id=id)

    async def unadvertise(self, advertisement: Advertisement | str) -> None:
        """As `Session.unadvertise`."""
        self._own.unadvertise(advertisement)

    async def publish(
        self,
        attributes: Mapping[str, Any],
        *,
        scope: ScopeLike | None = None,
        payload: bytes | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """As `Session.publish`. Waiting for room it can be cancelled; the message is published all the same."""
        receipt, tickets = self._own._publish(attributes, scope, payload, context)
        await self._wait_for_room(tickets)
        return receipt

    async def publish_many(
        self, rows: Iterable[Mapping[str, Any]] | ArrowTable, *, scope: ScopeLike | None = None
    ) -> list[Receipt]:
        """As `Session.publish_many`; it waits for room as `publish` does."""
        receipts, tickets = self._own._publish_many(rows, scope)
        await self._wait_for_room(tickets)
        return receipts

    async def _wait_for_room(self, tickets: Tickets) -> None:
        """Wait for room, if there is need to, in a thread: the loop goes on, and so does who needs no room."""
        if tickets:
            await asyncio.to_thread(self._session.broker._wait_for_room, tickets)

    async def flush(self, timeout: float | None = None) -> None:
        """As `Session.flush`."""
        self._own.flush(timeout)

    async def subscribe(
        self,
        filter: FilterLike,
        *,
        context: FunctionLike | None = None,
        include: Iterable[str] = (),
        id: str | None = None,
        queue: int = QUEUE,
        slow: Slow = "disconnect",
        block_timeout: float = BLOCK_TIMEOUT,
    ) -> AsyncSubscription:
        """As `Session.subscribe`, without `deliver`: start a task that iterates."""
        subscription = self._own.subscribe(
            filter, context=context, include=include, id=id, queue=queue, slow=slow, block_timeout=block_timeout
        )
        return AsyncSubscription(self, subscription)

    async def unsubscribe(self, subscription: AsyncSubscription | str) -> None:
        """As `Session.unsubscribe`."""
        self._own.unsubscribe(subscription if isinstance(subscription, str) else subscription._subscription)

    async def close(self) -> None:
        """As `Session.close`."""
        self._own.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self.closed:
            await self.close()

    def __repr__(self) -> str:
        return repr(self._session).replace("<Session", "<AsyncSession")
