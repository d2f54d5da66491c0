"""Contexts of every kind, with strings, sets, bools, numbers and geometries, and functions over them.

Functions have eight forms with random constants, which gives some thousands of different functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from silbo.bench import places
from silbo.context.function import ContextFunction
from silbo.model.geometry import geometry
from silbo.model.values import Context, ValueSet, checked_context

if TYPE_CHECKING:
    import numpy as np

KINDS = [f"kind-{i}" for i in range(50)]
ROADS = [f"road-{i}" for i in range(200)]
TOPICS = [f"topic-{i}" for i in range(100)]
FUNCTIONS = 4_000

SHAPES = (
    "abs(pub.x - this.x) <= {r} and abs(pub.y - this.y) <= {r}",
    "distance(pub.x, pub.y, this.x, this.y) <= {r} and pub.kind = this.kind",
    "geo_distance(pub.lon, pub.lat, this.lon, this.lat) <= {m}",
    "pub.topic in this.topics and pub.speed > {v}",
    "pub.road prefix this.road or pub.speed * {f} - this.speed > {v}",
    "within(point(pub.x, pub.y), this.zone)",
    "(pub.kind = this.kind or this.on_call) and abs(pub.x - this.x) <= {r}",
    "intersects(pub.area, this.zone) and msg.a0 > {v}",
)


def functions(chance: np.random.Generator, count: int) -> list[ContextFunction]:
    """`count` functions, drawn from some thousands."""
    made = [ContextFunction.of(_text(chance, i)) for i in range(min(FUNCTIONS, count))]
    return [made[i] for i in chance.integers(0, len(made), count).tolist()]


def _text(chance: np.random.Generator, i: int) -> str:
    r, m, v, f = chance.uniform((5, 2_000, 0, 0.1), (40, 40_000, 100, 2)).round(2).tolist()
    return SHAPES[i % len(SHAPES)].format(r=r, m=m, v=v, f=f)


def subscriber_context(chance: np.random.Generator) -> Context:
    """A subscriber's context, with all variables that functions read."""
    topics = [TOPICS[i] for i in chance.choice(len(TOPICS), chance.integers(0, 6), replace=False)]
    return _context(
        chance, road=f"road-{chance.integers(1, 20)}", topics=topics, on_call=bool(chance.random() < 0.05), zone=20.0
    )


def publisher_context(chance: np.random.Generator) -> Context:
    """A publisher's context."""
    return _context(chance, road=_one(chance, ROADS), topic=_one(chance, TOPICS), area=5.0)


def _context(chance: np.random.Generator, **more: Any) -> Context:
    """A position on the plane and the globe, and the given variables; a float becomes a square around the position."""
    x, y = chance.uniform(0, places.SQUARE, 2).tolist()
    squares = {name: _square(x, y, size) for name, size in more.items() if type(size) is float}
    speed = round(float(chance.uniform(0, 130)), 1)
    return checked_context(
        {"x": x, "y": y, **_degrees(x, y), "kind": _one(chance, KINDS), "speed": speed, **more, **squares}
    )


def near(chance: np.random.Generator, subscriber: Context, publisher: Context) -> Context:
    """A publisher's context that is similar to a subscriber's."""
    moved: dict[str, Any] = dict(places.near(chance, subscriber, publisher, reach=15.0))
    moved |= _degrees(moved["x"], moved["y"])
    moved["area"] = _square(moved["x"], moved["y"], 5.0)
    if chance.random() < 0.7:
        moved["kind"], moved["road"] = subscriber["kind"], subscriber["road"]
    topics = subscriber["topics"]
    if isinstance(topics, ValueSet) and len(topics):
        moved["topic"] = min(map(str, topics))
    return moved


def _degrees(x: float, y: float) -> dict[str, float]:
    return {"lon": x / 100, "lat": 40 + y / 100}


def _one(chance: np.random.Generator, names: list[str]) -> str:
    return names[chance.integers(len(names))]


def _square(x: float, y: float, reach: float) -> Any:
    left, right, low, high = x - reach, x + reach, y - reach, y + reach
    return geometry(f"POLYGON(({left} {low}, {right} {low}, {right} {high}, {left} {high}, {left} {low}))")
