"""The content of the paper's workload: many names of which few are frequent, numbers, and six operators.

Names are drawn by Zipf's law without repetition; a filter has 1 to 9 constraints, a message 1 to 16 attributes.
Trees are built directly, together with the text that parses to the same tree: a million filters would take minutes
to parse.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from silbo.language import tree
from silbo.matching.filter import Filter

if TYPE_CHECKING:
    from silbo.model.values import Scalar

Array: TypeAlias = np.ndarray[Any, Any]

NAMES = 1_000
CONSTRAINTS = 9  # the most of a filter
ATTRIBUTES = 16  # the most of a message
VALUES = 1_000  # from 0

# an equality selects one message in a thousand, an inequality half of them: with these shares the content alone
# selects 460 of 80,000 subscriptions
OPERATORS: tuple[tree.ComparisonOperator, ...] = ("=", "<", ">", "<=", ">=", "!=")
SHARES = (0.455, 0.13, 0.13, 0.13, 0.13, 0.025)


def numeric_filters(chance: np.random.Generator, count: int) -> list[Filter]:
    """Conjunctions of comparisons of distinct attributes with whole numbers."""
    sizes = chance.integers(1, CONSTRAINTS + 1, count)
    total = int(sizes.sum())
    operators = chance.choice(len(OPERATORS), total, p=SHARES).tolist()
    values = chance.integers(0, VALUES, total).tolist()
    names = distinct_names(chance, sizes).tolist()
    made = zip(names, operators, values, strict=True)
    return [_conjunction([next(made) for _ in range(size)]) for size in sizes.tolist()]


def numeric_messages(chance: np.random.Generator, count: int) -> list[dict[str, Scalar]]:
    """Messages with distinct attributes whose values are whole numbers."""
    sizes = chance.integers(1, ATTRIBUTES + 1, count)
    values: Iterator[int] = iter(chance.integers(0, VALUES, int(sizes.sum())).tolist())
    return [{attribute_name(name): next(values) for name in names} for names in drawn_names(chance, sizes)]


def drawn_names(chance: np.random.Generator, sizes: Array) -> Iterator[list[int]]:
    """For each size, that many numbers of distinct names."""
    names = iter(distinct_names(chance, sizes).tolist())
    return ([next(names) for _ in range(size)] for size in sizes.tolist())


def distinct_names(chance: np.random.Generator, sizes: Array) -> Array:
    """Numbers of names by Zipf's law, distinct within each group; `sizes` are the groups' sizes, in one array."""
    shares = 1 / np.arange(1, NAMES + 1)
    bounds = np.cumsum(shares / shares.sum())
    groups = np.repeat(np.arange(len(sizes)), sizes)
    names = np.empty(groups.size, np.int64)
    missing = np.arange(groups.size)
    while missing.size:
        # a repeat of an earlier name in its group is drawn again, which is the same as drawing without replacement
        names[missing] = np.searchsorted(bounds, chance.random(missing.size)).clip(max=NAMES - 1)
        _, first = np.unique(groups * NAMES + names, return_index=True)
        repeats = np.ones(groups.size, np.bool_)
        repeats[first] = False
        missing = np.flatnonzero(repeats)
    return names


def _conjunction(parts: list[tuple[int, int, int]]) -> Filter:
    atoms = tuple(tree.Compare(OPERATORS[operator], attribute(name), number(value)) for name, operator, value in parts)
    text = " and ".join(f"{attribute_name(name)} {OPERATORS[operator]} {value}" for name, operator, value in parts)
    return Filter(atoms[0] if len(atoms) == 1 else tree.And(atoms), text)


@cache
def attribute_name(number: int) -> str:
    """The name with this number; the lowest numbers are the most frequent."""
    return f"a{number}"


@cache
def attribute(number: int) -> tree.Name:
    """The attribute with this number, as a node."""
    return tree.Name("attribute", attribute_name(number))


@cache
def number(value: int) -> tree.Constant:
    """A whole number as a node; few different nodes are shared by many filters."""
    return tree.Constant("number", value)
