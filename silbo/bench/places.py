"""The positions of subscribers and publishers: in a square of 1,000 km, uniformly or in towns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from silbo.model.values import Context

if TYPE_CHECKING:
    import numpy as np

    from silbo.bench.numbers import Array

SQUARE = 1_000.0  # km, each side
TOWNS = 20
TOWN = 5.0  # km, standard deviation of a town's inhabitants


def uniform(chance: np.random.Generator, count: int) -> Array:
    """Uniform positions in the square, as rows of x and y."""
    return chance.uniform(0, SQUARE, (count, 2))


def in_towns(chance: np.random.Generator, towns: Array, count: int) -> Array:
    """Positions around the towns."""
    around = towns[chance.integers(0, len(towns), count)]
    return around + chance.normal(0, TOWN, (count, 2))


def contexts(positions: Array) -> list[dict[str, float]]:
    """Positions as contexts."""
    return [{"x": x, "y": y} for x, y in positions.tolist()]


def box(side: float) -> str:
    """The context function of a box around the subscriber, given its side in km."""
    reach = f"{side / 2:g}"
    return f"abs(pub.x - this.x) <= {reach} and abs(pub.y - this.y) <= {reach}"


def near(chance: np.random.Generator, subscriber: Context, publisher: Context, reach: float) -> Context:
    """A publisher's context with a position on or near the border of a subscriber's box, or inside it."""
    moved = {name: _moved(chance, subscriber[name], reach) for name in ("x", "y")}
    return {**publisher, **moved}


def _moved(chance: np.random.Generator, place: object, reach: float) -> float:
    assert isinstance(place, float)
    if chance.random() < 0.2:
        return place + float(chance.choice((-reach, reach)))
    return place + float(chance.uniform(-1.15, 1.15)) * reach
