"""Sessions: what `connect` returns. Each verb of `Verbs` is called here and waits for its acknowledgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from silbo.model.readonly import ReadOnlyDict
from silbo.model.values import Context
from silbo.session.handles import Advertisement
from silbo.session.link import BrokerHandle
from silbo.session.subscription import Subscription
from silbo.session.verbs import Verbs, set_context, waited, waiting

if TYPE_CHECKING:
    from typing_extensions import Self


class Handle:
    """What `Session` and `AsyncSession` show of their state."""

    __slots__ = ("_verbs",)

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs

    @property
    def name(self) -> str:
        """The session's label, given when it connected."""
        return self._verbs.link.name

    @property
    def uuid(self) -> str:
        """The session's identity, which the broker assigned."""
        return self._verbs.link.uuid

    @property
    def closed(self) -> bool:
        """Whether the session is closed, by `close` or with its broker."""
        return self._verbs.closed

    @property
    def broker(self) -> BrokerHandle:
        """The broker that the session is connected to."""
        return self._verbs.link.broker

    @property
    def context(self) -> Context:
        """The session's context as it is now; read-only, `set_context` changes it."""
        with self._verbs.lock:
            self._verbs.check_open()
            return ReadOnlyDict(self._verbs.link.context())

    def __dir__(self) -> list[str]:
        """The names that completion shows: one spelling of each verb."""
        return [name for name in super().__dir__() if name != "setContext"]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} {self.uuid}{' closed' if self.closed else ''}>"


class Session(Handle):
    """One connection to a broker, to publish and subscribe. Created by `Broker.connect` or `silbo.connect`."""

    __slots__ = ("__weakref__", "_link")

    def __init__(self, verbs: Verbs) -> None:
        super().__init__(verbs)
        self._link = verbs.link

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        """The active subscriptions, the oldest first."""
        with self._verbs.lock:
            return tuple(self._verbs.subscriptions.values())

    @property
    def advertisements(self) -> tuple[Advertisement, ...]:
        """The active advertisements, the oldest first."""
        with self._verbs.lock:
            return tuple(self._verbs.advertisements.values())

    set_context = set_context
    setContext = set_context  # noqa: N815  # the paper's spelling
    advertise = waiting(Verbs.advertise)
    unadvertise = waiting(Verbs.unadvertise)
    publish = waiting(Verbs.publish)
    publish_many = waiting(Verbs.publish_many)
    flush = waiting(Verbs.flush)
    subscribe = waiting(Verbs.subscribe)

    def unsubscribe(self, subscription: Subscription | str) -> None:
        """End a subscription, given by its handle or its id."""
        self._verbs.settle(waited(self._verbs, self._verbs.unsubscribe(subscription)))

    def close(self) -> None:
        """End the session with its subscriptions, advertisements and context; a second call does nothing.

        Queued notifications stay readable. Pending callbacks still run, for a few seconds at most; none is called
        after `close` has returned. If a callback of the session calls `close`, the pending callbacks do not run.
        """
        waited(self._verbs, self._verbs.close())
        self._verbs.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def verbs_of(session: Any) -> Verbs | None:
    """The verbs of a session's handle, also of one that wraps it (`AsyncSession`); None for anything else."""
    verbs = getattr(session, "_verbs", None)
    return verbs if isinstance(verbs, Verbs) else None
