"""The open sessions of a broker: found by handle, name or UUID, and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias
from uuid import UUID

from silbo.core.core import Core
from silbo.errors import Closed, InvalidValue, UnknownSession
from silbo.session.session import Session
from silbo.session.verbs import Verbs


class SessionHandle(Protocol):
    """A `Session`, or a wrapper of one: an `AsyncSession`, a `RecordingSession`."""

    @property
    def uuid(self) -> str:
        """The session's identity, which the broker assigned."""

    @property
    def closed(self) -> bool:
        """Whether the session was closed."""


SessionLike: TypeAlias = SessionHandle | str | UUID  # a session's handle, name or UUID


class Registry:
    """The open sessions, the oldest first. The caller holds their lock."""

    def __init__(self) -> None:
        self._sessions: dict[str, Verbs] = {}

    def __iter__(self) -> Iterator[Verbs]:
        return iter(list(self._sessions.values()))

    def __len__(self) -> int:
        return len(self._sessions)

    def add(self, verbs: Verbs) -> Verbs:
        """Add a session, and make the handle that users hold."""
        verbs.handle = Session(verbs)
        self._sessions[verbs.uuid] = verbs
        return verbs

    def remove(self, uuid: str) -> None:
        """Remove a session."""
        self._sessions.pop(uuid, None)

    def get(self, uuid: str) -> Verbs | None:
        """The session with this UUID."""
        return self._sessions.get(uuid)

    def handles(self) -> tuple[Session, ...]:
        """The handles that users hold."""
        return tuple(verbs.handle for verbs in self._sessions.values())

    def found(self, given: Iterable[SessionLike]) -> list[Verbs]:
        """The sessions for these handles, names or UUIDs."""
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InvalidValue("sessions", "a list of sessions is expected, with a value in each column for each.")
        by_name: dict[str, list[Verbs]] = {}
        found = []
        for each in given:
            key = str(each) if isinstance(each, str | UUID) else _uuid_of(each)
            verbs = self._sessions.get(key)
            if verbs is None:
                _check_handle(each)
                by_name = by_name or self._by_name()  # walk over all sessions once, and only if a name was given
                verbs = _one_of(by_name, key)
            found.append(verbs)
        return found

    def _by_name(self) -> dict[str, list[Verbs]]:
        by_name: dict[str, list[Verbs]] = {}
        for verbs in self._sessions.values():
            by_name.setdefault(verbs.name, []).append(verbs)
        return by_name

    def stats(self, core: Core) -> dict[str, Any]:
        """Counts of what is connected now."""
        clients = core.clients.values()
        return {
            "sessions": len(clients),
            "advertisements": sum(len(client.advertisements) for client in clients),
            "subscriptions": sum(len(client.subscriptions) for client in clients),
            "contexts": len(core.contexts),
            "context_writes": core.contexts.writes,
            "queued": sum(queue.waiting for verbs in self._sessions.values() for queue in verbs.queues()),
        }


def _uuid_of(given: object) -> str:
    uuid = getattr(given, "uuid", None)
    if isinstance(uuid, str):
        return uuid
    raise InvalidValue("session", f"a session, its name or its UUID is expected, not {type(given).__name__}.")


def _check_handle(given: SessionLike) -> None:
    """Raise for the handle of a session that is not connected here; names and UUIDs pass."""
    if isinstance(given, str | UUID):
        return
    if given.closed:
        raise Closed(f"session {given!r}")
    raise InvalidValue("session", f"{given!r} is of another broker. Ask that one.")


def _one_of(by_name: Mapping[str, Sequence[Verbs]], key: str) -> Verbs:
    """The only session with this name."""
    found = by_name.get(key, ())
    if not found:
        raise UnknownSession(key, by_name)
    if len(found) > 1:
        raise InvalidValue("session", f"{len(found)} sessions are named {key!r}. Give the UUID of one.")
    return found[0]
