"""The state after a generated log so far: connected sessions, their subscriptions and contexts.

The generator needs it to draw events that mean something: a message that somebody wants, an id that
is free, a scope that may be read. It knows expressions by their closures alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias, cast

from silbo.model.events import Publish
from silbo.model.values import MAX_VARIABLES, Context, ContextValue, Scalar
from silbo.testing import pools
from silbo.testing.fragments import NOTHING, ConditionPiece, Situation

Names: TypeAlias = tuple[str, ...] | None  # None: all of them


@dataclass(frozen=True, slots=True)
class LiveSubscription:
    """A live subscription, and a situation in which it is notified, where one was found."""

    filter: ConditionPiece
    function: ConditionPiece | None
    likely: Situation

    @property
    def likely_message(self) -> Mapping[str, Scalar]:
        """The message of that situation."""
        return cast("Mapping[str, Scalar]", self.likely.msg)


@dataclass(frozen=True, slots=True)
class LiveAdvertisement:
    """A live advertisement, and a message that it contains, where one was found."""

    filter: ConditionPiece
    offers: Names
    reads: Names
    likely: Mapping[str, Scalar]

    def contains(self, attributes: Mapping[str, object]) -> bool:
        """Whether its filter selects the message."""
        return self.filter.judge(Situation(attributes, NOTHING, NOTHING)) is True


@dataclass(slots=True)
class LiveSession:
    """A connected session; `published` is the context that it sent last."""

    context: dict[str, ContextValue] = field(default_factory=dict)
    published: dict[str, object] = field(default_factory=dict)
    subscriptions: dict[str, LiveSubscription] = field(default_factory=dict)
    advertisements: dict[str, LiveAdvertisement] = field(default_factory=dict)

    def containing(self, attributes: Mapping[str, object]) -> list[LiveAdvertisement]:
        """The advertisements that contain a message."""
        return [each for each in self.advertisements.values() if each.contains(attributes)]

    def merge(self, values: Mapping[str, ContextValue | None]) -> bool:
        """Take context changes in, unless they leave too many variables."""
        merged = {name: value for name, value in {**self.context, **values}.items() if value is not None}
        if len(merged) > MAX_VARIABLES:
            return False
        self.context = merged
        return True

    def is_borderline(self, situation: Situation) -> bool:
        """Whether one of its context functions is too near a threshold to be judged."""
        functions = [each.function for each in self.subscriptions.values()]
        return any(function is not None and function.is_borderline(situation) for function in functions)


@dataclass(slots=True)
class World:
    """All sessions that are connected, by name."""

    sessions: dict[str, LiveSession] = field(default_factory=dict)

    def session(self, name: str) -> LiveSession:
        """The session of a name, connected by this if it was not."""
        return self.sessions.setdefault(name, LiveSession())

    def peek(self, name: str) -> LiveSession:
        """The session of a name, or an empty one that is not connected."""
        return self.sessions.get(name) or LiveSession()

    def subscriptions(self) -> list[tuple[LiveSession, LiveSubscription]]:
        """Every live subscription with its session."""
        return [(session, each) for session in self.sessions.values() for each in session.subscriptions.values()]

    def publishers(self) -> list[str]:
        """The sessions that have advertised something."""
        return [name for name, session in self.sessions.items() if session.advertisements]

    def is_borderline(self, event: Publish, offered: Context, scope: ConditionPiece | None) -> bool:
        """Whether two engines might find a publication on different sides of a threshold."""
        return any(
            (scope is not None and scope.is_borderline(Situation(event.attributes, session.context, event.context)))
            or session.is_borderline(Situation(event.attributes, offered, session.context))
            for session in self.sessions.values()
        )


def offered(containing: Sequence[LiveAdvertisement], context: Context) -> dict[str, ContextValue]:
    """What subscribers may see of a publisher's context."""
    return {
        name: value
        for name, value in context.items()
        if any(each.offers is None or name in each.offers for each in containing)
    }


def readable(containing: Sequence[LiveAdvertisement]) -> tuple[str, ...]:
    """The subscriber variables that a scope may read, of those that there are."""
    return tuple(
        name for name in pools.VARIABLES if any(each.reads is None or name in each.reads for each in containing)
    )


def likely_situation(random: Random, filter: ConditionPiece, function: ConditionPiece | None) -> Situation:
    """A situation in which both are true; if no draw gives one, the last draw."""
    message = likely_message(random, filter)
    for _ in range(4):
        situation = Situation(message, pools.context(random), pools.context(random))
        if function is None or function.judge(situation) is True:
            break
    return situation


def likely_message(random: Random, filter: ConditionPiece) -> dict[str, Scalar]:
    """A message that the filter selects; if no draw gives one, the last draw."""
    message = pools.attributes(random)
    for _ in range(6):
        if filter.judge(Situation(message, NOTHING, NOTHING)) is True:
            break
        message = pools.attributes(random)
    return message
