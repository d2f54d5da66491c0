"""The workload `hw`: drivers subscribe to events on their road, near their position.

Filters are equalities, some with another constraint, a few with `or`. One filter in thirty has no equality, and stays
in software. Every function is a box around the subscriber. The same seed gives the same log.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from silbo.core.fold import Fold
from silbo.matching.choice import OffloadLike
from silbo.model.events import Advertise, Event, Publish, SetContext, Subscribe
from silbo.model.values import Scalar

SUBSCRIPTIONS = 250  # each of another subscriber
PUBLISHERS = 8
SIDE = 100.0  # km; all positions are in a square with this side
WHAT = ("accident", "fog", "ice", "jam", "police", "roadworks", "storm", "wrong-way")
ROADS = tuple(f"A{number}" for number in range(1, 41))
WAYS = ("north", "east", "south", "west")


@dataclass(frozen=True, slots=True)
class _Driver:
    """A subscriber: its road, the kind of event that it asks for, and how far from it."""

    name: str
    road: str
    what: str
    reach: int  # km


def log(seed: int = 1, publications: int = 500, subscriptions: int = SUBSCRIPTIONS) -> list[Event]:
    """All drivers set their positions and subscribe; then publications, with a movement before every other one."""
    chance = np.random.default_rng(seed)
    drivers = [_driver(chance, number) for number in range(subscriptions)]
    places = {driver.name: _anywhere(chance) for driver in drivers}
    events: list[Event] = [Advertise(_camera(number), "a", "true") for number in range(PUBLISHERS)]
    events += [SetContext(driver.name, dict(places[driver.name])) for driver in drivers]
    events += [_subscribe(number, driver) for number, driver in enumerate(drivers)]
    for number in range(publications):
        driver = drivers[int(chance.integers(subscriptions))]
        if number % 2:
            places[driver.name] = _near(chance, places[driver.name], 5.0)
            events.append(SetContext(driver.name, dict(places[driver.name])))
        events.append(_publish(chance, driver, places[driver.name]))
    return events


def device_share(offload: OffloadLike, events: list[Event]) -> float:
    """The share of a log's subscriptions that a device takes."""
    fold = Fold(offload=offload)
    try:
        fold.apply([event for event in events if not isinstance(event, Publish)])
        placed = fold.core.index.stats()["offload"]
    finally:
        fold.close()
    return float(placed["device"] / (placed["device"] + placed["software"]))


def simulated_share() -> float:
    """The share of the workload's subscriptions that the simulated matcher takes."""
    return device_share("sim", log(publications=0))


def _driver(chance: np.random.Generator, number: int) -> _Driver:
    return _Driver(
        f"car-{number}", str(chance.choice(ROADS)), str(chance.choice(WHAT)), int(chance.choice((5, 10, 20)))
    )


def _subscribe(number: int, driver: _Driver) -> Subscribe:
    reach = driver.reach
    function = f"abs(pub.x - this.x) <= {reach} and abs(pub.y - this.y) <= {reach}"
    if number % 5 == 4:
        function = f"distance(pub.x, pub.y, this.x, this.y) <= {reach}"
    return Subscribe(driver.name, "s", _filter(number, driver), function)


def _filter(number: int, driver: _Driver) -> str:
    here = f'road = "{driver.road}"'
    match number % 30:
        case 0:
            return f'road prefix "{driver.road}"'  # no equality
        case 7:
            return f'{here} and what = "{driver.what}" or what = "wrong-way"'
        case 3 | 11 | 19:
            return f"{here} and severity >= {1 + number % 4}"
        case 5 | 15 | 25:
            return f'{here} and what = "{driver.what}" and way = "{WAYS[number % 4]}"'
        case 9 | 13 | 17 | 21:
            return f'{here} and what = "{driver.what}"'
        case _:
            return here


def _publish(chance: np.random.Generator, driver: _Driver, place: dict[str, float]) -> Publish:
    """A publication: half of them are on the driver's road, of its kind of event, and near its position."""
    is_near = chance.random() < 0.5
    said: dict[str, Scalar] = {
        "road": driver.road if is_near else str(chance.choice(ROADS)),
        "what": driver.what if is_near else str(chance.choice(WHAT)),
        "way": str(chance.choice(WAYS)),
        "severity": int(chance.integers(1, 6)),
    }
    where = _near(chance, place, driver.reach) if is_near else _anywhere(chance)
    return Publish(_camera(int(chance.integers(PUBLISHERS))), said, where)


def _camera(number: int) -> str:
    return f"camera-{number}"


def _anywhere(chance: np.random.Generator) -> dict[str, float]:
    x, y = chance.uniform(0, SIDE, 2).tolist()
    return {"x": x, "y": y}


def _near(chance: np.random.Generator, place: dict[str, float], reach: float) -> dict[str, float]:
    return {name: value + float(chance.uniform(-reach, reach)) for name, value in place.items()}
