"""The functions of context functions and scopes, for the Python form: `fn.distance(pub.x, pub.y, this.x, this.y) <= 5`.

They have the names they have in text, so this module is meant to be used as `silbo.fn`, never with
`import *`.
"""

from __future__ import annotations

from silbo.language.form import Condition, Geometric, Operand, call, point, spatial
from silbo.model.geometry import Geometry, geometry

__all__ = ["abs", "distance", "geo_distance", "geometry", "intersects", "max", "min", "point", "sqrt", "within"]


def __dir__() -> list[str]:
    """The functions alone, for completion."""
    return __all__


def abs(a: object) -> Operand:
    """The absolute value."""
    return call("abs", a)


def min(a: object, b: object, *more: object) -> Operand:
    """The smallest of two or more numbers."""
    return call("min", a, b, *more)


def max(a: object, b: object, *more: object) -> Operand:
    """The largest of two or more numbers."""
    return call("max", a, b, *more)


def sqrt(a: object) -> Operand:
    """The square root; unknown for a negative number."""
    return call("sqrt", a)


def distance(x1: object, y1: object, x2: object, y2: object) -> Operand:
    """Planar distance of two points."""
    return call("distance", x1, y1, x2, y2)


def geo_distance(lon1: object, lat1: object, lon2: object, lat2: object) -> Operand:
    """Great-circle distance of two points in degrees, in metres."""
    return call("geo_distance", lon1, lat1, lon2, lat2)


def within(g: Operand | Geometric | Geometry, area: Operand | Geometric | Geometry) -> Condition:
    """Whether g lies in area; the border counts."""
    return spatial("within", g, area)


def intersects(a: Operand | Geometric | Geometry, b: Operand | Geometric | Geometry) -> Condition:
    """Whether two geometries have a point in common."""
    return spatial("intersects", a, b)
