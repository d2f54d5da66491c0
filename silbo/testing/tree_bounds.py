"""The bounds on expressions, counted once more: depth in lark's tree, everything else in silbo's.

The reader that silbo uses counts most of them in its tokens, before it builds a tree. Here they are counted in what
was read, so that a wrong count on either side shows.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from silbo.language.tree import And, Condition, GeometryConstant, Holds, In, Node, Not, Or, children

if TYPE_CHECKING:
    from lark import Token, Tree

MAX_TEXT = 4_096  # code points
MAX_NAME = 255  # bytes of UTF-8
MAX_DEPTH = 32
MAX_NODES = 256
MAX_CONJUNCTIONS = 64
MAX_CONSTRAINTS = 64  # in one conjunction
MAX_MEMBERS = 1_000  # constants in one list

# the nodes of lark's tree that are open around what they hold
LEVELS = frozenset(["parentheses", "negation", "negative", "call", "spatial", "point", "geometry"])


def is_too_deep(parsed: Tree[Token]) -> bool:
    """Whether more parentheses, calls, `not` and unary minus are open around a token than may be."""
    waiting: list[tuple[Tree[Token] | Token, int]] = [(parsed, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, str):
            continue
        depth += node.data in LEVELS
        if depth > MAX_DEPTH:
            return True
        waiting += [(child, depth) for child in node.children]
    return False


def exceeded_bound(condition: Condition, *, is_filter: bool) -> str | None:
    """What the expression has too much of; None if it is within the bounds."""
    if longest_list(condition) > MAX_MEMBERS:
        return "constants in a list"
    if not is_filter:
        return "nodes" if node_count(condition) > MAX_NODES else None
    conjunctions, constraints = disjunctive_size(condition, is_negated=False)
    if conjunctions > MAX_CONJUNCTIONS:
        return "conjunctions"
    return "constraints" if constraints > MAX_CONSTRAINTS else None


def longest_list(condition: Condition) -> int:
    """How many constants the longest list of `in` has."""
    lists = [node.members for node in _all_nodes(condition) if isinstance(node, In)]
    return max((len(members) for members in lists if isinstance(members, tuple)), default=0)


def node_count(condition: Condition) -> int:
    """Names, constants, operators and calls are one node each, and a list is one."""
    return sum(map(_own_nodes, _all_nodes(condition)))


def _own_nodes(node: Node) -> int:
    """How many nodes there are in a node without its children."""
    match node:
        case And(operands) | Or(operands):
            return len(operands) - 1  # operators
        case Holds():
            return 0  # a name, which is a child
        case In(_, tuple()) | GeometryConstant():
            return 2  # the operator and the list; the call and the string
        case _:
            return 1


def _all_nodes(condition: Condition) -> list[Node]:
    """Every node of the tree. It may be deeper than Python can recurse: a long sum is nested to the left."""
    found: list[Node] = []
    waiting: list[Node] = [condition]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += children(node)
    return found


def disjunctive_size(condition: Condition, *, is_negated: bool) -> tuple[int, int]:
    """How many conjunctions the disjunctive form has, and how many constraints the longest of them."""
    if isinstance(condition, Not):
        return disjunctive_size(condition.operand, is_negated=not is_negated)
    if not isinstance(condition, And | Or):
        return 1, 1
    sizes = [disjunctive_size(operand, is_negated=is_negated) for operand in condition.operands]
    conjunctions, constraints = zip(*sizes, strict=True)
    if isinstance(condition, Or) != is_negated:
        return sum(conjunctions), max(constraints)
    return prod(conjunctions), sum(constraints)
