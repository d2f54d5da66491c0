"""The operators on two values, implemented independently of silbo in the plainest Python."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from silbo.testing.fragments import kind_of

EQUALITY = ("=", "==", "!=")
ORDER = ("<", "<=", ">", ">=")
PATTERNS = ("prefix", "suffix", "contains")
MIRRORED = {"=": "=", "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compared(operator: str, a: Any, b: Any) -> bool | None:
    """`= == != < <= > >=`; unknown unless both are of one type that the operator takes."""
    if kind_of(a) is None or kind_of(a) != kind_of(b):
        return None
    if operator in EQUALITY:
        return bool(a == b) is (operator != "!=")
    if kind_of(a) == "bool":
        return None
    return bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator])


def patterned(operator: str, a: object, b: object) -> bool | None:
    """`prefix suffix contains`; unknown unless both are strings."""
    if not isinstance(a, str) or not isinstance(b, str):
        return None
    if operator == "prefix":
        return a[: len(b)] == b
    if operator == "suffix":
        return len(a) >= len(b) and a[len(a) - len(b) :] == b
    return any(a[i : i + len(b)] == b for i in range(len(a) - len(b) + 1))


def member(a: object, members: object) -> bool | None:
    """`in`; unknown if the left side is not a scalar or not of the members' type, false for an empty set."""
    if kind_of(a) is None or not isinstance(members, Sequence | AbstractSet) or isinstance(members, str):
        return None
    listed = list(members)
    if listed and kind_of(listed[0]) != kind_of(a):
        return None
    return a in listed
