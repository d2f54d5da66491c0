"""Names and values that meet: small pools, so that messages hit what filters ask for.

Every name has a kind that its values mostly have; now and then one has another type, or is absent.
Among the values stand the borders where engines go wrong: the ends of int64, 2^53 and its
neighbours, -0.0, strings that begin alike, characters on both sides of the surrogates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import TypeAlias

from silbo.model.geometry import Geometry, geometry
from silbo.testing.chance import picked, seldom

Scalar: TypeAlias = bool | int | float | str

# the odd ones are keywords, look like a namespace or a function, or need backticks
ATTRIBUTES: Mapping[str, str] = {
    "msg": "string",
    "kind": "string",
    "severity": "number",
    "speed": "number",
    "urgent": "bool",
    "a.b": "number",
    "in.not": "string",
    "min": "number",
    "NOT": "bool",
    "pub.x": "number",
    "tick`tack": "string",
    "größe 📏": "number",
}
VARIABLES: Mapping[str, str] = {
    "x": "number",
    "y": "number",
    "role": "string",
    "name": "string",
    "active": "bool",
    "tags": "strings",
    "levels": "numbers",
    "switches": "bools",
    "pos": "point",
    "area": "area",
    "lon": "longitude",
    "lat": "latitude",
    "radius": "radius",
    "true": "bool",
    "in": "numbers",
    "this.x": "number",
    "my `own`\tname": "string",
}
ODD = frozenset(["in.not", "min", "NOT", "pub.x", "tick`tack", "größe 📏", "true", "in", "this.x", "my `own`\tname"])

SMALLEST, LARGEST = -(2**63), 2**63 - 1
COMMON_NUMBERS = (0, 1, 2, 3, 4, 5, 10, 20, 1.0, 2.5, 0.5, -1, -5)
# where int64 and doubles part
BIG_NUMBERS = (2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, LARGEST, LARGEST - 1, SMALLEST)
BORDER_NUMBERS = (
    *BIG_NUMBERS,
    -0.0,
    float(2**53),
    float(2**63),
    -float(2**63),
    1.7976931348623157e308,
    -1e200,
    5e-324,
    1e-200,
    0.1,
    0.30000000000000004,
)
COMMON_STRINGS = ("accident", "acc", "jam", "a", "ab", "guest", "taxi")
BORDER_STRINGS = (
    "",
    "A",
    "abc",
    "\0",
    "a\0",
    "é",
    "e\u0301",
    "\uffff",
    "\U00010000",
    "📏",
    "\ud7ff",
    "true",
    "1",
    "it's",
    'say "in"',
    "back\\slash/",
    "two\nlines\t",
)
LONGITUDES = (0, -3.7038, -3.70, 2.1734, 180, -180, 179.99, 0.001)
LATITUDES = (0, 40.4168, 40.42, 41.3851, 90, -90.0, 89.99, -40.4168)
RADII = (0, 100.5, 5_000, 505_700.0, 111_195, 10_007_557.5, 20_015_200)

POINTS = ("POINT (0 0)", "POINT (5 5)", "POINT Z (10 5 7)", "POINT (10.000000000000002 5)", "POINT (20 20)")
AREAS = (
    "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))",
    "POLYGON ((10 0, 20 0, 20 10, 10 10, 10 0))",
    "POLYGON ((-5 -5, 25 -5, 25 25, -5 25, -5 -5), (4 4, 4 6, 6 6, 6 4, 4 4))",
    "LINESTRING (0 0, 10 0, 10 10)",
    "MULTIPOINT ((5 5), (20 20))",
)
GEOJSON = (
    {"type": "Point", "coordinates": [5, 5]},
    {"type": "Polygon", "coordinates": [[[0, 0], [5, 0], [5, 5], [0, 5], [0, 0]]]},
)


def neighbours(value: Scalar) -> tuple[Scalar, ...]:
    """The values next to one: where an off-by-one or a rounding shows."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, str):
        return (value + "\0", value + "a", *((value[:-1],) if value else ()))
    floats = [math.nextafter(float(value), end) for end in (-math.inf, math.inf)]
    whole = [int(value) - 1, int(value) + 1] if value == int(value) else []
    return (*(n for n in whole if SMALLEST <= n <= LARGEST), *filter(math.isfinite, floats))


def scalar(random: Random, kind: str) -> Scalar:
    """A number, string or bool, often one that a filter names, now and then its neighbour."""
    value = SCALARS[kind](random)
    return random.choice(neighbours(value)) if seldom(random, 0.08) else value


SCALARS: Mapping[str, Callable[[Random], Scalar]] = {
    "number": lambda random: picked(random, COMMON_NUMBERS, BORDER_NUMBERS),
    "string": lambda random: picked(random, COMMON_STRINGS, BORDER_STRINGS),
    "bool": lambda random: random.random() < 0.5,
    "longitude": lambda random: picked(random, LONGITUDES, [random.uniform(-180, 180)]),
    "latitude": lambda random: picked(random, LATITUDES, [random.uniform(-90, 90)]),
    "radius": lambda random: picked(random, RADII, [random.uniform(0, 2e7)]),
}
PLAIN_KINDS = ("number", "string", "bool")
SETS = {"numbers": "number", "strings": "string", "bools": "bool"}
# what a wrongly typed value may be; lists stand for sets
CONTEXT_KINDS = (*PLAIN_KINDS, *SETS, "point", "area")


def scalars(random: Random, kind: str) -> list[Scalar]:
    """The members of a set, at times with duplicates, at times none."""
    count = random.choice((0, 1, 2, 3, 4, 8))
    return [scalar(random, kind) for _ in range(count)]


@cache
def known_geometry(wkt: str) -> Geometry:
    """A geometry of the pools, read once: geometries are values, and reading WKT costs more than a match."""
    return geometry(wkt)


def shape(random: Random, kind: str) -> Geometry:
    """A point or an area, mostly from WKT."""
    if seldom(random, 0.05):
        return geometry(random.choice(GEOJSON))
    return known_geometry(random.choice(POINTS if kind == "point" else AREAS))


def context_value(random: Random, kind: str) -> object:
    """A value of a context: a scalar, a list for a set, or a geometry."""
    if kind in SETS:
        return scalars(random, SETS[kind])
    if kind in ("point", "area"):
        return shape(random, kind)
    return scalar(random, kind)


def attributes(random: Random) -> dict[str, Scalar]:
    """A message: most names present, most values of their name's kind."""
    return {
        name: scalar(random, random.choice(PLAIN_KINDS) if seldom(random, 0.07) else kind)
        for name, kind in ATTRIBUTES.items()
        if not seldom(random, 0.5 if name in ODD else 0.15)
    }


def context(random: Random) -> dict[str, object]:
    """A context: most names present, most values of their name's kind, sets as lists."""
    return {
        name: context_value(random, random.choice(CONTEXT_KINDS) if seldom(random, 0.07) else kind)
        for name, kind in VARIABLES.items()
        if not seldom(random, 0.5 if name in ODD else 0.15)
    }
