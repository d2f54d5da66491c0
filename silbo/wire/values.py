"""Values in msgpack: a set and a geometry are extension types, everything else is what msgpack has.

Extension 1 is a set: a msgpack array of its members, in the order and with the duplicates in which they were given.
Extension 2 is a geometry: a msgpack array of the form in which it was given, "wkt" or "geojson", and that text or
object. A decoded set or geometry is checked; the values around it are not, which is what `events` and `records` do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from silbo.errors import InvalidRecord, MissingPart
from silbo.model.geometry import Geometry, geometry
from silbo.model.values import ValueSet, checked_context_value

try:
    import msgpack
except ImportError:
    raise MissingPart("msgpack, the form of records,", command="pip install msgpack") from None

SET, GEOMETRY = 1, 2  # extension types


def packed(whole: object) -> bytes:
    """Encode a value as msgpack; sets and geometries become extension types."""
    return cast("bytes", msgpack.packb(whole, default=_extension))


def unpacked(data: bytes, mapping: Callable[[list[tuple[Any, Any]]], Any] | None = None) -> Any:
    """Decode the bytes of `packed`; `mapping` makes the value of each map from its pairs (None: a dictionary)."""
    return msgpack.unpackb(data, ext_hook=_read_extension, strict_map_key=False, object_pairs_hook=mapping)


def place_of(data: bytes, index: int) -> int:
    """The position of the first byte of an element in a packed array."""
    reader = msgpack.Unpacker(read_size=len(data), max_buffer_size=len(data))
    reader.feed(data)
    reader.read_array_header()
    for _ in range(index):
        reader.skip()
    return cast("int", reader.tell())


def _extension(value: object) -> object:
    match value:
        case ValueSet():
            return msgpack.ExtType(SET, msgpack.packb(list(value.given)))
        case Geometry():
            return msgpack.ExtType(GEOMETRY, msgpack.packb(list(value.given)))
        case Mapping():
            return dict(value)
        case _:
            raise TypeError(f"a record cannot hold {type(value).__name__}")


def _read_extension(code: int, data: bytes) -> object:
    given = msgpack.unpackb(data, strict_map_key=False)
    if code == SET and isinstance(given, list):
        return checked_context_value(given, "set")
    match given:
        case ["wkt", str(source)] | ["geojson", dict(source)] if code == GEOMETRY:
            return geometry(source, "geometry")
        case _:
            raise InvalidRecord(f"extension type {code} is unknown, or its content is malformed.")
