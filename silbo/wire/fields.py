"""The checks of fields that several forms of events and records have: expressions, lists of names, counts.

Names and values are checked by `silbo.model.values`, expressions themselves by `silbo.language`, when an engine reads
them.
"""

from __future__ import annotations

from silbo.errors import InvalidValue
from silbo.model.values import checked_names


def checked_expression(value: object, path: str) -> str:
    """The text of an expression, which is not read here."""
    if not isinstance(value, str):
        raise InvalidValue(path, f"an expression is a string, not {type(value).__name__}.")
    return value


def optional_expression(value: object, path: str) -> str | None:
    """The text of an expression, or None."""
    return None if value is None else checked_expression(value, path)


def optional_names(value: object, path: str) -> tuple[str, ...] | None:
    """A list of names, or None."""
    return None if value is None else listed_names(value, path)


def listed_names(value: object, path: str) -> tuple[str, ...]:
    """A list of names, and no other collection."""
    if not isinstance(value, list):
        raise InvalidValue(path, f"a list of names is expected, not {type(value).__name__}.")
    return checked_names(value, path)


def checked_count(value: object, path: str) -> int:
    """A number from 1, such as a sequence number."""
    if type(value) is not int or value < 1:
        raise InvalidValue(path, f"a number from 1 is expected, not {value!r}.")
    return value
