"""Count what the bounds on expressions count, without simplifying anything.

Filters: conjunctions and constraints of the disjunctive form. Functions and scopes: nodes. The bound
on depth is kept where the tokens are made.
"""

from __future__ import annotations

from collections.abc import Sequence

from silbo.errors import (
    ExpressionError,
    TextTooLong,
    TooManyConjunctions,
    TooManyConstraints,
    TooManyMembers,
    TooManyNodes,
)
from silbo.language.tokens import Lexeme
from silbo.language.tree import And, Condition, Not, Or

MAX_TEXT = 4_096  # code points
MAX_CONJUNCTIONS = 64
MAX_CONSTRAINTS = 64  # in one conjunction
MAX_NODES = 256
MAX_MEMBERS = 1_000  # constants in the list of `in`


def check_text(text: str) -> None:
    """Before reading: not empty, not too long, no half characters."""
    if len(text) > MAX_TEXT:
        raise TextTooLong(text, MAX_TEXT, len(text), len(text), MAX_TEXT)
    if not text.strip(" \t\r\n"):
        raise ExpressionError(text, 0, 0, "the text is empty; write `true` to select everything")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ExpressionError(
            text, error.start, error.start + 1, "a lone surrogate is no character; remove it"
        ) from None


def check_lists(text: str, lexemes: Sequence[Lexeme]) -> None:
    """The bound on the lists of `in`, counted before anything is made of them."""
    for i, lexeme in enumerate(lexemes):
        if lexeme.type == "IN" and i + 1 < len(lexemes) and lexemes[i + 1].type == "LPAR":
            found = _list_length(lexemes, i + 2)
            if found > MAX_MEMBERS:
                raise TooManyMembers(text, lexeme.start, lexeme.end, found, MAX_MEMBERS)


def _list_length(lexemes: Sequence[Lexeme], start: int) -> int:
    """How many constants stand in the list that was opened before `start`."""
    commas, depth = 0, 1
    for lexeme in lexemes[start:]:
        depth += (lexeme.type == "LPAR") - (lexeme.type == "RPAR")
        commas += lexeme.type == "COMMA"
        if depth == 0:
            break
    return commas + 1


def check_nodes(text: str, lexemes: Sequence[Lexeme]) -> None:
    """The bound of functions and scopes, counted before the tree is built: no tree is too deep to walk."""
    found = nodes(lexemes)
    if found > MAX_NODES:
        raise TooManyNodes(text, 0, len(text), found, MAX_NODES)


def nodes(lexemes: Sequence[Lexeme]) -> int:
    """Names, constants, operators and calls count one each, a list of constants is one, parentheses nothing."""
    found = in_list = 0
    previous = ""
    for type, *_ in lexemes:
        if type == "LPAR" and (in_list or previous == "IN"):
            found += not in_list
            in_list += 1
        elif type == "RPAR" and in_list:
            in_list -= 1
        elif type not in ("LPAR", "RPAR", "COMMA") and not in_list:
            found += 1
        previous = type
    return found


def check_conjunctions(text: str, condition: Condition) -> None:
    """The bounds of filters."""
    conjunctions, constraints = disjunctive_size(condition)
    if conjunctions > MAX_CONJUNCTIONS:
        raise TooManyConjunctions(text, 0, len(text), conjunctions, MAX_CONJUNCTIONS)
    if constraints > MAX_CONSTRAINTS:
        raise TooManyConstraints(text, 0, len(text), constraints, MAX_CONSTRAINTS)


def disjunctive_size(condition: Condition, *, negated: bool = False) -> tuple[int, int]:
    """How many conjunctions the disjunctive form has, and how many constraints its longest one."""
    match condition:
        case Not(operand):
            return disjunctive_size(operand, negated=not negated)
        case And(operands) | Or(operands):
            sizes = [disjunctive_size(operand, negated=negated) for operand in operands]
            if isinstance(condition, And) == negated:
                return sum(size[0] for size in sizes), max(size[1] for size in sizes)
            return _product(sizes)
        case _:
            return 1, 1


def _product(sizes: list[tuple[int, int]]) -> tuple[int, int]:
    conjunctions = 1
    for count, _ in sizes:
        # past the bound the exact number says nothing more, and a product of thousands is no short one.
        conjunctions = min(conjunctions * count, 2**63)
    return conjunctions, sum(length for _, length in sizes)
