"""A replay of movement: vehicles change their context every second and cameras publish, in both systems in turns.

Each second of the trace occurs once, so no measurement can be repeated. Times are therefore processor times, which do
not include other programs.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time_ns
from typing import Any

import numpy as np

from silbo.bench.numbers import numeric_filters, numeric_messages
from silbo.papers.siena.changes import change_all
from silbo.papers.siena.city import Trace
from silbo.papers.siena.load import Load, box
from silbo.papers.siena.paper_figures import EACH
from silbo.papers.siena.same_notifications import oracle_notifications_of, oracle_of
from silbo.papers.siena.systems import Place, Publications, Siena, Silbo, System

SIDE = 400.0  # metres, of a vehicle's box
CAMERAS = 40
COMPARED = 5  # publications that the oracle checks
DRAWN = 200  # tracks for the picture


def replay(trace: Trace, seed: int) -> dict[str, Any]:
    """The processor seconds of each system for the changes and for the publications, by second of the trace."""
    chance = np.random.default_rng([seed, 15])
    filters = numeric_filters(chance, EACH * len(trace.vehicles))
    own = {name: filters[i * EACH : (i + 1) * EACH] for i, name in enumerate(trace.vehicles)}
    cameras = _cameras(chance, trace)
    both = Silbo(box(SIDE)), Siena(box(SIDE))
    numbers: dict[str, int] = {}
    places: dict[str, Place] = {}
    steps: list[dict[str, Any]] = []
    for second in trace.seconds:
        for name in [name for name in second if name not in numbers]:
            (numbers[name],) = {system.join(second[name], own[name]) for system in both}
        moved = {name: place for name, place in second.items() if places.get(name) != place}
        places |= moved
        published = _published(chance, cameras)
        steps.append(_step(both, [(numbers[name], place) for name, place in moved.items()], published))
    return {
        **_totals(steps),
        "vehicles": len(numbers),
        "simulator": trace.simulator,
        "plan": both[0].index.stats()["plan"],
        "agrees": _agrees(both, own, numbers, places, _published(chance, cameras)[:COMPARED]),
        "cameras": [[place["x"], place["y"]] for place in cameras],
        "tracks": _tracks(trace),
    }


def _cameras(chance: np.random.Generator, trace: Trace) -> list[Place]:
    """Cameras at the roads: at places where some vehicle was at some time."""
    seen = [place for second in trace.seconds for place in second.values()]
    return [seen[i] for i in chance.integers(0, len(seen), CAMERAS).tolist()]


def _published(chance: np.random.Generator, cameras: list[Place]) -> Publications:
    """One message of each camera."""
    return list(zip(numeric_messages(chance, len(cameras)), cameras, strict=True))


def _step(both: tuple[System, System], moved: list[tuple[int, Place]], published: Publications) -> dict[str, Any]:
    """Replay a second of the trace in both systems; returns nanoseconds and numbers of notifications."""
    step: dict[str, Any] = {"changes": len(moved), "publications": len(published)}
    for system in both:
        changes = [(system.who(number), place) for number, place in moved]
        step[system.name] = {
            "changes_ns": _processor_ns(change_all, system.change, changes),
            "publications_ns": _processor_ns(_match_all, system, published),
            "notifications": sum(len(system.match(*each)) for each in published),
        }
    return step


def _processor_ns(call: Callable[..., object], *arguments: Any) -> int:
    since = thread_time_ns()
    call(*arguments)
    return thread_time_ns() - since


def _match_all(system: System, published: Publications) -> None:
    for each in published:
        system.match(*each)


def _totals(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, total seconds, and the cumulative seconds by second of the trace."""
    names = ("silbo", "siena")
    changes, publications = (sum(step[what] for step in steps) for what in ("changes", "publications"))
    taken = {name: [step[name]["changes_ns"] + step[name]["publications_ns"] for step in steps] for name in names}
    return {
        "changes": changes,
        "publications": publications,
        "ratio": round(publications / max(1, changes), 4),
        "notifications": {name: sum(step[name]["notifications"] for step in steps) for name in names},
        "changes_s": {name: round(sum(step[name]["changes_ns"] for step in steps) / 1e9, 6) for name in names},
        "publications_s": {
            name: round(sum(step[name]["publications_ns"] for step in steps) / 1e9, 6) for name in names
        },
        "so_far_s": {name: (np.cumsum(each) / 1e9).round(6).tolist() for name, each in taken.items()},
        "on_the_road": [step["changes"] for step in steps],
    }


def _agrees(
    both: tuple[System, System],
    own: dict[str, list[Any]],
    numbers: dict[str, int],
    places: dict[str, Place],
    published: Publications,
) -> bool:
    """Whether both systems give the oracle's answers at the end of the trace."""
    order = sorted(numbers, key=numbers.__getitem__)
    oracle = oracle_of(Load(box(SIDE), [places[name] for name in order], [own[name] for name in order], ()))
    return all(
        system.got(*each) == expected
        for each in published
        for expected in [{notification[1] for notification in oracle_notifications_of(oracle, *each)}]
        for system in both
    )


def _tracks(trace: Trace) -> list[list[list[float]]]:
    """The tracks of the first vehicles."""
    tracks: dict[str, list[list[float]]] = {name: [] for name in trace.vehicles[:DRAWN]}
    for second in trace.seconds:
        for name, place in second.items():
            if name in tracks:
                tracks[name].append([round(place["x"], 1), round(place["y"], 1)])
    return list(tracks.values())
