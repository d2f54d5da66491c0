"""Read tokens by the grammar, or point at the first place that does not fit it.

    condition  negation { (and | or) negation }
    negation   not negation | atom
    atom       value | value op value … | value [not] in ( … ) | value [not] in name | exists operand
    value      operand { (+ | - | * | /) operand }
    operand    name | number | string | true | false | - operand | ( condition ) | name( … )

Conditions and values meet in `operand`, since parentheses may stand around both. Chains are flat:
`meaning` splits `a and b or c` at `or`, then at `and`, and `a + b * c` likewise. Parentheses leave no
trace: what they hold stands in the syntax tree as its own node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

from silbo.errors import ExpressionError
from silbo.language.hints import strange_word
from silbo.language.languages import Language
from silbo.language.tokens import KEYWORDS, Lexeme

ARITHMETIC = ("PLUS", "MINUS", "STAR", "SLASH")
JOINS = ("AND", "OR")
OPERANDS = ("NAME", "NUMBER", "STRING", "TRUE", "FALSE", "PREDICATE", "SIGN", "LPAR")
CONDITIONS = ("NOT", "EXISTS", *OPERANDS)

EXPECTED = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
    "TRUE": "true",
    "FALSE": "false",
    "NOT": "not",
    "EXISTS": "exists",
    "PREDICATE": "within, intersects",
    "OPERATOR": "= != < <= > >= prefix suffix contains",
    "IN": "in",
    "AND": "and",
    "OR": "or",
    "PLUS": "+",
    "MINUS": "-",
    "SIGN": "-",
    "STAR": "*",
    "SLASH": "/",
    "LPAR": "(",
    "RPAR": ")",
    "COMMA": "a comma",
    "END": "the end",
}


class Node:
    """A syntax node: what it is, and its parts from left to right, tokens that mean something among them."""

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Parsed]) -> None:
        self.data = data
        self.children = children


Parsed: TypeAlias = Node | Lexeme


def read(text: str, lexemes: Sequence[Lexeme], language: Language) -> Parsed:
    """The syntax tree of a text's tokens, or an `ExpressionError` that points at the fault."""
    syntax = Syntax(text, lexemes, language)
    tree = syntax.condition()
    syntax.expect("END")
    return tree


def span(node: Parsed) -> tuple[int, int]:
    """Where a node begins and ends in the text."""
    first = last = node
    while isinstance(first, Node):
        first = first.children[0]
    while isinstance(last, Node):
        last = last.children[-1]
    return first.start, last.end


class Syntax:
    """Reads from left to right, one method for each rule; the bound on depth holds the recursion."""

    def __init__(self, text: str, lexemes: Sequence[Lexeme], language: Language) -> None:
        self._text = text
        self._lexemes = [*lexemes, Lexeme("END", "", len(text), len(text))]
        self._language = language
        self._place = 0
        self._type = self._lexemes[0].type
        self._follows: tuple[str, ...] = ()  # what else could stand here, for messages

    def condition(self) -> Parsed:
        """A chain of negations, or one alone."""
        first = self._negation()
        if self._type not in JOINS:
            return first
        chain = [first]
        while self._type in JOINS:
            chain += [self._next(), self._negation()]
        return Node("chain", chain)

    def expect(self, *types: str) -> Lexeme:
        """The next token if it is of one of these types, else an error that says what was expected."""
        if self._type not in types:
            self._fail(*self._follows, *types)
        return self._next()

    def _next(self) -> Lexeme:
        lexeme = self._lexemes[self._place]
        self._place += 1
        self._type = self._lexemes[self._place].type if lexeme.type != "END" else "END"
        return lexeme

    def _negation(self) -> Parsed:
        if self._type == "NOT":
            return Node("negated", [self._next(), self._negation()])
        if self._type not in CONDITIONS:
            self._fail(*CONDITIONS)
        return self._atom()

    def _atom(self) -> Parsed:
        if self._type == "EXISTS":
            self._next()
            atom: Parsed = Node("exists", [self._operand()])
            self._follows = JOINS
            return atom
        value = self._value()
        if self._type == "OPERATOR":
            return self._comparison(value)
        if self._type in ("IN", "NOT"):
            return self._membership(value)
        self._follows = ("NOT", "OPERATOR", "IN", *JOINS, *ARITHMETIC)
        return value

    def _comparison(self, value: Parsed) -> Parsed:
        parts = [value]
        while self._type == "OPERATOR":
            parts += [self._next(), self._value()]
        self._follows = (*JOINS, *ARITHMETIC)
        return Node("comparison", parts)

    def _membership(self, value: Parsed) -> Parsed:
        parts: list[Parsed] = [value]
        self._follows = ()
        if self._type == "NOT":
            parts.append(self._next())
        self.expect("IN")
        if self._type == "LPAR":
            self._next()
            node = Node("member_of_list", parts + self._separated(self._value))
        else:
            node = Node("member_of_name", [*parts, self.expect("LPAR", "NAME")])
        self._follows = JOINS
        return node

    def _separated(self, part: Callable[[], Parsed]) -> list[Parsed]:
        """Parts with commas between them, or none, and the closing parenthesis."""
        parts: list[Parsed] = []
        self._follows = OPERANDS
        while self._type != "RPAR" or parts:
            parts.append(part())
            self._follows = ("COMMA", *(self._follows if part == self.condition else ()))
            if self._type != "COMMA":
                break
            self._next()
        self.expect("RPAR")
        return parts

    def _value(self) -> Parsed:
        first = self._operand()
        if self._type not in ARITHMETIC:
            return first
        parts = [first]
        while self._type in ARITHMETIC:
            parts += [self._next(), self._operand()]
        return Node("arithmetic", parts)

    def _operand(self) -> Parsed:
        if self._type == "SIGN":
            return Node("negative", [self._next(), self._operand()])
        if self._type == "LPAR":
            self._next()
            inner = self.condition()
            self.expect("RPAR")
            return inner
        if self._type not in OPERANDS:
            self._fail(*OPERANDS)
        lexeme = self._next()
        if self._type == "LPAR" and lexeme.type in ("NAME", "PREDICATE"):
            self._next()
            return Node("call", [lexeme, *self._separated(self.condition)])
        if lexeme.type == "PREDICATE":
            self._follows = ()
            self.expect("LPAR")
        return lexeme

    def _fail(self, *expected: str) -> NoReturn:
        token = self._lexemes[self._place]
        listed = _listed(expected, self._language)
        if token.type == "END":
            raise ExpressionError(self._text, token.start, token.end, f"the text ends here; expected {listed}")
        hint = _hint(token, self._lexemes[self._place - 1] if self._place else None)
        raise ExpressionError(self._text, token.start, token.end, f"not expected here{hint}; expected {listed}")


def _hint(token: Lexeme, previous: Lexeme | None) -> str:
    if token.type == "STRING" and previous is not None and previous.type == "STRING":
        return " (inside a string a quote is written \\' or \\\")"
    if token.type == "STAR" and previous is not None and previous.type == "STAR":
        return " (there is no power)"
    known = strange_word(token.text) if token.type in ("NAME", "EXISTS") else None
    if known is None and token.text.lower() in KEYWORDS:
        known = f"a name that equals a keyword stands in backticks: `{token.text}`"
    return f" ({known})" if known else ""


def _listed(expected: tuple[str, ...], language: Language) -> str:
    left_out = {*ARITHMETIC, "SIGN", "PREDICATE"} if language.is_filter else set()
    known = [EXPECTED[type] for type in EXPECTED if type in expected and type not in left_out]
    return "one of: " + ", ".join(known) if len(known) > 1 else "".join(known)
