"""The conjunctions that a filter is filed as: those of its normal form, split by the members of short lists.

The constraint `city in ("a", "b")` can be looked up only by the presence of `city`. Split into `city = "a"` and
`city = "b"`, it is looked up by value, and selects the same messages. What is always true is left out of a
conjunction, and a conjunction that is never true is not filed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from silbo.language import tree
from silbo.matching.fast.encoding import Literal
from silbo.matching.normal_form import conjunctions

SHORT = 16  # members of a list
MOST = 64  # conjunctions: if splitting lists makes more, the lists are not split
AS_WRITTEN = {tree.Compare, tree.Pattern, tree.Exists}  # neither lists nor truths


def filed(condition: tree.Condition) -> Sequence[Sequence[Literal]]:
    """The conjunctions of a filter as the index files them."""
    operands = condition.operands if isinstance(condition, tree.And) else (condition,)
    if AS_WRITTEN.issuperset(map(type, operands)):  # most filters are one conjunction, and need no normal form
        return [[(each, False) for each in operands]]  # type: ignore[misc]  # all are atoms
    literals = conjunctions(condition)
    if AS_WRITTEN.issuperset(type(atom) for conjunction in literals for atom, _ in conjunction):
        return literals
    spread = [each for conjunction in literals for each in _spread(conjunction)]
    return list(_without_truths(spread if len(spread) <= MOST else literals))


def _without_truths(literals: Sequence[Sequence[Literal]]) -> Iterator[Sequence[Literal]]:
    for conjunction in literals:
        # `true` and `not false` are always true, the other two never
        if not any(isinstance(atom, tree.Truth) and atom.value is negated for atom, negated in conjunction):
            yield [each for each in conjunction if not isinstance(each[0], tree.Truth)]


def _spread(conjunction: Sequence[Literal]) -> Iterator[Sequence[Literal]]:
    """Yield one conjunction for each member of the shortest list, or the conjunction itself if it has an equality."""
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
