"""Whether a context function can be true at all when some publisher variables are absent.

A subscription need not be sent towards an advertisement that does not offer what it needs. The answer is sound:
`never_true` means that no message and no contexts make the function true.
For each condition, the module computes the set of truth values that it can have over all values of the present names.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from silbo.context.function import ContextFunction
from silbo.language import tree
from silbo.language.evaluation import compiled
from silbo.language.form import Form
from silbo.model.values import checked_names

Truths: TypeAlias = frozenset[bool | None]

ANY: Truths = frozenset([True, False, None])
UNKNOWN: Truths = frozenset([None])


def never_true(function: ContextFunction | str | Form, absent: Collection[str]) -> bool:
    """Whether the function cannot be true while these publisher variables are absent."""
    names = frozenset(checked_names(absent, "absent"))
    return True not in _truths(ContextFunction.of(function).tree, names)


def _truths(condition: tree.Condition, absent: frozenset[str]) -> Truths:
    match condition:
        case tree.Not(operand):
            return frozenset(None if truth is None else not truth for truth in _truths(operand, absent))
        case tree.And(operands):
            return _joined([_truths(operand, absent) for operand in operands], decisive=False)
        case tree.Or(operands):
            return _joined([_truths(operand, absent) for operand in operands], decisive=True)
        case _:
            return _atom(condition, absent)


def _joined(operands: list[Truths], *, decisive: bool) -> Truths:
    """The truth values of an `and` (decided by a false operand) or an `or` (by a true one).

    Without a decisive operand the result is unknown if an operand is, and otherwise the opposite of `decisive`.
    """
    possible: set[bool | None] = set()
    if any(decisive in truths for truths in operands):
        possible.add(decisive)
    open_ones = [truths - {decisive} for truths in operands]
    if all(open_ones):
        if any(None in truths for truths in open_ones):
            possible.add(None)
        if all((not decisive) in truths for truths in open_ones):
            possible.add(not decisive)
    return frozenset(possible)


def _atom(atom: tree.Condition, absent: frozenset[str]) -> Truths:
    names = list(tree.names(atom))
    missing = any(name.namespace == "pub" and name.name in absent for name in names)
    if isinstance(atom, tree.Exists):
        return frozenset([False]) if missing else frozenset([True, False])
    if missing:
        return UNKNOWN
    if not names:
        return frozenset([compiled(atom)(({}, {}, {}))])
    return ANY
