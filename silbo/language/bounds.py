"""Check the bounds on the size of expressions, which are counted without simplification.

Filters: conjunctions and constraints of the disjunctive form. Functions and scopes: nodes. The bound
on depth is checked in `tokens`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from silbo.errors import (
    ExpressionError,
    TextTooLong,
    TooManyConjunctions,
    TooManyConstraints,
    TooManyMembers,
    TooManyNodes,
)
from silbo.language.tokens import Tokens
from silbo.language.tree import And, Condition, Not, Or

MAX_TEXT = 4_096  # code points
MAX_CONJUNCTIONS = 64
MAX_CONSTRAINTS = 64  # in one conjunction
MAX_NODES = 256
MAX_MEMBERS = 1_000  # constants in the list of `in`


def check_text(text: str) -> None:
    """Check a text before it is read: it is not empty, not too long, and has no lone surrogates."""
    if len(text) > MAX_TEXT:
        raise TextTooLong(text, MAX_TEXT, len(text), len(text), MAX_TEXT)
    if not text.strip(" \t\r\n"):
        raise ExpressionError(text, 0, 0, "the text is empty; write `true` to select everything")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ExpressionError(
            text, error.start, error.start + 1, "a lone surrogate is not a character; remove it"
        ) from None


def check_lists(tokens: Tokens) -> None:
    """The bound on the lists of `in`, counted before the lists are read."""
    if tokens.types.count("COMMA") < MAX_MEMBERS:
        return
    lists = {before: commas + 1 for before, commas in _parentheses(tokens.types) if tokens.types[before] == "IN"}
    for before, members in sorted(lists.items()):
        if members > MAX_MEMBERS:
            raise TooManyMembers(tokens.text, *tokens.span(before), members, MAX_MEMBERS)


def _parentheses(types: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield for each pair the token before it and the commas in it. One pass, because lists may stand in lists."""
    opened: list[tuple[int, int]] = []  # for each open parenthesis, the token before it and the commas before it
    commas = 0
    for token, type in enumerate(types):
        if type == "COMMA":
            commas += 1
        elif type == "LPAR":
            opened.append((token - 1, commas))
        elif type == "RPAR" and opened:
            before, earlier = opened.pop()
            yield before, commas - earlier
    for before, earlier in opened:  # what is never closed is refused later, but its size first
        yield before, commas - earlier


def check_nodes(tokens: Tokens) -> None:
    """The bound of functions and scopes, counted before the tree is built, so that no tree is too deep to walk."""
    found = nodes(tokens.types)
    if found > MAX_NODES:
        raise TooManyNodes(tokens.text, 0, len(tokens.text), found, MAX_NODES)


def nodes(types: Sequence[str]) -> int:
    """Names, constants, operators and calls count one each, a list of constants is one, parentheses nothing."""
    found = in_list = 0
    previous = ""
    for type in types:
        if type == "LPAR" and (in_list or previous == "IN"):
            found += not in_list
            in_list += 1
        elif type == "RPAR" and in_list:
            in_list -= 1
        elif type not in ("LPAR", "RPAR", "COMMA", "END") and not in_list:
            found += 1
        previous = type
    return found


def check_conjunctions(tokens: Tokens, condition: Condition) -> None:
    """The bounds of filters."""
    joins = tokens.types.count("AND") + tokens.types.count("OR")
    if 2**joins <= MAX_CONJUNCTIONS:  # each join makes at most twice as many conjunctions, and adds one constraint
        return
    conjunctions, constraints = disjunctive_size(condition)
    if conjunctions > MAX_CONJUNCTIONS:
        raise TooManyConjunctions(tokens.text, 0, len(tokens.text), conjunctions, MAX_CONJUNCTIONS)
    if constraints > MAX_CONSTRAINTS:
        raise TooManyConstraints(tokens.text, 0, len(tokens.text), constraints, MAX_CONSTRAINTS)


def disjunctive_size(condition: Condition, *, negated: bool = False) -> tuple[int, int]:
    """How many conjunctions the disjunctive form has, and how many constraints its longest one."""
    if isinstance(condition, (And, Or)):
        sizes = [disjunctive_size(operand, negated=negated) for operand in condition.operands]
        if isinstance(condition, And) == negated:
            return sum(size[0] for size in sizes), max(size[1] for size in sizes)
        return _product(sizes)
    if isinstance(condition, Not):
        return disjunctive_size(condition.operand, negated=not negated)
    return 1, 1


def _product(sizes: list[tuple[int, int]]) -> tuple[int, int]:
    conjunctions = 1
    for count, _ in sizes:
        # beyond the bound the exact number does not matter, and a product of thousands of factors is very long.
        conjunctions = min(conjunctions * count, 2**63)
    return conjunctions, sum(length for _, length in sizes)
