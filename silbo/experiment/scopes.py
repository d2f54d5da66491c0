"""The paper's future work: publications with a scope over the subscriber's context, and what that takes.

Publications are made without a scope, with one that admits three of four subscribers, and with one that reads the
publisher's context too; context changes with and without the role that scopes read. A scope is decided behind
filter and function, for those who would get the message, so its cost is by matches: two loads tell it, one with the
paper's box and one with a box of half the square.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from silbo.context.function import Scope
from silbo.experiment.agreement import asked, of_load, told
from silbo.experiment.brokers import Connected, connected
from silbo.experiment.changes import BATCH, WARM, batch_us
from silbo.experiment.load import Load, paper_load, somewhere
from silbo.experiment.notifications import published
from silbo.experiment.published import EACH
from silbo.experiment.sizes import Sizes

ROLES = ("guest", "driver", "taxi", "police")
SCOPES: dict[str, str | None] = {
    "no scope": None,
    "a role": 'sub.role != "guest"',
    "a role and a distance": 'sub.role != "guest" and abs(sub.x - this.x) <= 400',
}
BOXES = {"box of 40 km": 40.0, "box of 500 km": 500.0}
COMPARED = 3  # publications of each kind that the oracle is asked about
EVENTS = 1_000


def scopes(sizes: Sizes, seed: int) -> dict[str, Any]:
    """Microseconds of publications and of context changes, by scope."""
    return {name: _scoped(sizes, side, seed) for name, side in BOXES.items()}


def _scoped(sizes: Sizes, side: float, seed: int) -> dict[str, Any]:
    chance = np.random.default_rng([seed, 12])
    events = min(EVENTS, sizes.notifications)
    load = paper_load(chance, sizes.loaded, EACH, events, side=side)
    with connected("silbo", load, "fast") as broker:
        broker.settle(load.publications, sizes.warm_up)
        without = _changes(chance, broker, sizes.samples)
        _give_roles(broker)
        taken = {name: published([broker], load.publications, sizes.repeats, scope) for name, scope in SCOPES.items()}
        _publish_all(broker, load)
        within = _changes(chance, broker, sizes.samples)
        agrees = _agree(load, broker)
    return {
        "publish_us": {name: round(float(found["silbo"][0].mean()), 3) for name, found in taken.items()},
        "notifications": {name: found["silbo"][1] for name, found in taken.items()},
        "publications": events,
        "set_context_us": {"no scopes": without, "scopes in use": within},
        "agrees": agrees,
    }


def _give_roles(broker: Connected) -> None:
    for i, session in enumerate(broker.sessions):
        session.set_context(role=ROLES[i % len(ROLES)])


def _publish_all(broker: Connected, load: Load) -> None:
    for attributes, context in load.publications[:100]:
        broker.publisher.publish(attributes, context=context, scope=SCOPES["a role"])
    broker.read()


def _changes(chance: np.random.Generator, broker: Connected, samples: int) -> float:
    """The median of changes of place."""
    taken = []
    for _ in range(samples):
        drawn: list[Any] = chance.choice(len(broker.sessions), WARM + BATCH).tolist()
        changes = [
            (broker.sessions[i].set_context, place)
            for i, place in zip(drawn, somewhere(chance, len(drawn)), strict=True)
        ]
        taken.append(batch_us(_call, changes))
    return round(float(np.median(taken)), 3)


def _call(call: Callable[[dict[str, float]], object], place: dict[str, float]) -> None:
    call(place)


def _agree(load: Load, broker: Connected) -> bool:
    """Whether scoped notifications are the oracle's, with the contexts as they are now."""
    oracle = of_load(load)
    for i, session in enumerate(broker.sessions):
        oracle.set_context(f"subscriber-{i}", session.context)
    return all(
        told(broker, *publication, scope) == asked(oracle, *publication, None if scope is None else Scope.of(scope))
        for publication in load.publications[:COMPARED]
        for scope in SCOPES.values()
    )
