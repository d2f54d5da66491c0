"""Atoms about places: great-circle distances, and geometries within or across one another.

Sines and roots may differ in their last bit from one library to the next, so a distance within a
millimetre of its threshold, or near the antipode, is called borderline and the case is discarded.
"""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, cast

from silbo.model.geometry import Geometry
from silbo.testing import pools, spelling
from silbo.testing.arithmetic import (
    EARTH_RADIUS,
    Vocabulary,
    binary,
    call_tokens,
    called,
    constant,
    haversine,
    loosened,
    numeric,
    on_doubles,
    variable,
)
from silbo.testing.chance import seldom
from silbo.testing.filters import comparison
from silbo.testing.fragments import Borderline, ConditionPiece, Situation, ValuePiece, atom, kind_of
from silbo.testing.operators import ORDER

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

TOLERANCE = 0.001  # metres
NEAR_ANTIPODE = math.cos(500 / EARTH_RADIUS) ** 2  # the haversine a kilometre before it

# metres, kilometres, and there and back: how a distance is written, and its unit in metres
SCALES = ((None, 1.0, 1.0), (None, 1.0, 1.0), ("/", 1000.0, 0.001), ("*", 2, 2.0))


def geo_comparison(random: Random, words: Vocabulary) -> ConditionPiece:
    """`geo_distance(…) <= 5000`, in metres or another unit."""
    degrees = [_degrees(random, words, kind) for kind in ("longitude", "latitude") * 2]
    distance = called(random, "geo_distance", degrees)
    operator, factor, unit = random.choice(SCALES)
    scaled = binary(operator, distance, constant(random, factor)) if operator else distance
    limit = _limit(random, words)
    condition = comparison(random, random.choice((*ORDER, "<", "<=", "=")), loosened(random, scaled), limit)
    return replace(condition, borderline=_borderline(degrees, scaled, limit, TOLERANCE * unit))


def _borderline(degrees: list[ValuePiece], distance: ValuePiece, limit: ValuePiece, tolerance: float) -> Borderline:
    unsteady = on_doubles(_unsteady, [each.compute for each in degrees])

    def borderline(situation: Situation) -> bool:
        length, bound = distance.compute(situation), limit.compute(situation)
        near = (
            kind_of(length) == kind_of(bound) == "number"
            and abs(cast("float", length) - cast("float", bound)) <= tolerance
        )
        return near or bool(unsteady(situation))

    return borderline


def _unsteady(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    """1 where the last bit of a sine is worth millimetres: near the antipode, or near a place past a pole."""
    a = haversine(lon1, lat1, lon2, lat2)
    past_a_pole = max(abs(lat1), abs(lat2)) > 90
    return float(a > NEAR_ANTIPODE or (past_a_pole and abs(a) < 1e-9))


def _degrees(random: Random, words: Vocabulary, kind: str) -> ValuePiece:
    draw = random.random()
    if draw < 0.75:
        namespaces = ["msg"] if seldom(random, 0.05) else words.contexts()
        return loosened(random, variable(random, *words.pick(random, kind, namespaces=namespaces)))
    if draw < 0.95:
        return loosened(random, constant(random, pools.scalar(random, kind)))
    return numeric(random, words, 2)


def _limit(random: Random, words: Vocabulary) -> ValuePiece:
    if seldom(random, 0.4):
        return variable(random, *words.pick(random, "radius", namespaces=words.contexts()))
    return constant(random, pools.scalar(random, "radius"))


def spatial(random: Random, words: Vocabulary) -> ConditionPiece:
    """`within(g, area)` or `intersects(a, b)`."""
    predicate = random.choice(("within", "intersects"))
    left, right = _place(random, words, "point"), _place(random, words, "area")

    def judge(situation: Situation) -> bool | None:
        a, b = _located(left.compute(situation)), _located(right.compute(situation))
        if a is None or b is None:
            return None
        return bool(b.covers(a) if predicate == "within" else b.intersects(a))

    condition = atom(call_tokens(random, predicate, [left, right]), judge, left, right)
    return replace(condition, depth=condition.depth + 1)


def _located(value: object) -> BaseGeometry | None:
    return value.shape if isinstance(value, Geometry) else None


def _place(random: Random, words: Vocabulary, kind: str) -> ValuePiece:
    draw = random.random()
    if draw < 0.6:
        namespaces = ["msg"] if seldom(random, 0.05) else words.contexts()
        return loosened(random, variable(random, *words.pick(random, kind, namespaces=namespaces)))
    if draw < 0.75:
        return loosened(random, _point(random, words))
    return loosened(random, _geometry_constant(random, kind))


def _point(random: Random, words: Vocabulary) -> ValuePiece:
    x, y = (numeric(random, words, random.choice((1, 1, 2))) for _ in range(2))
    number_x, number_y = (on_doubles(lambda a: a, [each.compute]) for each in (x, y))

    def compute(situation: Situation) -> Geometry | None:
        import shapely

        a, b = number_x(situation), number_y(situation)
        return None if a is None or b is None else Geometry(shapely.Point(a, b), ("wkt", ""))

    return ValuePiece(
        call_tokens(random, "point", [x, y]),
        compute,
        depth=max(x.depth, y.depth) + 1,
        nodes=x.nodes + y.nodes + 1,
        names=x.names | y.names,
    )


def _geometry_constant(random: Random, kind: str) -> ValuePiece:
    wkt = random.choice(pools.POINTS if kind == "point" else pools.AREAS)
    text = loosened(random, ValuePiece((spelling.string(random, wkt),), lambda _: wkt))
    tokens = call_tokens(random, "geometry", [text])
    return ValuePiece(tokens, lambda _: pools.known_geometry(wkt), depth=text.depth + 1, nodes=2)
