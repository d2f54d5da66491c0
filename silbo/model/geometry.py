"""Geometries as context values: planar, x before y, valid, not empty, at most 4,096 vertices.

shapely does the geometry. It is imported when the first geometry is created, since `import silbo` must
stay quick; everything but geometries works without it. A plain string is never read as a geometry; use
`geometry(...)`.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from silbo.errors import InvalidGeometry, MissingPart, TooManyVertices

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

MAX_VERTICES = 4_096
# GEOS reads nested collections by recursion: a hundred thousand levels crash the process.
MAX_NESTING = 32  # parentheses of WKT open at once

GEOJSON_TYPES = frozenset(
    ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"]
)

Given: TypeAlias = tuple[str, object]  # ("wkt", text) or ("geojson", object): the form that the log prints


class Geometry:
    """A validated geometry. Equal geometries have equal WKB."""

    __slots__ = ("_bounds", "given", "shape", "wkb")

    def __init__(self, shape: BaseGeometry, given: Given) -> None:
        self.shape = shape
        self.given = given
        self.wkb: bytes = shape.wkb
        self._bounds: tuple[float, float, float, float] | None = None

    @property
    def wkt(self) -> str:
        """Well-known text, with every digit."""
        return exact_wkt(self.shape)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The least x, the least y, the greatest x and the greatest y."""
        if self._bounds is None:
            self._bounds = self.shape.bounds
        return self._bounds

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Geometry) and self.wkb == other.wkb

    def __hash__(self) -> int:
        return hash(self.wkb)

    def __repr__(self) -> str:
        return f"geometry({self.wkt!r})"


def library() -> Any:
    """shapely, or an error that says how to install it."""
    try:
        import shapely
    except ImportError:
        raise _missing("Numbers, strings, bools and sets need none.") from None
    if not hasattr(shapely, "covered_by"):
        raise _missing(f"Here is {shapely.__version__}, which is too old.")
    return shapely


def _missing(why: str) -> MissingPart:
    compiling = "Where there is no wheel of it, as on a PYNQ board, pip compiles it: apt-get install libgeos-dev first."
    return MissingPart(
        "shapely, which geometries need,", command="pip install 'shapely>=2.1'", why=f"{why} {compiling}"
    )


def geometry(value: object, path: str = "geometry") -> Geometry:
    """A geometry from WKT, a GeoJSON geometry, or a shapely object."""
    if isinstance(value, Geometry):
        return value
    if isinstance(value, str):
        return _checked(_from_wkt(value, path), ("wkt", str.__str__(value)), path)
    if isinstance(value, Mapping):
        # a deep copy: the caller may change the original later
        text = _geojson_text(value, path)
        return _checked(_read(path, "GeoJSON geometry", "from_geojson", text), ("geojson", json.loads(text)), path)
    if _is_shape(value):
        return _checked(value, None, path)
    raise InvalidGeometry(path, f"WKT, a GeoJSON geometry or a shapely object is expected, not {type(value).__name__}.")


def looks_like_geometry(value: object) -> bool:
    """Whether a context value that is not a scalar should be read as a geometry."""
    if isinstance(value, Mapping):
        return isinstance(value.get("type"), str) and value["type"] in GEOJSON_TYPES
    return isinstance(value, Geometry) or _is_shape(value)


def _is_shape(value: object) -> bool:
    # a shapely object exists only if shapely is imported: no need to import it for this check.
    shape = getattr(sys.modules.get("shapely"), "Geometry", None)
    return shape is not None and isinstance(value, shape)


def _from_wkt(text: str, path: str) -> object:
    if "\0" in text or _nesting(text) > MAX_NESTING:
        raise InvalidGeometry(path, f"WKT has no NUL and at most {MAX_NESTING} open parentheses. Flatten it.")
    return _read(path, "WKT of points, lines and polygons", "from_wkt", text)


def _nesting(text: str) -> int:
    signs = [1 if character == "(" else -1 for character in text if character in "()"]
    return max(itertools.accumulate(signs), default=0)


def _geojson_text(value: Mapping[str, object], path: str) -> str:
    if not looks_like_geometry(value):
        raise InvalidGeometry(
            path,
            f"a GeoJSON geometry has a type of {', '.join(sorted(GEOJSON_TYPES))}. Of a Feature give its geometry.",
        )
    try:
        return json.dumps(dict(value), allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidGeometry(path, f"this is no GeoJSON geometry ({error}).") from None


def _read(path: str, what: str, read: Literal["from_wkt", "from_geojson"], text: str) -> object:
    shapely = library()
    import numpy as np  # shapely brings it

    try:
        with np.errstate(all="ignore"):  # `_checked` refuses a coordinate outside the range of doubles
            return getattr(shapely, read)(text)
    except (shapely.GEOSException, NotImplementedError, ValueError) as error:
        raise InvalidGeometry(path, f"this is no {what} ({error}). Write for example 'POINT (1 2)'.") from None


def _checked(shape: object, given: Given | None, path: str) -> Geometry:
    shapely = library()
    if not isinstance(shape, shapely.Geometry) or shape.is_empty:
        raise InvalidGeometry(path, "an empty geometry has no place. Leave the variable out.")
    try:
        flat = shapely.force_2d(shape)
        coordinates = shapely.get_coordinates(flat)
        valid = flat.is_valid
    except (shapely.GEOSException, NotImplementedError, AttributeError) as error:
        # the reader accepts curves inside a collection, but their first use fails
        raise InvalidGeometry(path, f"only points, lines and polygons are known ({error}).") from None
    if len(coordinates) > MAX_VERTICES:
        raise TooManyVertices(path, len(coordinates), MAX_VERTICES)
    if not all(map(math.isfinite, coordinates.ravel().tolist())):
        raise InvalidGeometry(path, "NaN and infinity are no coordinates.")
    if not valid:
        raise InvalidGeometry(path, f"{shapely.is_valid_reason(flat)}. Repair it, for example with shapely.make_valid.")
    return Geometry(flat, given or ("wkt", exact_wkt(flat)))


NUMBER = re.compile(r"-?\d[\d.e+-]*")  # as GEOS writes a coordinate


def exact_wkt(shape: BaseGeometry) -> str:
    """Well-known text that reads back as the same geometry.

    GEOS writes 16 decimals or at most 17 digits, and loses some of 0.1 + 0.2 either way; `repr` loses none. The
    coordinates are in the text in the order in which shapely lists them.
    """
    import shapely

    coordinates = iter(shapely.get_coordinates(shape).ravel().tolist())
    return NUMBER.sub(lambda written: _exact(written[0], next(coordinates)), shape.wkt)


def _exact(written: str, coordinate: float) -> str:
    return written if repr(float(written)) == repr(coordinate) else repr(coordinate)
