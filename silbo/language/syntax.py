"""Read tokens by the grammar, or point at the first place that does not fit it.

    condition  negation { (and | or) negation }
    negation   not negation | atom
    atom       value | value op value … | value [not] in ( … ) | value [not] in name | exists operand
    value      operand { (+ | - | * | /) operand }
    operand    name | number | string | true | false | - operand | ( condition ) | name( … )

Conditions and values meet in `operand`, since parentheses may stand around both. Chains are flat:
`meaning` splits `a and b or c` at `or`, then at `and`, and `a + b * c` likewise. Parentheses
have no node of their own in the syntax tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeAlias

from silbo.language.hints import strange_word
from silbo.language.languages import Language
from silbo.language.tokens import KEYWORDS, Tokens

ARITHMETIC = frozenset(["PLUS", "MINUS", "STAR", "SLASH"])
JOINS = frozenset(["AND", "OR"])
WORDS = frozenset(["NAME", "NUMBER", "STRING", "TRUE", "FALSE", "PREDICATE"])  # operands of one token
OPERANDS = WORDS | {"SIGN", "LPAR"}
CONDITIONS = OPERANDS | {"NOT", "EXISTS"}

# what may stand after an atom of each kind, for messages
NOTHING: frozenset[str] = frozenset()
AFTER_VALUE = frozenset(["NOT", "OPERATOR", "IN"]) | JOINS | ARITHMETIC
AFTER_COMPARISON = JOINS | ARITHMETIC

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
    "END": "the end of the text",
}


class Node:
    """A syntax node: what it is, and its parts from left to right, tokens that mean something among them."""

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Parsed]) -> None:
        self.data = data
        self.children = children


Parsed: TypeAlias = Node | int  # a token is its number


def read(tokens: Tokens, language: Language) -> Parsed:
    """The syntax tree of a text's tokens, or an `ExpressionError` that points at the fault."""
    syntax = Syntax(tokens, language)
    tree = syntax.condition()
    syntax.expect_end()
    return tree


def ends(node: Parsed) -> tuple[int, int]:
    """The first and the last token of a node."""
    first = last = node
    while isinstance(first, Node):
        first = first.children[0]
    while isinstance(last, Node):
        last = last.children[-1]
    return first, last


class Syntax:
    """Reads from left to right, one method for each rule; the bound on depth holds the recursion."""

    def __init__(self, tokens: Tokens, language: Language) -> None:
        self._tokens = tokens
        self._types = tokens.types
        self._language = language
        self._place = 0
        self._type = self._types[0]
        self._follows = NOTHING  # what else could stand here, for messages

    def condition(self) -> Parsed:
        """A chain of negations, or one alone."""
        first = self._negation()
        if self._type not in JOINS:
            return first
        chain = [first]
        while self._type in JOINS:
            chain += [self._next(), self._negation()]
        return Node("chain", chain)

    def expect_end(self) -> None:
        """Raise an error that says what was expected, unless everything was read."""
        if self._type != "END":
            self._fail(self._follows | {"END"})

    def _expect(self, *types: str) -> int:
        if self._type not in types:
            self._fail(self._follows.union(types))
        return self._next()

    def _next(self) -> int:
        """Take the next token, which is not the end."""
        token = self._place
        self._place = following = token + 1
        self._type = self._types[following]
        return token

    def _negation(self) -> Parsed:
        if self._type == "NOT":
            return Node("negated", [self._next(), self._negation()])
        if self._type not in CONDITIONS:
            self._fail(CONDITIONS)
        return self._atom()

    def _atom(self) -> Parsed:
        if self._type == "EXISTS":
            return self._exists()
        value = self._value()
        if self._type == "OPERATOR":
            return self._comparison(value)
        if self._type in ("IN", "NOT"):
            return self._membership(value)
        self._follows = AFTER_VALUE
        return value

    def _exists(self) -> Node:
        self._next()
        if self._type not in OPERANDS:
            self._fail(frozenset(["NAME", "LPAR"]))
        atom = Node("exists", [self._operand()])
        self._follows = JOINS
        return atom

    def _comparison(self, value: Parsed) -> Node:
        parts = [value]
        while self._type == "OPERATOR":
            parts += [self._next(), self._value()]
        self._follows = AFTER_COMPARISON
        return Node("comparison", parts)

    def _membership(self, value: Parsed) -> Node:
        parts: list[Parsed] = [value]
        self._follows = NOTHING
        if self._type == "NOT":
            parts.append(self._next())
        self._expect("IN")
        if self._type == "LPAR":
            self._refuse_empty_list(self._next())
            node = Node("member_of_list", parts + self._separated(self._value))
        else:
            node = Node("member_of_name", [*parts, self._expect("LPAR", "NAME")])
        self._follows = JOINS
        return node

    def _refuse_empty_list(self, opening: int) -> None:
        if self._type == "RPAR":
            raise self._tokens.error("the list is empty; expected 1 to 1,000 constants", opening, self._place)

    def _separated(self, part: Callable[[], Parsed]) -> list[Parsed]:
        """Parts with commas between them, or none, and the closing parenthesis."""
        parts: list[Parsed] = []
        self._follows = OPERANDS
        while self._type != "RPAR" or parts:
            parts.append(part())
            self._follows = (self._follows if part == self.condition else NOTHING) | {"COMMA"}
            if self._type != "COMMA":
                break
            self._next()
        self._expect("RPAR")
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
        type = self._type
        if type in WORDS:
            token = self._next()
            if self._type == "LPAR" and type in ("NAME", "PREDICATE"):
                self._next()
                return Node("call", [token, *self._separated(self.condition)])
            if type == "PREDICATE":
                self._follows = NOTHING
                self._expect("LPAR")
            return token
        if type == "SIGN":
            return Node("negative", [self._next(), self._operand()])
        if type != "LPAR":
            self._fail(OPERANDS)
        self._next()
        inner = self.condition()
        self._expect("RPAR")
        return inner

    def _fail(self, expected: frozenset[str]) -> NoReturn:
        tokens, token = self._tokens, self._place
        listed = _listed(expected, self._language)
        if self._type == "END":
            raise tokens.error(f"the text ends here; expected {listed}", token)
        raise tokens.error(f"not expected here{_hint(tokens, token)}; expected {listed}", token)


def _hint(tokens: Tokens, token: int) -> str:
    type, word = tokens.types[token], tokens.words[token]
    previous = tokens.types[token - 1] if token else ""
    if type == previous == "STRING":
        return " (inside a string a quote is written \\' or \\\")"
    if type == previous == "STAR":
        return " (there is no power)"
    known = strange_word(word) if type in ("NAME", "EXISTS") else None
    if known is None and word.lower() in KEYWORDS:
        known = f"a name that equals a keyword stands in backticks: `{word}`"
    return f" ({known})" if known else ""


def _listed(expected: frozenset[str], language: Language) -> str:
    left_out = ARITHMETIC | {"SIGN", "PREDICATE"} if language.is_filter else NOTHING
    known = [EXPECTED[type] for type in EXPECTED if type in expected and type not in left_out]
    return "one of: " + ", ".join(known) if len(known) > 1 else "".join(known)
