"""The paper's future work: publications with a scope over the subscriber's context, and the cost of a scope.

Publications are made without a scope, with one that admits three of four subscribers, and with one that also reads
the publisher's context. Context changes are made in a broker without roles and scopes, and in one where every
subscriber has a role that scopes read. A scope is evaluated after filter and function, for the subscriptions that
would get the message, so its cost grows with the matches: one load has the paper's box, the other a box of half the
square. Everything is measured in turns in several rounds; the results have the range of the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from silbo.context.function import Scope
from silbo.papers.siena.brokers import Connected, connected
from silbo.papers.siena.changes import BATCH, WARM, batch_us
from silbo.papers.siena.load import Load, paper_load, somewhere
from silbo.papers.siena.notifications import published
from silbo.papers.siena.paper_figures import EACH
from silbo.papers.siena.same_notifications import notifications_of, oracle_notifications_of, oracle_of
from silbo.papers.siena.sizes import RunSizes
from silbo.papers.siena.spread import Spread, ratios, spread

ROLES = ("guest", "driver", "taxi", "police")
SCOPES: dict[str, str | None] = {
    "no scope": None,
    "a role": 'sub.role != "guest"',
    "a role and a distance": 'sub.role != "guest" and abs(sub.x - this.x) <= 400',
}
BOXES = {"box of 40 km": 40.0, "box of 500 km": 500.0}
COMPARED = 3  # publications of each kind that the oracle checks
EVENTS = 500
PASSES = 3  # passes over all publications in a round; a publication's time is their median


def scopes(sizes: RunSizes, seed: int) -> dict[str, Any]:
    """Microseconds of publications and of context changes, by scope: median and range of the rounds."""
    return {name: _scoped(sizes, side, seed) for name, side in BOXES.items()}


def _scoped(sizes: RunSizes, side: float, seed: int) -> dict[str, Any]:
    chance = np.random.default_rng([seed, 12])
    load = paper_load(chance, sizes.loaded, EACH, min(EVENTS, sizes.notifications), side=side)
    with connected("no scopes", load, "fast") as plain, connected("scopes in use", load, "fast") as scoped:
        _give_roles(scoped)
        for each in (plain, scoped):
            each.settle(load.publications, sizes.warm_up)
        rounds = [_round(chance, plain, scoped, load, sizes) for _ in range(sizes.rounds)]
        agrees = _agree(load, scoped)
    return {
        "publications": len(load.publications),
        "notifications": rounds[0]["notifications"],
        **{what: _spreads([each[what] for each in rounds]) for what in ("publish_us", "set_context_us")},
        **{f"{what}_ratio": _ratios([each[what] for each in rounds]) for what in ("publish_us", "set_context_us")},
        "agrees": agrees,
    }


def _round(
    chance: np.random.Generator, plain: Connected, scoped: Connected, load: Load, sizes: RunSizes
) -> dict[str, dict[str, float]]:
    """Measure everything that is compared once: publications by kind of scope, and changes in both brokers."""
    found = {kind: published([scoped], load.publications, PASSES, scope) for kind, scope in SCOPES.items()}
    taken = {kind: of[scoped.name] for kind, of in found.items()}
    return {
        "publish_us": {kind: float(np.median(us, axis=0).mean()) for kind, (us, _) in taken.items()},
        "notifications": {kind: delivered for kind, (_, delivered) in taken.items()},
        "set_context_us": _changes(chance, (plain, scoped), -(-sizes.samples // sizes.rounds)),
    }


def _spreads(rounds: list[dict[str, float]]) -> dict[str, Spread]:
    return {kind: spread([each[kind] for each in rounds]) for kind in rounds[0]}


def _ratios(rounds: list[dict[str, float]]) -> dict[str, Spread]:
    """By kind, the time as a multiple of the first kind's, which has no scope."""
    first = next(iter(rounds[0]))
    return {
        kind: ratios([each[kind] for each in rounds], [each[first] for each in rounds])
        for kind in rounds[0]
        if kind != first
    }


def _give_roles(broker: Connected) -> None:
    for i, session in enumerate(broker.sessions):
        session.set_context(role=ROLES[i % len(ROLES)])


def _changes(chance: np.random.Generator, brokers: Sequence[Connected], samples: int) -> dict[str, float]:
    """By broker, the median time of a change of place; the brokers are measured in turns."""
    taken: dict[str, list[float]] = {each.name: [] for each in brokers}
    for _ in range(samples):
        drawn: list[int] = chance.choice(len(brokers[0].sessions), WARM + BATCH).tolist()
        places = somewhere(chance, len(drawn))
        for each in brokers:
            changes = [(each.sessions[i].set_context, place) for i, place in zip(drawn, places, strict=True)]
            taken[each.name].append(batch_us(_call, changes))
    return {name: float(np.median(each)) for name, each in taken.items()}


def _call(call: Callable[[dict[str, float]], object], place: dict[str, float]) -> None:
    call(place)


def _agree(load: Load, broker: Connected) -> bool:
    """Whether scoped notifications are the oracle's, with the present contexts."""
    oracle = oracle_of(load)
    for i, session in enumerate(broker.sessions):
        oracle.set_context(f"subscriber-{i}", session.context)
    return all(
        notifications_of(broker, *publication, scope)
        == oracle_notifications_of(oracle, *publication, None if scope is None else Scope.of(scope))
        for publication in load.publications[:COMPARED]
        for scope in SCOPES.values()
    )
