"""Sessions for asyncio: `session = await silbo.aio.connect("memory://city", "car-1")`."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

from silbo.engines.connect import connect as connect_session
from silbo.session.aio import AsyncSession, AsyncSubscription
from silbo.session.link import BrokerHandle
from silbo.session.session import Session, verbs_of

__all__ = ["AsyncSession", "AsyncSubscription", "connect"]


def connect(url: str | BrokerHandle = "memory://", name: str | None = None) -> Connecting:
    """Connect to the engine that the URL names, or to a given broker: `await` the result, or `async with` it."""
    return Connecting(url, name)


class Connecting:
    """A pending session: `session = await connect(…)`, or `async with connect(…) as session`."""

    def __init__(self, url: str | BrokerHandle, name: str | None) -> None:
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
        await self._session.close()

    async def _connect(self) -> AsyncSession:
        verbs = verbs_of(await self._connected())
        assert verbs is not None
        return AsyncSession(verbs)

    async def _connected(self) -> Session:
        if not isinstance(self._url, str):
            return self._url.connect(self._name)  # type: ignore[no-any-return]
        if self._url.startswith("memory:"):
            return connect_session(self._url, self._name)
        return await asyncio.to_thread(connect_session, self._url, self._name)
