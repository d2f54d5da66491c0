"""The disjunctive normal form of a filter: conjunctions of constraints, at least one of which must be true.

De Morgan's rules and distribution keep SQL's three-valued truth, so a filter is true exactly if all
constraints of one conjunction are true. Nothing is simplified or reordered, and the limits that every
filter is checked against (64 conjunctions of 64 constraints) are the limits of the form.
"""

from __future__ import annotations

from itertools import chain, product
from typing import NamedTuple, TypeAlias

from silbo.language.tree import And, Compare, Condition, Exists, In, Name, Not, Or, Pattern, Truth

FilterAtom: TypeAlias = Truth | Compare | Pattern | In | Exists


class Constraint(NamedTuple):
    """An atom that must be true or, negated, must be false; unknown is neither."""

    atom: FilterAtom
    negated: bool

    @property
    def attribute(self) -> str | None:
        """The attribute that it constrains; `true` and `false` constrain none."""
        return None if isinstance(self.atom, Truth) else named(self.atom)


def named(atom: Compare | Pattern | In | Exists) -> str:
    """The attribute that an atom of a filter names."""
    name = atom.left if isinstance(atom, (Compare, Pattern)) else atom.value if isinstance(atom, In) else atom.name
    assert isinstance(name, Name)
    return name.name


Conjunction: TypeAlias = tuple[Constraint, ...]


def conjunctions(condition: Condition, *, negated: bool = False) -> tuple[Conjunction, ...]:
    """The conjunctions of a filter's tree, from left to right; they share the constraints that they have in common."""
    match condition:
        case Not(operand):
            return conjunctions(operand, negated=not negated)
        case And(operands) | Or(operands):
            parts = [conjunctions(operand, negated=negated) for operand in operands]
            return _either(parts) if isinstance(condition, And) == negated else _each(parts)
        case Truth() | Compare() | Pattern() | In() | Exists():
            return ((Constraint(condition, negated),),)
        case _:
            raise AssertionError(f"a filter cannot contain a {type(condition).__name__}")


def _either(parts: list[tuple[Conjunction, ...]]) -> tuple[Conjunction, ...]:
    return tuple(chain.from_iterable(parts))


def _each(parts: list[tuple[Conjunction, ...]]) -> tuple[Conjunction, ...]:
    return tuple(tuple(chain.from_iterable(choice)) for choice in product(*parts))
