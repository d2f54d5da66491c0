"""Draw publications that somebody wants, or just does not: by content, by context, or by scope."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TypeAlias

from silbo.model.events import Publish
from silbo.model.values import Scalar
from silbo.testing import pools
from silbo.testing.arithmetic import Vocabulary
from silbo.testing.expressions import function_condition, written
from silbo.testing.fragments import ConditionPiece, Situation
from silbo.testing.world import LiveAdvertisement, LiveSession, LiveSubscription, World, offered, readable

Target: TypeAlias = tuple[LiveSession, LiveSubscription] | None  # whom a publication is meant for


class Borderline(Exception):  # no error: a draw that is thrown away
    """A publication for which a distance is too near its threshold to be judged."""


def publication(random: Random, world: World) -> Publish | None:
    """A publication that is accepted, or None where the drawn session may not say what was drawn."""
    session = world.session(name := random.choice(world.publishers()))
    target = _target(random, world)
    attributes = _message(random, session, target)
    containing = session.containing(attributes)
    if not containing:
        return None
    session.published = _context(random, session, target)
    scope = _scope(random, containing, Situation(attributes, target[0].context if target else {}, session.published))
    text = None if scope is None else written(random, scope).text
    event = Publish.checked(name, attributes, session.published, text, _payload(random))
    if world.is_borderline(event, offered(containing, event.context), scope):
        raise Borderline
    return event


def _target(random: Random, world: World) -> Target:
    live = world.subscriptions()
    return random.choice(live) if live and random.random() < 0.85 else None


def _message(random: Random, session: LiveSession, target: Target) -> dict[str, Scalar]:
    """What the target wants, or almost, if the publisher may say it; else what it advertised."""
    wanted = target[1].likely_message if target else pools.attributes(random)
    advertised = random.choice(list(session.advertisements.values())).likely
    candidates = [_perturbed(random, wanted), _perturbed(random, advertised), dict(advertised)]
    return next((each for each in candidates if session.containing(each)), {})


def _perturbed(random: Random, message: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The message, now and then with one value replaced by its neighbour, another, or none."""
    draw = random.random()
    if draw < 0.6 or not message:
        return dict(message)
    name = random.choice(list(message))
    if draw < 0.75:
        return {**message, name: random.choice(pools.neighbours(message[name]))}
    if draw < 0.9:
        return {**message, name: pools.scalar(random, pools.ATTRIBUTES[name])}
    return {} if draw > 0.99 else {other: value for other, value in message.items() if other != name}


def _context(random: Random, session: LiveSession, target: Target) -> dict[str, object]:
    """What the target's function asks for, or what was sent before with some changes."""
    if target and random.random() < 0.7:
        return dict(target[1].likely.other)
    share = 0.3 if session.published else 1
    changed = {name: value for name, value in pools.context(random).items() if random.random() < share}
    return {**session.published, **changed}


def _scope(random: Random, containing: list[LiveAdvertisement], meant: Situation) -> ConditionPiece | None:
    """A scope that reads what it may, mostly one that admits the subscriber that is meant."""
    if random.random() < 0.6:
        return None
    names = {"sub": readable(containing), "this": tuple(pools.VARIABLES), "msg": tuple(pools.ATTRIBUTES)}
    words = Vocabulary({namespace: each for namespace, each in names.items() if each})
    for _ in range(3):
        scope = function_condition(random, random.randint(1, 2), words)
        if scope.judge(meant) is True:
            break
    return scope


def _payload(random: Random) -> bytes | None:
    draw = random.random()
    if draw < 0.7:
        return None
    return b"" if draw < 0.75 else random.randbytes(random.choice((1, 3, 16, 200)))
