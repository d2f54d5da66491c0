"""Check that both systems notify the same subscribers as the oracle.

All notifications are compared on a small load while subscribers move, and those of a few publications on a large
load. The oracle is a linear scan that shares no code with an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

import numpy as np

from silbo.bench.places import near
from silbo.context.function import Scope
from silbo.language import tree
from silbo.matching.oracle import Oracle
from silbo.model.values import Attributes, Context
from silbo.papers.siena.brokers import PUBLISHER, Connected, connected
from silbo.papers.siena.load import SIDE, Load, paper_load, somewhere
from silbo.papers.siena.systems import Publications

Comparable: TypeAlias = tuple[Any, ...]  # a notification, in a form that can be compared

SMALL = 600  # subscriptions
ROUNDS = 120  # of publications, before each of which subscribers move


def oracle_of(load: Load) -> Oracle:
    """An oracle with the subscriptions of a load."""
    oracle = Oracle()
    oracle.advertise(PUBLISHER, "a", tree.Truth(True), None, None)
    number = 0
    for i, (place, filters) in enumerate(zip(load.places, load.filters, strict=True)):
        oracle.set_context(f"subscriber-{i}", place)
        for filter in filters:
            oracle.subscribe(f"subscriber-{i}", f"s{number}", filter.tree, load.function.tree, ())
            number += 1
    return oracle


def agreement(seed: int) -> dict[str, Any]:
    """Give both systems and the oracle the same moves and publications; returns the counts, and whether all agree."""
    chance = np.random.default_rng([seed, 1])
    load = paper_load(chance, SMALL, 10, ROUNDS)
    with ExitStack() as stack:
        silbo = stack.enter_context(connected("silbo", load, "fast"))
        siena = stack.enter_context(connected("siena", load))
        oracle, agreed, notified = oracle_of(load), True, 0
        for publication in load.publications:
            _move(chance, oracle, (silbo, siena), len(load.places))
            attributes, context = _aimed(chance, load, oracle, publication)
            expected = oracle_notifications_of(oracle, attributes, context)
            notified += len(expected)
            agreed = agreed and all(notifications_of(each, attributes, context) == expected for each in (silbo, siena))
    return {"subscriptions": SMALL, "publications": ROUNDS, "notifications": notified, "agrees": agreed}


def _move(chance: np.random.Generator, oracle: Oracle, both: Sequence[Connected], subscribers: int) -> None:
    for place in somewhere(chance, 5):
        who = int(chance.integers(subscribers))
        oracle.set_context(f"subscriber-{who}", place)
        for each in both:
            each.sessions[who].set_context(place)


def _aimed(
    chance: np.random.Generator, load: Load, oracle: Oracle, publication: tuple[Attributes, Context]
) -> tuple[Attributes, Context]:
    """A publication that meets a subscription's filter, around the border of its subscriber's box."""
    who = int(chance.integers(len(load.places)))
    filter = load.filters[who][int(chance.integers(len(load.filters[who])))]
    atoms = filter.tree.operands if isinstance(filter.tree, tree.And) else (filter.tree,)
    met = dict(_meeting(atom) for atom in atoms)
    attributes, context = publication
    return {**attributes, **met}, near(chance, oracle.sessions[f"subscriber-{who}"].context, context, SIDE / 2)


def _meeting(atom: tree.Condition) -> tuple[str, Any]:
    """An attribute that meets a comparison with a whole number."""
    assert isinstance(atom, tree.Compare)
    assert isinstance(atom.left, tree.Name)
    assert isinstance(atom.right, tree.Constant)
    value: Any = atom.right.value
    moved = {"<": -1, ">": 1, "!=": 1}.get(atom.operator, 0)
    return atom.left.name, value + moved


def oracle_notifications_of(
    oracle: Oracle, attributes: Attributes, context: Context, scope: Scope | None = None
) -> list[Comparable]:
    """The oracle's notifications of a publication."""
    found = oracle.publish(PUBLISHER, dict(attributes), dict(context), None if scope is None else scope.tree, None)
    return sorted(_comparable(each.subscriber, each) for each in found)


def notifications_of(
    each: Connected, attributes: Attributes, context: Context, scope: str | None = None
) -> list[Comparable]:
    """A broker's notifications of a publication, without those that were in its queues before."""
    each.read()
    each.publisher.publish(attributes, context=context, scope=scope)
    return sorted(_comparable(notification.subscriber, notification) for notification in each.read())


def _comparable(subscriber: str, each: Any) -> Comparable:
    return (subscriber, each.subscription, sorted(each.attributes.items()), sorted(each.context.items()))


def agree_with_scan(load: Load, brokers: Iterable[Connected], publications: Publications) -> bool:
    """Whether brokers give the oracle's notifications of these publications; the oracle scans all subscriptions."""
    oracle = oracle_of(load)
    return all(
        notifications_of(each, *publication) == expected
        for publication in publications
        for expected in [oracle_notifications_of(oracle, *publication)]
        for each in brokers
    )
