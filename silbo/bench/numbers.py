"""The content of the paper's workload: many names of which few are frequent, numbers, and six operators.

Names are drawn by Zipf's law without repetition; a filter has 1 to 9 constraints, a message 1 to 16 attributes.
Trees are built directly, beside the text that reads back as the same tree: a million filters would take minutes
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
CONSTRAINTS = 9  # of a filter, at most
ATTRIBUTES = 16  # of a message, at most
VALUES = 1_000  # from 0

# an equality selects one message in a thousand, an order half of them: with these shares the content alone
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
    """Messages of distinct attributes with whole numbers."""
    sizes = chance.integers(1, ATTRIBUTES + 1, count)
    values: Iterator[int] = iter(chance.integers(0, VALUES, int(sizes.sum())).tolist())
    return [{attribute_name(name): next(values) for name in names} for names in drawn_names(chance, sizes)]


def drawn_names(chance: np.random.Generator, sizes: Array) -> Iterator[list[int]]:
    """For each size so many distinct names' numbers."""
    names = iter(distinct_names(chance, sizes).tolist())
    return ([next(names) for _ in range(size)] for size in sizes.tolist())


def distinct_names(chance: np.random.Generator, sizes: Array) -> Array:
    """Names by Zipf's law, distinct within each group of so many, all groups in one array."""
    shares = 1 / np.arange(1, NAMES + 1)
    bounds = np.cumsum(shares / shares.sum())
    groups = np.repeat(np.arange(len(sizes)), sizes)
    names = np.empty(groups.size, np.int64)
    missing = np.arange(groups.size)
    while missing.size:
        # who repeats an earlier name of its group draws again: so one draws without putting back
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
    """The name with a number; the lowest are the most frequent."""
    return f"a{number}"


@cache
def attribute(number: int) -> tree.Name:
    """The same as a node."""
    return tree.Name("attribute", attribute_name(number))


@cache
def number(value: int) -> tree.Constant:
    """A whole number as a node; there are few of them, and many who hold one."""
    return tree.Constant("number", value)
