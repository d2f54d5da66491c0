"""`silbo bench context`: the time of a change of a subscriber's context, and of the same change in SIENA style.

Subscribers with no, one, ten and fifty subscriptions make the same changes: they should take as long with fifty
subscriptions as with none.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from silbo.bench import places
from silbo.bench.numbers import Array, numeric_filters, numeric_messages
from silbo.bench.timing import Figures, Say, figures, median, quiet, say_nothing, timed, times
from silbo.bench.workloads import SIDE
from silbo.context.function import ContextFunction
from silbo.context.table import ContextTable
from silbo.embedded.broker import Broker
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.fast.index import FastIndex
from silbo.matching.filter import Filter
from silbo.matching.siena import SienaIndex

STEPS = (0, 1, 10, 50)  # subscriptions of a subscriber
CHANGES = 10_000  # of the sessions of each number of subscriptions
WRITES = 100_000  # to the table alone: most rows are written several times, as in a table that is in use
SIENA_CHANGES = 1_000
REPEATS = 50  # of a bulk update of all rows
BATCH = 100  # calls that are timed together, because one is too short
WARM_UP = 1_500  # events, after which the planner has settled

BOX = places.box(SIDE)


def measure(subscribers: int, seed: int, *, say: Say = say_nothing) -> dict[str, Any]:
    """All figures of context changes."""
    chance = np.random.default_rng(seed)
    filters = numeric_filters(chance, subscribers * STEPS[-1])
    say("the table alone")
    table_us = _table_us(chance, subscribers)
    say("sessions")
    set_context = _session_figures(chance, subscribers, filters, say)
    say("bulk updates")
    bulk = {"plain": _plain_ns(chance, subscribers), "grid": _grid_ns(chance, subscribers, filters)}
    say("the SIENA style")
    siena = _siena_figures(chance, subscribers, filters, say)
    return {
        "subscribers": subscribers, "seed": seed, "table_us": table_us, "set_context_us": set_context,
        "slope": round(set_context["50"]["median"] / set_context["0"]["median"], 3),
        "bulk_ns": bulk, "siena_us": siena, "ratio": round(siena["10"] / set_context["10"]["median"], 1),
    }  # fmt: skip


def _places(chance: np.random.Generator, count: int) -> list[dict[str, float]]:
    return places.contexts(places.uniform(chance, count))


def _table_us(chance: np.random.Generator, subscribers: int) -> float:
    """The time of the table's own call, with its cells in use; calls are so short that they are timed in batches."""
    table = ContextTable()
    rows = [table.row(str(i)) for i in range(subscribers)]
    for name in ("x", "y"):
        table.column(name)
    for row, place in zip(rows, _places(chance, subscribers), strict=True):
        table.write(row, place)
    taken = []
    with quiet():
        for _ in range(WRITES // BATCH):
            drawn = chance.integers(0, subscribers, BATCH).tolist()
            changes = [(rows[i], place) for i, place in zip(drawn, _places(chance, BATCH), strict=True)]
            taken.append(timed(_write_all, table, changes))
    return round(median(taken) / BATCH, 4)


def _write_all(table: ContextTable, changes: list[tuple[int, dict[str, float]]]) -> None:
    write = table.write_floats
    for row, change in changes:
        write(row, change)


# sessions


def _session_figures(
    chance: np.random.Generator, subscribers: int, filters: list[Filter], say: Say
) -> dict[str, Figures]:
    """The times of `session.set_context(x=…, y=…)` by subscriptions per subscriber, with the plan of earlier matching.

    One broker has all subscribers, and their changes are mixed, so that other load on the machine affects them alike.
    """
    with Broker(index="fast") as broker:
        sessions = [broker.connect(str(i)) for i in range(subscribers)]
        made = iter(filters)
        say("sessions subscribe")
        for i, session in enumerate(sessions):
            for _ in range(STEPS[i % len(STEPS)]):
                session.subscribe(next(made), context=BOX, slow="drop_oldest", queue=8)
        publisher = broker.connect("publisher")
        publisher.advertise("true")
        for session, place in zip(sessions, _places(chance, subscribers), strict=True):
            session.set_context(place)
        for attributes, place in zip(numeric_messages(chance, WARM_UP), _places(chance, WARM_UP), strict=True):
            publisher.publish(attributes, context=place)
        say("sessions change their contexts")
        drawn = chance.integers(0, subscribers, len(STEPS) * CHANGES)
        taken = np.array(_changed([sessions[i] for i in drawn.tolist()], _places(chance, drawn.size)))
    kinds = drawn % len(STEPS)
    return {str(step): figures(taken[kinds == kind]) for kind, step in enumerate(STEPS)}


def _changed(sessions: list[Any], changes: list[dict[str, float]]) -> list[int]:
    """The nanoseconds of each change, called as users call it, without the extra call of `timed`."""
    now, taken = time.perf_counter_ns, []
    with quiet():
        for session, place in zip(sessions, changes, strict=True):
            x, y = place["x"], place["y"]
            since = now()
            session.set_context(x=x, y=y)
            taken.append(now() - since)
    return taken


# bulk updates


def _plain_ns(chance: np.random.Generator, subscribers: int) -> float:
    """Nanoseconds per row of an update of all rows, without a grid."""
    table = ContextTable()
    rows = np.array([table.row(str(i)) for i in range(subscribers)])
    for name in ("x", "y"):
        table.column(name)
    updates = [(rows[chance.permutation(subscribers)], _columns(chance, subscribers)) for _ in range(REPEATS)]
    return _each(times(table.write_columns, updates), subscribers)


def _grid_ns(chance: np.random.Generator, subscribers: int, filters: list[Filter]) -> float:
    """The same with a grid in use, including its repair, by which the next match takes longer."""
    table = ContextTable()
    index = FastIndex(table)
    rows = np.array([table.row(str(i)) for i in range(subscribers)])
    for row in _rows(subscribers, 10, filters):
        index.add(row)
    table.write_columns(rows, _columns(chance, subscribers))
    publications = list(zip(numeric_messages(chance, WARM_UP), _places(chance, WARM_UP), strict=True))
    for each in publications:
        index.match(*each)

    def update(rows: Array, columns: dict[str, Array], publication: tuple[Any, Any]) -> None:
        table.write_columns(rows, columns)
        index.match(*publication)

    alone = times(index.match, publications[:REPEATS])
    updates = [
        (rows[chance.permutation(subscribers)], _columns(chance, subscribers), publication)
        for publication in publications[:REPEATS]
    ]
    both = times(update, updates)
    return _each([b - a for a, b in zip(alone, both, strict=True)], subscribers)


def _columns(chance: np.random.Generator, count: int) -> dict[str, Array]:
    x, y = places.uniform(chance, count).T
    return {"x": np.ascontiguousarray(x), "y": np.ascontiguousarray(y)}


def _each(taken: list[int], rows: int) -> float:
    return round(float(np.median(taken)) / rows, 2)


def _rows(subscribers: int, step: int, filters: list[Filter]) -> list[SubscriptionRow]:
    function = ContextFunction.of(BOX)
    return [
        SubscriptionRow(str(i // step), str(i // step), f"s{i}", filters[i], function, ())
        for i in range(subscribers * step)
    ]


# SIENA style


def _siena_figures(chance: np.random.Generator, subscribers: int, filters: list[Filter], say: Say) -> dict[str, float]:
    """The time of the same change with the box in the filters: each subscription is removed and added again."""
    found = {}
    for step in STEPS[1:]:
        say(f"the SIENA style with {step} subscriptions each")
        index = SienaIndex()
        for i, place in enumerate(_places(chance, subscribers)):
            index.set_context(str(i), place)
        for row in _rows(subscribers, step, filters):
            index.add(row)
        drawn = chance.integers(0, subscribers, SIENA_CHANGES).tolist()
        changes = [(str(i), place) for i, place in zip(drawn, _places(chance, SIENA_CHANGES), strict=True)]
        found[str(step)] = median(times(index.set_context, changes))
    return found
