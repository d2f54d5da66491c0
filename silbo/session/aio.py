"""Sessions for asyncio: the same verbs, with awaited acknowledgements.

An `AsyncSession` belongs to the event loop in which it was created. Nothing here blocks the loop: an acknowledgement
that is not there is awaited, and what can only be waited for in a thread is: loading kernels, and room in a full queue.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from concurrent.futures import Future
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from silbo.errors import Closed, InvalidValue, NotAcknowledged, Refused
from silbo.model.notification import Notification
from silbo.session.link import Acknowledgement, Chained
from silbo.session.session import Handle
from silbo.session.subscription import Subscription
from silbo.session.verbs import Verbs

if TYPE_CHECKING:
    from typing_extensions import Self

P = ParamSpec("P")
T = TypeVar("T")


def awaiting(
    verb: Callable[Concatenate[Verbs, P], Acknowledgement[T]],
) -> Callable[Concatenate[AsyncSession, P], Coroutine[Any, Any, T]]:
    """The verb as a coroutine that awaits the acknowledgement and returns its result."""

    @wraps(verb)
    async def call(self: AsyncSession, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await awaited(self._own, verb(self._own, *args, **kwargs))

    return call


async def awaited(verbs: Verbs, acknowledgement: Acknowledgement[T]) -> T:
    """Await an acknowledgement as long as the link allows. A cancelled verb is carried out anyway."""
    if acknowledgement.done():
        return acknowledgement.result()
    answer = acknowledgement.first if isinstance(acknowledgement, Chained) else acknowledgement
    if not isinstance(answer, Future):
        return await asyncio.to_thread(acknowledgement.result)
    try:
        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(answer)), verbs.link.patience)
    except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
        if not answer.done():
            raise NotAcknowledged(f"no acknowledgement within {verbs.link.patience} s") from None
    return acknowledgement.result()


class Subscribing:
    """A pending subscription: `alerts = await car.subscribe(…)`, or `async with car.subscribe(…) as alerts`."""

    def __init__(self, work: Coroutine[Any, Any, AsyncSubscription]) -> None:
        self._work = work
        self._subscription: AsyncSubscription | None = None

    def __await__(self) -> Generator[Any, None, AsyncSubscription]:
        return self._work.__await__()

    async def __aenter__(self) -> AsyncSubscription:
        self._subscription = await self._work
        return self._subscription

    async def __aexit__(self, *_: object) -> None:
        assert self._subscription is not None
        await self._subscription.close()


def subscribing(
    verb: Callable[Concatenate[Verbs, P], Acknowledgement[Subscription]],
) -> Callable[Concatenate[AsyncSession, P], Subscribing]:
    """The verb `subscribe`, whose result can be awaited or entered with `async with`."""

    @wraps(verb)
    def call(self: AsyncSession, /, *args: P.args, **kwargs: P.kwargs) -> Subscribing:
        if kwargs.get("deliver") is not None:
            raise InvalidValue("deliver", "callbacks are for silbo.connect. Here, start a task that iterates.")
        return Subscribing(subscribed(self, *args, **kwargs))

    async def subscribed(self: AsyncSession, *args: P.args, **kwargs: P.kwargs) -> AsyncSubscription:
        verbs = self._own
        if not verbs.link.is_prepared:  # load or compile the kernels in a thread, so that the loop goes on
            await asyncio.to_thread(verbs.link.prepare)
        return AsyncSubscription(self, await awaited(verbs, verb(verbs, *args, **kwargs)))

    return call


class AsyncSubscription:
    """The handle that `subscribe` returns: `await get()`, `async for`, `poll`, `drain`, `await close()`."""

    def __init__(self, session: AsyncSession, subscription: Subscription) -> None:
        self._session = session
        self._subscription = subscription
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._waking = False
        subscription._observe(self._notice)

    @property
    def id(self) -> str:
        """The subscription's id in its session."""
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
        """Wait for the next notification; raises `TimeoutError`, or `Closed` or `SlowSubscriber` at the end."""
        self._session._check_loop()
        expired = asyncio.Event()
        # asyncio.timeout needs Python 3.11, and the wait_for of 3.10 can lose a cancellation
        timer = None if timeout is None else self._loop.call_later(timeout, self._expire, expired)
        try:
            return await self._next(expired)
        except TimeoutError:
            raise TimeoutError(f"no notification for {self._session.name}/{self.id} within {timeout} s") from None
        finally:
            if timer is not None:
                timer.cancel()

    def _expire(self, expired: asyncio.Event) -> None:
        expired.set()
        self._arrived.set()

    async def _next(self, expired: asyncio.Event) -> Notification:
        while True:
            self._arrived.clear()
            try:
                return self._subscription.get(timeout=0)
            except TimeoutError:
                if expired.is_set():
                    raise
            await self._arrived.wait()

    def poll(self) -> Notification | None:
        """Return the next notification if one is queued, else None."""
        return self._subscription.poll()

    def drain(self) -> list[Notification]:
        """Return everything queued."""
        return self._subscription.drain()

    async def __aiter__(self) -> AsyncIterator[Notification]:
        while True:
            try:
                notification = await self.get()
            except Closed:
                return
            yield notification

    def __len__(self) -> int:
        """How many notifications are queued."""
        return len(self._subscription)

    def __bool__(self) -> bool:
        return True  # a subscription with an empty queue is still a subscription

    async def close(self) -> None:
        """End the subscription; queued notifications can still be read. A second call does nothing."""
        if not self.closed:
            verbs = self._session._own
            await awaited(verbs, verbs.end(self._subscription))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return repr(self._subscription).replace("<Subscription", "<AsyncSubscription")

    def _notice(self, _: object) -> None:
        """Wake the loop, unless a wake-up is pending or the loop is closed. Called in the publisher's thread."""
        if not self._waking:
            self._waking = True
            with contextlib.suppress(RuntimeError):  # the loop is closed, so no task waits
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._waking = False
        self._arrived.set()


class AsyncSession(Handle):
    """A `Session` with awaitable verbs. Created by `silbo.aio.connect`."""

    __slots__ = ("__weakref__", "_loop")

    def __init__(self, verbs: Verbs) -> None:
        super().__init__(verbs)
        self._loop = asyncio.get_running_loop()

    @property
    def _own(self) -> Verbs:
        """The verbs, for the loop that the session belongs to; raises in another one."""
        self._check_loop()
        return self._verbs

    def _check_loop(self) -> None:
        """Raise if another loop than the session's runs."""
        if asyncio.get_running_loop() is not self._loop:
            raise Refused(f"session {self.name!r} belongs to another event loop. Connect in the loop that uses it.")

    set_context = awaiting(Verbs.set_context)
    setContext = set_context  # noqa: N815  # the paper's spelling
    advertise = awaiting(Verbs.advertise)
    unadvertise = awaiting(Verbs.unadvertise)
    publish = awaiting(Verbs.publish)
    publish_many = awaiting(Verbs.publish_many)
    flush = awaiting(Verbs.flush)
    subscribe = subscribing(Verbs.subscribe)

    async def unsubscribe(self, subscription: AsyncSubscription | str) -> None:
        """As `Session.unsubscribe`."""
        ended = subscription if isinstance(subscription, str) else subscription._subscription
        await awaited(self._own, self._own.unsubscribe(ended))

    async def close(self) -> None:
        """As `Session.close`."""
        await awaited(self._own, self._own.close())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
