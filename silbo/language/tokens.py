"""Cut a text into tokens, and stop at once where it is nested too deeply.

Two rules need more than a regular expression: keywords are whole names in any case (`in.x` is a name),
and a minus directly before a number belongs to it where an operand may begin, so `x -5` subtracts and
`x = -5` does not. What names, numbers and strings mean is `literals`' business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from silbo.errors import ExpressionError, TooDeep
from silbo.language.hints import strange_character, unknown_operator

MAX_DEPTH = 32  # parentheses, calls, `not` and unary minus open around a token

KEYWORDS = {
    "and": "AND",
    "or": "OR",
    "not": "NOT",
    "in": "IN",
    "exists": "EXISTS",
    "true": "TRUE",
    "false": "FALSE",
    "prefix": "OPERATOR",
    "suffix": "OPERATOR",
    "contains": "OPERATOR",
    "within": "PREDICATE",
    "intersects": "PREDICATE",
}

SIGNS = {"+": "PLUS", "-": "MINUS", "*": "STAR", "/": "SLASH", "(": "LPAR", ")": "RPAR", ",": "COMMA"}

# after one of these an operator follows; after anything else an operand may begin.
OPERAND_ENDS = frozenset(["NAME", "NUMBER", "STRING", "TRUE", "FALSE", "RPAR"])

PLAIN_NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
QUOTED_NAME = r"`(?:``|[^`])*`"
NUMBER = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.])"

TOKEN = re.compile(
    rf"""[ \t\r\n]*(?:
      (?P<NAME>{PLAIN_NAME}(?:\.{QUOTED_NAME})?|{QUOTED_NAME})
    | (?P<NUMBER>{NUMBER})
    | (?P<OPERATOR>[<>=!&|^%~?@\#$:;]+)
    | (?P<STRING>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    | (?P<SIGN>[-+*/(),])
    | (?P<END>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
UNSIGNED = re.compile(NUMBER)
NO_NUMBER = re.compile(r"\.?[0-9][A-Za-z0-9_.]*")

OPERATORS = frozenset(["=", "==", "!=", "<", "<=", ">", ">="])


class Lexeme(NamedTuple):
    """A token's type, its text and where it stands."""

    type: str
    text: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Lexeme]:
    """The tokens of a text, or an `ExpressionError` at the first place where none begins."""
    depth = Depth(text)
    previous = ""
    position = 0
    while True:
        lexeme = _next(text, position, previous)
        if lexeme.type == "END":
            return
        depth.see(lexeme)
        yield lexeme
        previous, position = lexeme.type, lexeme.end


def _next(text: str, position: int, previous: str) -> Lexeme:
    found = TOKEN.match(text, position)
    if found is None or found.lastgroup is None:
        raise _no_token(text, position)
    type, start, end = found.lastgroup, found.start(found.lastgroup), found.end()
    if type == "NAME":
        type = KEYWORDS.get(text[start:end].lower(), "NAME")
    elif type == "OPERATOR" and text[start:end] not in OPERATORS:
        raise ExpressionError(text, start, end, unknown_operator(text[start:end]))
    elif type == "SIGN":
        type = SIGNS[text[start]]
        if type == "MINUS" and previous not in OPERAND_ENDS:
            type, end = _sign(text, start)
    return Lexeme(type, text[start:end], start, end)


def _sign(text: str, start: int) -> tuple[str, int]:
    """A minus where an operand may begin: part of the number that follows at once, or an operator."""
    number = UNSIGNED.match(text, start + 1)
    return ("NUMBER", number.end()) if number else ("SIGN", start + 1)


# the tokens that open something, or close it
STRUCTURE = frozenset(["LPAR", "RPAR", "COMMA", "AND", "OR", "NOT", "SIGN"])


class Depth:
    """Counts what is open around each token: parentheses, calls, `not`, unary minus.

    The list of `in` is a parenthesis that adds nothing. A `not` is open to the end of its operand,
    which is the next `and`, `or`, comma or closing parenthesis; a unary minus to the end of one operand.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[str] = []
        self._lists = 0
        self._previous = ""
        self._operand_ended = False

    def see(self, token: Lexeme) -> None:
        """Take the next token into account; raise `TooDeep` where it opens one level too many."""
        type = token.type
        if type in STRUCTURE:
            self._close_what_ended(type)
            self._open_what_begins(token)
        elif type in OPERAND_ENDS:
            self._operand_ended = True
        self._previous = type

    def _close_what_ended(self, type: str) -> None:
        # a call's name is followed by its parenthesis: the operand is not over yet.
        is_call = type == "LPAR" and self._previous == "NAME"
        if self._operand_ended and not is_call:
            self._close("SIGN")
        if type in ("AND", "OR", "COMMA", "RPAR"):
            self._close("NOT")
        if type == "RPAR" and self._open and self._open.pop() == "LIST":
            self._lists -= 1
        self._operand_ended = type == "RPAR"

    def _open_what_begins(self, token: Lexeme) -> None:
        if token.type == "LPAR":
            is_list = self._previous == "IN"
            self._lists += is_list
            self._open.append("LIST" if is_list else "LPAR")
        elif token.type == "SIGN" or (token.type == "NOT" and self._previous not in OPERAND_ENDS):
            self._open.append(token.type)
        found = len(self._open) - self._lists
        if found > MAX_DEPTH:
            raise TooDeep(self._text, token.start, token.end, found, MAX_DEPTH)

    def _close(self, type: str) -> None:
        while self._open and self._open[-1] == type:
            self._open.pop()


def _no_token(text: str, position: int) -> ExpressionError:
    start = position + len(text[position:]) - len(text[position:].lstrip(" \t\r\n"))
    if number := NO_NUMBER.match(text, start):
        return ExpressionError(
            text,
            start,
            number.end(),
            "this is no number; expected one as in JSON (7, -0.5, 1e6), and a blank behind it",
        )
    return ExpressionError(text, start, start + 1, strange_character(text[start]))
