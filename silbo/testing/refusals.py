"""Events that every engine must refuse, and that must change nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from silbo.model import events
from silbo.model.values import MAX_VARIABLES, checked_changes
from silbo.testing import pools
from silbo.testing.world import World, readable

BAD_FILTERS = (
    "",
    "severity >",
    "severity >> 3",
    "1 < severity < 5",
    "severity",
    "pub.x = 1",
    "msg = 'open",
    "severity < true",
    "severity in ()",
    "severity = - 5",
    "(severity = 1",
    "severity + 1 = 2",
    "msg = größe",
)
BAD_FUNCTIONS = (
    "",
    "x = 1",
    "abs(pub.x",
    "pub.x + 1",
    "sub.x = 1",
    "pub.x in msg.kind",
    "sqrt(1, 2) = 1",
    "point(1, 2)",
)
BAD_SCOPES = ("", "role = 'guest'", "sub.x +", "pub.x = 1", "geometry('POINT (1)') = 1", "within(sub.pos, 'area')")

Refusal: TypeAlias = Callable[[Random, World, Sequence[str]], events.Event | None]


def refusal(random: Random, world: World, names: Sequence[str]) -> events.Event | None:
    """An event that must be refused as the world is, or None where the drawn one does not fit it."""
    return random.choice(REFUSALS)(random, world, names)


def _duplicate_subscription(random: Random, world: World, _: Sequence[str]) -> events.Event | None:
    taken = [(name, id) for name, session in world.sessions.items() for id in session.subscriptions]
    return events.Subscribe(*random.choice(taken), "true") if taken else None


def _duplicate_advertisement(random: Random, world: World, _: Sequence[str]) -> events.Event | None:
    taken = [(name, id) for name, session in world.sessions.items() for id in session.advertisements]
    return events.Advertise(*random.choice(taken), "true") if taken else None


def _unknown_id(random: Random, _: World, names: Sequence[str]) -> events.Event:
    return random.choice((events.Unsubscribe, events.Unadvertise))(random.choice(names), "never used")


def _ended_id(random: Random, world: World, names: Sequence[str]) -> events.Event | None:
    name, id = random.choice(names), "s1"
    session = world.sessions.get(name)
    return None if session and id in session.subscriptions else events.Unsubscribe(name, id)


def _unknown_session(random: Random, world: World, names: Sequence[str]) -> events.Event:
    return events.Disconnect(random.choice([*(name for name in names if name not in world.sessions), "nobody"]))


def _bad_filter(random: Random, _: World, names: Sequence[str]) -> events.Event:
    return random.choice((events.Subscribe, events.Advertise))(random.choice(names), "bad", random.choice(BAD_FILTERS))


def _bad_function(random: Random, _: World, names: Sequence[str]) -> events.Event:
    return events.Subscribe(random.choice(names), "bad", "true", random.choice(BAD_FUNCTIONS))


def _bad_scope(random: Random, _: World, names: Sequence[str]) -> events.Event:
    return events.Publish.checked(random.choice(names), pools.attributes(random), {}, random.choice(BAD_SCOPES))


def _not_advertised(random: Random, world: World, names: Sequence[str]) -> events.Event | None:
    name, attributes = random.choice(names), pools.attributes(random)
    if name in world.sessions and world.sessions[name].containing(attributes):
        return None
    return events.Publish.checked(name, attributes, pools.context(random))


def _scope_beyond_reads(random: Random, world: World, names: Sequence[str]) -> events.Event | None:
    session = world.sessions.get(name := random.choice(names))
    if session is None or not session.advertisements:
        return None
    attributes = random.choice(list(session.advertisements.values())).likely
    containing = session.containing(attributes)
    hidden = [variable for variable in pools.VARIABLES if variable not in readable(containing)]
    if not containing or not hidden:
        return None
    variable = random.choice(hidden).replace("`", "``")
    return events.Publish.checked(name, attributes, {}, f"exists sub.`{variable}` or true")


def _too_many_variables(random: Random, _: World, names: Sequence[str]) -> events.Event:
    values = {f"filler{i}": random.random() for i in range(MAX_VARIABLES + 1)}
    return events.SetContext(random.choice(names), checked_changes(values))


REFUSALS: Sequence[Refusal] = (
    _duplicate_subscription,
    _duplicate_advertisement,
    _unknown_id,
    _ended_id,
    _unknown_session,
    _bad_filter,
    _bad_function,
    _bad_scope,
    _not_advertised,
    _scope_beyond_reads,
    _scope_beyond_reads,
    _too_many_variables,
)
