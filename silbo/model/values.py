"""Validation: every value that enters silbo is checked and normalized here.

Scalars become exact `bool`, `int`, `float` or `str`; collections become a `ValueSet`; geometries a
`Geometry`. An error names the path of the refused value. `silbo.language.evaluation` defines how values
compare.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal, TypeAlias

from silbo.errors import (
    InvalidValue,
    MessageTooLarge,
    NameTooLong,
    SetTooLarge,
    StringTooLong,
    TooManyAttributes,
    TooManyVariables,
)
from silbo.model.geometry import Geometry, geometry, looks_like_geometry
from silbo.model.size import packed_size

Scalar: TypeAlias = bool | int | float | str
Kind: TypeAlias = Literal["number", "bool", "string"]

SMALLEST_INT, LARGEST_INT = -(2**63), 2**63 - 1
MAX_NAME = 255  # bytes of UTF-8
MAX_STRING = 65_535  # bytes of UTF-8
MAX_MEMBERS = 1_024  # of a set, duplicates included
MAX_ATTRIBUTES = 256  # of a message
MAX_VARIABLES = 64  # of a context, after the merge
MAX_MESSAGE = 2**20  # bytes: msgpack of the attributes plus msgpack of the payload

KINDS: Mapping[type, Kind] = {bool: "bool", int: "number", float: "number", str: "string"}


class ValueSet(AbstractSet[Scalar]):
    """A set of scalars of one type, as a context value.

    It keeps its members as they were given, for the log's output; equality and membership include the type,
    so `{1}` and `{True}` differ, although Python's own sets treat them as equal.
    """

    __slots__ = ("_members", "given", "kind")

    def __init__(self, given: tuple[Scalar, ...]) -> None:
        self.given = given
        self.kind: Kind | None = KINDS[type(given[0])] if given else None
        self._members = frozenset(given)

    def __contains__(self, value: object) -> bool:
        return KINDS.get(type(value)) == self.kind and value in self._members

    def __iter__(self) -> Iterator[Scalar]:
        return iter(dict.fromkeys(self.given))

    def __len__(self) -> int:
        return len(self._members)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ValueSet):
            return self.kind == other.kind and self._members == other._members
        return AbstractSet.__eq__(self, other)

    def __hash__(self) -> int:
        return hash((self.kind, self._members))

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}"


ContextValue: TypeAlias = bool | int | float | str | ValueSet | Geometry
Attributes: TypeAlias = Mapping[str, Scalar]
Context: TypeAlias = Mapping[str, ContextValue]


def checked_name(value: object, path: str) -> str:
    """A name, id or session name: 1 to 255 bytes of UTF-8."""
    if not isinstance(value, str):
        raise InvalidValue(path, f"a name must be a string, not {type(value).__name__}.")
    if not value:
        raise InvalidValue(path, "a name must not be empty.")
    size = len(_utf8(value, path))
    if size > MAX_NAME:
        raise NameTooLong(path, size, MAX_NAME)
    return str.__str__(value)  # an enum's own str() returns another text


def checked_names(values: object, path: str) -> tuple[str, ...]:
    """A list of names, for `offers`, `reads` and `include`."""
    try:
        listed = None if isinstance(values, str | bytes | Mapping) else list(values)  # type: ignore[call-overload]
    except TypeError:
        listed = None
    if listed is None:
        raise InvalidValue(path, f"a list of names is expected, not {type(values).__name__}.")
    return tuple(checked_name(value, f"{path}[{i}]") for i, value in enumerate(listed))


def checked_scalar(value: object, path: str) -> Scalar:
    """A bool, number or string within its bounds, as an exact built-in type."""
    value = _without_numpy(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _checked_int(int.__int__(value), path)
    if isinstance(value, float):
        return _checked_float(float.__float__(value), path)
    if isinstance(value, str):
        return _checked_string(value, path)
    raise InvalidValue(path, _why_not_scalar(value))


def checked_context_value(value: object, path: str) -> ContextValue:
    """A scalar, a set of scalars of one type, or a geometry."""
    if isinstance(value, ValueSet | Geometry):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return _checked_set(value, path)
    if looks_like_geometry(value):
        return geometry(value, path)
    return checked_scalar(value, path)


def checked_attributes(attributes: object, path: str = "attributes") -> dict[str, Scalar]:
    """The attributes of a message: at most 256 scalars by name."""
    mapping = _checked_mapping(attributes, path)
    if len(mapping) > MAX_ATTRIBUTES:
        raise TooManyAttributes(path, len(mapping), MAX_ATTRIBUTES)
    checked: dict[str, Scalar] = {}
    for name, value in mapping.items():
        key = name if name in _names and type(name) is str else _remembered_name(name, f"{path} key {name!r}")
        checked[key] = value if _is_plain(value) else checked_scalar(value, f"{path}.{name}")  # type: ignore[assignment]
    return checked


def _is_plain(value: object) -> bool:
    """Whether a value is valid as it is, which most are. The slower checks of the others give paths and reasons."""
    kind = type(value)
    if kind is float:
        return bool(value - value == 0.0)  # type: ignore[operator]  # NaN if it is not finite
    if kind is int:
        return SMALLEST_INT <= value <= LARGEST_INT  # type: ignore[operator]
    if kind is str:
        return len(value) <= MAX_STRING and value.isascii()  # type: ignore[arg-type, attr-defined]
    return kind is bool


REMEMBERED = 4_096
_names: set[str] = set()  # recently validated names: the same names come again and again


def _remembered_name(name: object, path: str) -> str:
    checked = checked_name(name, path)
    if len(_names) >= REMEMBERED:
        _names.clear()
    _names.add(checked)
    return checked


def checked_context(values: object, path: str = "context") -> dict[str, ContextValue]:
    """A whole context, as sent with a publish: without removals."""
    context = checked_changes(values, path, removals=False)
    if len(context) > MAX_VARIABLES:
        raise TooManyVariables(path, len(context), MAX_VARIABLES)
    return context  # type: ignore[return-value]  # without removals none is None


def checked_changes(values: object, path: str = "values", *, removals: bool = True) -> dict[str, ContextValue | None]:
    """Changes of a context; None removes a variable where removals are allowed."""
    changes: dict[str, ContextValue | None] = {}
    for name, value in _checked_mapping(values, path).items():
        key = name if name in _names and type(name) is str else _remembered_name(name, f"{path} key {name!r}")
        if _is_plain(value):
            changes[key] = value  # type: ignore[assignment]
        else:
            changes[key] = None if value is None and removals else checked_context_value(value, f"{path}.{name}")
    return changes


def whole_context(
    old: Context, changes: Mapping[str, ContextValue | None], path: str = "context"
) -> dict[str, ContextValue]:
    """The context after the merge, within its bound; `old` is not changed."""
    merged = {**old, **changes}
    kept = {name: value for name, value in merged.items() if value is not None}
    if len(kept) > MAX_VARIABLES:
        raise TooManyVariables(path, len(kept), MAX_VARIABLES)
    return kept


def changed_context(
    context: Mapping[str, ContextValue], changes: Mapping[str, ContextValue | None]
) -> dict[str, ContextValue] | None:
    """The context after the changes; None if they change nothing."""
    for name, value in changes.items():
        if not same_value(context.get(name), value):
            return whole_context(context, changes)
    return None


def checked_payload(payload: object, path: str = "payload") -> bytes | None:
    """Opaque bytes, or None for no payload (an empty payload is a payload)."""
    if payload is None:
        return None
    if isinstance(payload, bytes | bytearray | memoryview):
        return bytes(payload)
    raise InvalidValue(path, f"a payload is bytes, not {type(payload).__name__}. Encode it first.")


def check_message_size(attributes: Attributes, payload: bytes | None, path: str = "message") -> None:
    """Raise if the msgpack size of the attributes plus that of the payload is more than 1 MiB."""
    # 5 bytes are the largest head of a string, 9 the largest number; a name has 255 bytes at most
    texts = sum([len(value) for value in attributes.values() if type(value) is str])
    if 4 * texts + 270 * len(attributes) + len(payload or b"") + 16 <= MAX_MESSAGE:
        return
    size = packed_size(attributes, payload)
    if size > MAX_MESSAGE:
        raise MessageTooLarge(path, size, MAX_MESSAGE)


def checked_message(
    attributes: object, payload: object = None, path: str = "attributes"
) -> tuple[dict[str, Scalar], bytes | None]:
    """The attributes and the payload of a message, each checked, and their size together."""
    message = checked_attributes(attributes, path)
    body = None if payload is None else checked_payload(payload)
    check_message_size(message, body)
    return message, body


def same_value(a: ContextValue | None, b: ContextValue | None) -> bool:
    """Whether a context change has no effect: same type and same value (1 and 1.0 are one number)."""
    return KINDS.get(type(a), type(a)) == KINDS.get(type(b), type(b)) and a == b


def _checked_mapping(values: object, path: str) -> Mapping[object, object]:
    if type(values) is not dict and not isinstance(values, Mapping):
        raise InvalidValue(path, f"a mapping of names to values is expected, not {type(values).__name__}.")
    return values


def _checked_int(value: int, path: str) -> int:
    if not SMALLEST_INT <= value <= LARGEST_INT:
        raise InvalidValue(path, f"{value if value.bit_length() < 200 else 'an integer'} is outside [-2^63, 2^63-1].")
    return value


def _checked_float(value: float, path: str) -> float:
    if not math.isfinite(value):
        raise InvalidValue(path, f"{value} is not a finite number. Leave the name out where there is no value.")
    return value


def _checked_string(value: str, path: str) -> str:
    size = len(_utf8(value, path))
    if size > MAX_STRING:
        raise StringTooLong(path, size, MAX_STRING)
    return str.__str__(value)


def _checked_set(values: Iterable[object], path: str) -> ValueSet:
    given = list(values)
    if len(given) > MAX_MEMBERS:
        raise SetTooLarge(path, len(given), MAX_MEMBERS)
    members = [checked_scalar(value, f"{path}[{i}]") for i, value in enumerate(given)]
    kinds = {KINDS[type(member)] for member in members}
    if len(kinds) > 1:
        raise InvalidValue(path, f"a set holds one type, here are {' and '.join(sorted(kinds))}.")
    if isinstance(values, set | frozenset):
        # Python's sets have no order of their own: sort, so that every run prints the same.
        members.sort()
    return ValueSet(tuple(members))


def _utf8(value: str, path: str) -> bytes:
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidValue(
            path, f"a lone surrogate U+{ord(value[error.start]):04X} at index {error.start} is not a character."
        ) from None


def _without_numpy(value: object) -> object:
    """A numpy scalar as a Python value; numpy itself is not imported for this."""
    numpy = sys.modules.get("numpy")
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


ADVICE: Mapping[str, str] = {  # by the names of types, so that these modules need not be imported
    "datetime": "Use seconds as a number: value.timestamp().",
    "date": "Use text, which sorts by date: value.isoformat().",
    "time": "Use seconds as a number, or text: value.isoformat().",
    "timedelta": "Use seconds as a number: value.total_seconds().",
    "Timestamp": "Use seconds as a number: value.timestamp().",
    "Decimal": "Use float(value), or an int of the smallest unit.",
    "Fraction": "Use float(value).",
    "bytes": "Use text, or the payload of publish for bytes.",
    "bytearray": "Use text, or the payload of publish for bytes.",
    "UUID": "Use str(value).",
    "ndarray": "Use value.tolist() for a set of numbers or strings.",
}


def _why_not_scalar(value: object) -> str:
    if value is None:
        return "None is not a value. Leave the name out (set_context(name=None) removes a variable)."
    if isinstance(value, Mapping):
        return "a nested mapping is not a value. Flatten it, one name for each value; a geometry is silbo.geometry(…)."
    if isinstance(value, list | tuple | set | frozenset):
        return f"a nested {type(value).__name__} is not a scalar. Flatten it: one name for each value."
    if looks_like_geometry(value):
        return "a geometry is not a scalar. Geometries belong in the context."
    if type(value).__name__ in ADVICE:
        return f"{type(value).__name__} is not a type of value that silbo knows. {ADVICE[type(value).__name__]}"
    return (
        f"{type(value).__name__} is not a type of value that silbo knows. Use bool, int, float or str; "
        "in a context also a list or set of them, or a geometry."
    )
