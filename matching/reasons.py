"""Say why a condition is unknown although its names have values: types do not fit, or a result is not finite.

An absent name needs no reason here: an explanation shows it as absent.
"""

from __future__ import annotations

from collections.abc import Iterator

from silbo.language import tree
from silbo.language.evaluation import PLACE, Bindings, value_of
from silbo.language.text import name_text, value_text
from silbo.model.geometry import Geometry
from silbo.model.values import KINDS, ContextValue, ValueSet


def unknown_reason(condition: tree.Condition, bindings: Bindings) -> str | None:
    """The reason why an atom, or its negation, is unknown; None if an absent name is the only reason."""
    while isinstance(condition, tree.Not):
        condition = condition.operand
    return next(_reasons(condition, bindings), None)


def _reasons(atom: tree.Condition, bindings: Bindings) -> Iterator[str]:
    for child in tree.children(atom):
        yield from _arithmetic_reasons(child, bindings)
    match atom:
        case tree.Holds(name):
            yield from _holds(name, bindings)
        case tree.Compare(operator, left, right):
            yield from _comparison(operator, (left, right), bindings)
        case tree.Pattern(operator, left, right):
            yield from _pattern(operator, (left, right), bindings)
        case tree.In(value, tree.Name() as members):
            yield from _in_set(value, members, bindings)
        case tree.In(value, tuple() as members):
            yield from _in_list(value, members, bindings)
        case tree.Spatial(predicate, left, right):
            yield from _spatial(predicate, (left, right), bindings)
        case _:
            return


def _arithmetic_reasons(node: tree.Node, bindings: Bindings) -> Iterator[str]:
    """The reasons inside a calculated operand, from the inside out."""
    if not isinstance(node, tree.Negative | tree.Arithmetic | tree.Call | tree.Point):
        return
    for operand in tree.children(node):
        yield from _arithmetic_reasons(operand, bindings)
        if isinstance(operand, tree.Name) and (kind := _kind(_value(operand, bindings))) not in ("number", "absent"):
            yield f"{name_text(operand)} is {_a(kind)}, and {_calculation(node)} takes numbers"
    if isinstance(node, tree.Point) or any(_value(name, bindings) is None for name in tree.names(node)):
        return
    if value_of(node, bindings) is None:
        yield f"{value_text(node)} has no finite result"


def _calculation(node: tree.Negative | tree.Arithmetic | tree.Call | tree.Point) -> str:
    match node:
        case tree.Call(function, _):
            return function
        case tree.Arithmetic(operator, _, _):
            return operator
        case tree.Negative():
            return "-"
        case tree.Point():
            return "point"


def _holds(name: tree.Name, bindings: Bindings) -> Iterator[str]:
    kind = _kind(_value(name, bindings))
    if kind not in ("bool", "absent"):
        yield f"a name alone is a condition only if it is a bool, and {name_text(name)} is {_a(kind)}"


def _comparison(operator: str, operands: tuple[tree.Value, tree.Value], bindings: Bindings) -> Iterator[str]:
    left, right = (_kind(value_of(operand, bindings)) for operand in operands)
    if "absent" in (left, right):
        return
    for operand, kind, other in ((operands[0], left, operands[1]), (operands[1], right, operands[0])):
        if kind == "set":
            yield f"{operator} takes no set; to test membership, write {value_text(other)} in {value_text(operand)}"
        if kind == "geometry":
            yield f"{operator} takes no geometry; compare geometries with within or intersects"
    if left != right:
        yield f"{operator} compares values of one type, not {_a(left)} with {_a(right)}"
    if left == "bool":
        yield f"{operator} orders numbers or strings, not bools"


def _pattern(operator: str, operands: tuple[tree.Value, tree.Value], bindings: Bindings) -> Iterator[str]:
    left, right = (_kind(value_of(operand, bindings)) for operand in operands)
    if operator == "contains" and left == "set":
        yield f"contains takes two strings; for a set, write {value_text(operands[1])} in {value_text(operands[0])}"
    for operand, kind in zip(operands, (left, right), strict=True):
        if kind not in ("string", "absent"):
            yield f"{operator} takes two strings, and {value_text(operand)} is {_a(kind)}"


def _in_set(value: tree.Value, members: tree.Name, bindings: Bindings) -> Iterator[str]:
    kind, found = _kind(value_of(value, bindings)), _value(members, bindings)
    if found is not None and not isinstance(found, ValueSet):
        yield f"{name_text(members)} is {_a(_kind(found))}, and in takes a set"
    elif kind in ("set", "geometry"):
        yield f"{value_text(value)} is {_a(kind)}, and the members of a set are numbers, strings or bools"
    elif found is not None and kind != "absent":
        yield f"{value_text(value)} is {_a(kind)}, and the members of {name_text(members)} are {found.kind}s"


def _in_list(value: tree.Value, members: tuple[tree.Constant, ...], bindings: Bindings) -> Iterator[str]:
    kind = _kind(value_of(value, bindings))
    if kind != "absent":
        yield f"{value_text(value)} is {_a(kind)}, and the list has {members[0].kind}s"


def _spatial(predicate: str, operands: tuple[tree.Shape, tree.Shape], bindings: Bindings) -> Iterator[str]:
    for operand in operands:
        if not isinstance(operand, tree.Name):
            continue
        kind = _kind(_value(operand, bindings))
        if kind == "string":
            yield f"{name_text(operand)} is a string; give a shapely shape, or silbo.geometry(text)"
        elif kind not in ("geometry", "absent"):
            yield f"{predicate} takes geometries, and {name_text(operand)} is {_a(kind)}"


def _value(name: tree.Name, bindings: Bindings) -> ContextValue | None:
    return bindings[PLACE[name.namespace]].get(name.name)


def _kind(value: ContextValue | None) -> str:
    if value is None:
        return "absent"
    if isinstance(value, ValueSet):
        return "set"
    return "geometry" if isinstance(value, Geometry) else KINDS[type(value)]


def _a(kind: str) -> str:
    return f"a {kind}"
