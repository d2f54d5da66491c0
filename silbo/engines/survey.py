"""A first pass over a log: the names in it, and the notifications that slow subscribers lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

from silbo.errors import InvalidValue, known_names
from silbo.model.events import Dropped, Event, Publish, Subscribe, Unsubscribe
from silbo.wire.jsonl import read_log


@dataclass(slots=True)
class Survey:
    """The names of a log, of accepted and refused events, and the line of each dropped notification."""

    sessions: set[str] = field(default_factory=set)
    publishers: set[str] = field(default_factory=set)
    subscriptions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # ids by session
    dropped: dict[Dropped, int] = field(default_factory=dict)

    def check(self, *, subscriber: str | None, subscription: str | None, publisher: str | None) -> None:
        """Raise for a name that the log does not have; the error lists the names that it has."""
        _check("--subscriber", "session", subscriber, self.sessions)
        _check("--publisher", "session that publishes", publisher, self.publishers)
        ids = self.subscriptions.values() if subscriber is None else [self.subscriptions[subscriber]]
        whose = "subscription" if subscriber is None else f"subscription of {subscriber}"
        _check("--subscription", whose, subscription, set().union(*ids))

    def see(self, line: int, event: Event) -> None:
        """Add one event to the survey."""
        self.sessions.add(event.session)
        if isinstance(event, Subscribe):
            self.subscriptions[event.session].add(event.id)
        if isinstance(event, Publish):
            self.publishers.add(event.session)
        if isinstance(event, Publish | Unsubscribe):
            self.dropped.update(dict.fromkeys(event.dropped, line))


def survey(log: BinaryIO) -> Survey:
    """Read a log to its end, then seek back to its beginning."""
    found = Survey()
    for line, event, _ in read_log(log):
        if event is not None:
            found.see(line, event)
    log.seek(0)
    return found


def _check(option: str, what: str, wanted: str | None, known: Iterable[str]) -> None:
    if wanted is not None and wanted not in known:
        raise InvalidValue(option, f"the log has no {what} {wanted!r}. {known_names(wanted, known)}")
