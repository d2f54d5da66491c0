"""The values at the borders of live expressions: each constant that a name is compared with, and its neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from silbo.language import tree
from silbo.language.expression import Expression
from silbo.testing.fragments import kind_of
from silbo.testing.pools import Scalar, neighbours

# namespace, name, kind and value: the kind keeps true apart from 1
Border: TypeAlias = tuple[str, str, str | None, object]


class Borders:
    """How many live expressions have each border."""

    def __init__(self) -> None:
        self._borders: Counter[Border] = Counter()

    def add(self, expression: Expression | None) -> None:
        """Take an expression in."""
        self._borders.update(_borders(expression) if expression else ())

    def remove(self, expression: Expression | None) -> None:
        """Take an expression out that was taken in before."""
        self._borders.subtract(_borders(expression) if expression else ())

    def met(self, namespace: str, values: Mapping[str, object]) -> int:
        """How many of the values stand on a border."""
        return sum(self._borders[namespace, name, kind_of(value), value] > 0 for name, value in values.items())


@lru_cache(maxsize=4_096)
def _borders(expression: Expression) -> tuple[Border, ...]:
    return tuple(
        ("msg" if name.namespace == "attribute" else name.namespace, name.name, kind_of(value), value)
        for name, constant in _compared(expression.tree)
        for value in (constant, *neighbours(constant))
    )


def _compared(node: tree.Node) -> Iterator[tuple[tree.Name, Scalar]]:
    match node:
        case tree.Compare(_, tree.Name() as name, tree.Constant(_, value)):
            yield name, value
        case tree.Pattern(_, tree.Name() as name, tree.Constant(_, value)):
            yield name, value
        case tree.In(tree.Name() as name, tuple() as members):
            for member in members:
                yield name, member.value
    for child in tree.children(node):
        yield from _compared(child)
