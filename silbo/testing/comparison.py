"""Compare what sessions received with what the oracle says of the same events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from silbo.engines.replay import replay
from silbo.errors import InvalidValue, known_names
from silbo.model.events import Event
from silbo.model.notification import Notified
from silbo.wire.jsonl import notification_json

SHOWN = 5  # differences in a failed assertion


@dataclass(frozen=True, slots=True)
class Comparison:
    """The notifications, as lines of a replay's output, that were expected and did not come, or came and should not."""

    expected: int
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether exactly the expected notifications came."""
        return not self.missing and not self.unexpected

    def __str__(self) -> str:
        lines = [f"{self.expected} expected, {len(self.missing)} missing, {len(self.unexpected)} unexpected"]
        lines += [f"missing    {line}" for line in self.missing[:SHOWN]]
        lines += [f"unexpected {line}" for line in self.unexpected[:SHOWN]]
        return "\n".join(lines)


def lines(notifications: Iterable[Notified]) -> list[str]:
    """Notifications as a replay prints them."""
    return [notification_json(each) for each in notifications]


def oracle_lines(events: Iterable[Event]) -> list[str]:
    """What the oracle's replay of the events prints."""
    return lines(replay(events, engine="oracle"))


def compare(
    events: Iterable[Event], received: Iterable[Notified], *, subscribers: Iterable[str] | None = None
) -> Comparison:
    """Replay the events on the oracle, and compare its notifications with the received ones as multisets.

    `subscribers` are the names of the sessions whose notifications were received (None: all sessions).
    """
    log = list(events)
    wanted = None if subscribers is None else _checked(subscribers, {event.session for event in log})
    expected = (each for each in replay(log, engine="oracle") if wanted is None or each.subscriber in wanted)
    due, got = Counter(lines(expected)), Counter(lines(received))
    return Comparison(due.total(), tuple((due - got).elements()), tuple((got - due).elements()))


def _checked(subscribers: Iterable[str], sessions: Collection[str]) -> frozenset[str]:
    """The names of subscribers; raises for one that the log does not have, since nothing would be compared."""
    if isinstance(subscribers, str):
        raise InvalidValue("subscribers", f"a list of names is expected. Write [{subscribers!r}].")
    wanted = frozenset(subscribers)
    for name in sorted(wanted.difference(sessions)):
        raise InvalidValue("subscribers", f"the events have no session {name!r}. {known_names(name, sessions)}")
    return wanted


def assert_agrees(
    events: Iterable[Event], received: Iterable[Notified], *, subscribers: Iterable[str] | None = None
) -> None:
    """Fail with the first differences unless the oracle gives exactly what all, or these, subscribers received."""
    comparison = compare(events, received, subscribers=subscribers)
    if not comparison.agrees:
        raise AssertionError(str(comparison))
