"""The conjunctions that a filter is filed as: those of its normal form, and one for each member of a short list.

`city in ("a", "b")` is one constraint, but a message finds it only by the presence of `city`; as `city = "a"` and
`city = "b"` it finds it by the value, and both are the same to every message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from silbo.language import tree
from silbo.matching.encoding import Literal
from silbo.matching.normal_form import conjunctions

SHORT = 16  # members of a list
MOST = 64  # conjunctions that a filter is filed as, if lists make them more
ATOMS = tree.Compare | tree.Pattern | tree.In | tree.Exists | tree.Truth


def filed(condition: tree.Condition) -> Sequence[Sequence[Literal]]:
    """The conjunctions of a filter as the index takes them in."""
    literals = _literals(condition)
    if any(isinstance(atom, tree.In) for conjunction in literals for atom, _ in conjunction):
        spread = [each for conjunction in literals for each in _spread(conjunction)]
        return spread if len(spread) <= MOST else literals
    return literals


def _literals(condition: tree.Condition) -> Sequence[Sequence[Literal]]:
    """Most filters are one conjunction as it stands, without a normal form."""
    if isinstance(condition, ATOMS):
        return [[(condition, False)]]
    if isinstance(condition, tree.And) and all(isinstance(each, ATOMS) for each in condition.operands):
        return [[(each, False) for each in condition.operands]]  # type: ignore[misc]  # atoms all
    return [[(each.atom, each.negated) for each in conjunction] for conjunction in conjunctions(condition)]


def _spread(conjunction: Sequence[Literal]) -> Iterator[Sequence[Literal]]:
    """One conjunction for each member of the shortest list, unless an equality finds it already."""
    lists = [each for each in conjunction if _is_short_list(*each)]
    if not lists or any(map(_is_equality, conjunction)):
        yield conjunction
        return
    chosen = min(lists, key=lambda each: len(_members(each[0])))
    others = [each for each in conjunction if each is not chosen]
    atom, _ = chosen
    assert isinstance(atom, tree.In)
    for member in _members(atom):
        yield [(tree.Compare("=", atom.value, member), False), *others]


def _is_equality(literal: Literal) -> bool:
    atom, negated = literal
    return isinstance(atom, tree.Compare) and atom.operator == "=" and not negated


def _is_short_list(atom: object, negated: bool) -> bool:
    return (
        not negated and isinstance(atom, tree.In) and len(_members(atom)) <= SHORT and _members(atom)[0].kind != "bool"
    )


def _members(atom: object) -> Sequence[tree.Constant]:
    assert isinstance(atom, tree.In)
    assert not isinstance(atom.members, tree.Name)
    return list({member.value: member for member in atom.members}.values())
