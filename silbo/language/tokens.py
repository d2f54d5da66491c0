"""Split a text into tokens, and raise at the first token that is nested too deeply.

One regular expression cuts the text into words, and a word or its first character says what it is. Two rules need
more: keywords are whole names in any case (`in.x` is a name), and a minus directly before a number belongs to it
where an operand may begin, so `x -5` subtracts and `x = -5` does not. `literals` turns names, numbers and strings
into values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_letters, digits

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

SIGNS = {"+": "PLUS", "*": "STAR", "/": "SLASH", "(": "LPAR", ")": "RPAR", ",": "COMMA"}

OPERATORS = ("=", "==", "!=", "<", "<=", ">", ">=")

# after one of these an operator follows; after anything else an operand may begin.
OPERAND_ENDS = frozenset(["NAME", "NUMBER", "STRING", "TRUE", "FALSE", "RPAR"])

PLAIN_NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
QUOTED_NAME = r"`(?:``|[^`])*`"
NUMBER = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.])"

# the word of a token and the blanks after it; where no token begins, an empty word, and the rest of the text
WORD = re.compile(
    rf"""(
      {PLAIN_NAME}(?:\.{QUOTED_NAME})?|{QUOTED_NAME}
    | -?{NUMBER}
    | [<>=!&|^%~?@\#$:;]+
    | "(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
    | [-+*/(),]
    )[ \t\r\n]*
    | [^ \t\r\n].*
    """,
    re.VERBOSE | re.DOTALL,
)
NO_NUMBER = re.compile(r"\.?[0-9][A-Za-z0-9_.]*")

# the words that always have the same type
TYPES = {**KEYWORDS, **SIGNS, **dict.fromkeys(OPERATORS, "OPERATOR")}
# the types of other words, by their first character; a minus is also the beginning of a number
BEGINNINGS = {
    **dict.fromkeys(ascii_letters + "_`", "NAME"),
    **dict.fromkeys(digits, "NUMBER"),
    **dict.fromkeys("\"'", "STRING"),
    **dict.fromkeys("<>=!&|^%~?@#$:;", "UNKNOWN OPERATOR"),
    "-": "MINUS",
    "": "NO TOKEN",
}


class Tokens:
    """The tokens of a text, each known by its number from 0: their types, with "END" as the last, and their words."""

    __slots__ = ("_spans", "text", "types", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.types: list[str] = []
        self.words: list[str] = WORD.findall(text)
        self._spans: list[tuple[int, int]] = []

    def error(self, reason: str, first: int, last: int | None = None) -> ExpressionError:
        """An error that points at one token, or from a first to a last one."""
        end = self.span(first if last is None else last)[1]
        return ExpressionError(self.text, self.span(first)[0], end, reason)

    def span(self, token: int) -> tuple[int, int]:
        """Where a token begins and ends. Only errors need places, so they are computed at the first call."""
        if not self._spans:
            self._spans = list(self._found_spans())
        return self._spans[token]

    def _found_spans(self) -> Iterator[tuple[int, int]]:
        end = 0
        for word in self.words:
            start = self.text.index(word, end)  # nothing but blanks stands between two words
            end = start + len(word)
            yield start, end
        yield len(self.text), len(self.text)


def tokens(text: str) -> Tokens:
    """The tokens of a text, or an `ExpressionError` at the first place where none begins."""
    found = Tokens(text)
    types, words = found.types, found.words
    for word in words:
        type = TYPES.get(word)
        if type is None:
            type = BEGINNINGS[word[:1]]
            if type == "NAME":
                type = KEYWORDS.get(word.lower(), type)
            elif type not in OPERAND_ENDS:
                type = _settled(found, type, word)
        types.append(type)
    types.append("END")
    check_depth(found)
    return found


def _settled(found: Tokens, type: str, word: str) -> str:
    """The type of a word whose meaning depends on the token before it; raises if it is no token."""
    token = len(found.types)
    is_operand = not token or found.types[-1] not in OPERAND_ENDS
    if type != "MINUS":
        check_depth(found)  # a token before this one may be too deep, and then the error is there
        raise _no_operator(found, token, is_operand=is_operand) if word else _no_token(found, token)
    if is_operand:
        return "SIGN" if word == "-" else "NUMBER"
    if word != "-":
        found.words[token : token + 1] = "-", word[1:]  # the number is the next word that the caller reads
    return "MINUS"


# the tokens that open a level
OPENING = ("LPAR", "SIGN", "NOT")
# the tokens that open a level or close one; an operator closes the unary minus before its left operand
STRUCTURE = frozenset(
    ["LPAR", "RPAR", "COMMA", "AND", "OR", "NOT", "SIGN", "PLUS", "MINUS", "STAR", "SLASH", "OPERATOR", "IN"]
)


def check_depth(tokens: Tokens) -> None:
    """Raise `TooDeep` at the first token with too much open around it."""
    types = tokens.types
    if len(types) > MAX_DEPTH and sum(map(types.count, OPENING)) > MAX_DEPTH:  # fewer cannot all be open
        depth = Depth(tokens)
        for token, type in enumerate(types):
            depth.see(token, type)


class Depth:
    """Counts the parentheses, calls, `not` and unary minus that are open around each token.

    The parentheses of a list after `in` add nothing. A `not` is open to the end of its operand,
    which is the next `and`, `or`, comma or closing parenthesis; a unary minus to the end of one operand.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._open: list[str] = []
        self._lists = 0
        self._previous = ""
        self._operand_ended = False

    def see(self, token: int, type: str) -> None:
        """Take the next token into account; raise `TooDeep` where it opens one level too many."""
        if type in STRUCTURE:
            self._close_what_ended(type)
            self._open_what_begins(token, type)
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

    def _open_what_begins(self, token: int, type: str) -> None:
        if type == "LPAR":
            is_list = self._previous == "IN"
            self._lists += is_list
            self._open.append("LIST" if is_list else "LPAR")
        elif type == "SIGN" or (type == "NOT" and self._previous not in OPERAND_ENDS):
            self._open.append(type)
        found = len(self._open) - self._lists
        if found > MAX_DEPTH:
            raise TooDeep(self._tokens.text, *self._tokens.span(token), found, MAX_DEPTH)

    def _close(self, type: str) -> None:
        while self._open and self._open[-1] == type:
            self._open.pop()


def _no_operator(found: Tokens, token: int, *, is_operand: bool) -> ExpressionError:
    return found.error(unknown_operator(found.words[token], is_operand=is_operand), token)


def _no_token(found: Tokens, token: int) -> ExpressionError:
    text, (position, _) = found.text, found.span(token)
    start = len(text) - len(text[position:].lstrip(" \t\r\n"))
    if number := NO_NUMBER.match(text, start):
        return ExpressionError(
            text,
            start,
            number.end(),
            "this is no number; expected one as in JSON (7, -0.5, 1e6), followed by a blank",
        )
    return ExpressionError(text, start, start + 1, strange_character(text[start]))
