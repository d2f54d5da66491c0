"""A second reader of the three languages: lark, by the grammar in `silbo/language/grammar.lark`.

It is a check of the reader that silbo uses, and shares none of its code: lark splits the text by the terminals of the
grammar, and this module builds the tree. What the grammar's comments leave to its reader is checked here, the bounds
in `tree_bounds`. Lark is imported with the first text that is read; it comes with `silbo[dialects]`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from silbo.errors import InvalidGeometry, MissingPart, SilboError, TooManyVertices
from silbo.language.tree import (
    And,
    Arithmetic,
    Call,
    Compare,
    Condition,
    Constant,
    Exists,
    GeometryConstant,
    Holds,
    In,
    Name,
    Namespace,
    Negative,
    Not,
    Or,
    Pattern,
    Point,
    Shape,
    Spatial,
    Truth,
    Value,
)
from silbo.model.geometry import geometry
from silbo.testing.tree_bounds import MAX_NAME, MAX_TEXT, exceeded_bound, is_too_deep

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

Start: TypeAlias = Literal["content_filter", "context_function", "scope"]

STARTS: tuple[Start, ...] = ("content_filter", "context_function", "scope")
NAMESPACES: dict[Start, tuple[str, ...]] = {
    "content_filter": (),
    "context_function": ("pub", "this", "msg"),
    "scope": ("sub", "this", "msg"),
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


class NotInLanguage(SilboError):
    """A text that the grammar, or a condition in its comments, refuses."""


class OutOfBounds(NotInLanguage):
    """A text that the grammar accepts and that is too long, too deep or too large."""


def grammar() -> str:
    """The text of the grammar."""
    return files("silbo.language").joinpath("grammar.lark").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def parser() -> Lark:
    """Lark for the grammar. It reports a text with two readings instead of choosing one."""
    try:
        from lark import Lark
    except ImportError as error:
        raise MissingPart("lark", extra="dialects") from error
    return Lark(grammar(), start=list(STARTS), parser="earley", ambiguity="explicit", g_regex_flags=re.ASCII)


def read(text: str, start: Start) -> Condition:
    """The tree of a text, or `NotInLanguage`."""
    if len(text) > MAX_TEXT:
        raise OutOfBounds("the text is too long")
    parsed = _parsed(text, start)
    if is_too_deep(parsed):  # before anything walks the tree by recursion
        raise OutOfBounds("the text is nested too deeply")
    condition: Condition = Builder(start).built(parsed)
    if bound := exceeded_bound(condition, is_filter=start == "content_filter"):
        raise OutOfBounds(f"too many {bound}")
    return condition


def _parsed(text: str, start: Start) -> Tree[Token]:
    from lark.exceptions import UnexpectedInput

    reader = parser()
    try:
        text.encode("utf-8")
        return reader.parse(text, start=start)
    except (UnicodeEncodeError, UnexpectedInput) as error:
        raise NotInLanguage(str(error)) from None


class Builder:
    """Builds silbo's tree from lark's: one method for each name of a node in the grammar."""

    def __init__(self, start: Start) -> None:
        self._namespaces = NAMESPACES[start]

    def built(self, node: Tree[Token] | Token) -> Any:
        """What a node or a terminal of lark's tree stands for."""
        if isinstance(node, str):
            return self._terminal(node)
        assert node.data != "_ambig", "the grammar has two readings of one text"
        return getattr(self, f"_{node.data}")(*map(self.built, node.children))

    def _terminal(self, token: Token) -> Name | Constant | str:
        match token.type:
            case "ATTRIBUTE":
                return Name("attribute", _unquoted(str(token)))
            case "CONTEXT_NAME" | "MESSAGE_NAME":
                return self._name(token)
            case "NUMBER":
                return Constant("number", _number(token))
            case "STRING":
                return Constant("string", _string(token))
            case _:
                return token.lower()

    def _name(self, token: str) -> Name:
        namespace, _, name = token.partition(".")
        if namespace not in self._namespaces:
            raise NotInLanguage(f"this language has no names in {namespace}.")
        return Name(cast("Namespace", namespace), _unquoted(name))

    # conditions

    def _content_filter(self, condition: Condition) -> Condition:
        return condition

    _context_function = _scope = _parentheses = _content_filter

    def _disjunction(self, *parts: Any) -> Condition:
        return Or(tuple(_flat(Or, parts[::2])))

    def _conjunction(self, *parts: Any) -> Condition:
        return And(tuple(_flat(And, parts[::2])))

    def _negation(self, _: str, operand: Condition) -> Condition:
        return Not(operand)

    def _truth(self, word: str) -> Condition:
        return Truth(word == "true")

    def _holds(self, name: Name) -> Condition:
        return Holds(name)

    def _comparison(self, left: Value, operator: Any, right: Value) -> Condition:
        operator = operator.replace("==", "=")
        if isinstance(left, Constant) and not isinstance(right, Constant):
            left, operator, right = right, MIRRORED[operator], left
        return Compare(operator, left, right)

    def _pattern(self, left: Value, operator: Any, right: Value) -> Condition:
        return Pattern(operator, left, right)

    def _membership(self, value: Value, *words_and_members: Any) -> Condition:
        *words, members = words_and_members
        return Not(In(value, members)) if words == ["not", "in"] else In(value, members)

    def _exists(self, _: str, name: Name) -> Condition:
        return Exists(name)

    def _spatial(self, predicate: Any, left: Shape, right: Shape) -> Condition:
        return Spatial(predicate, left, right)

    # values

    def _boolean(self, word: str) -> Constant:
        return Constant("bool", word == "true")

    def _list(self, *constants: Constant) -> tuple[Constant, ...]:
        return constants

    def _sum(self, first: Value, *rest: Any) -> Value:
        for operator, operand in zip(rest[::2], rest[1::2], strict=True):
            first = Arithmetic(operator, first, operand)
        return first

    _product = _sum

    def _negative(self, _: str, operand: Value) -> Value:
        return Negative(operand)

    def _call(self, function: Any, *arguments: Value) -> Value:
        return Call(function, arguments)

    def _point(self, _: str, x: Value, y: Value) -> Shape:
        return Point(x, y)

    def _geometry(self, _: str, wkt: Constant) -> Shape:
        try:
            return GeometryConstant(geometry(wkt.value).wkb, str(wkt.value))
        except (InvalidGeometry, TooManyVertices) as error:
            raise NotInLanguage(error.reason) from None


def _flat(kind: type[And | Or], operands: Iterable[Condition]) -> Iterable[Condition]:
    """The operands of a chain; those of a chain of the same kind in parentheses belong to it."""
    for operand in operands:
        yield from operand.operands if isinstance(operand, kind) else (operand,)


def _unquoted(written: str) -> str:
    name = written[1:-1].replace("``", "`") if written.startswith("`") else written
    if len(name.encode("utf-8")) > MAX_NAME:
        raise NotInLanguage("the name is too long")
    return name


def _number(written: str) -> int | float:
    """As Python's JSON reader has it: an int, or a float where there is a fraction or an exponent."""
    value: int | float = json.loads(written)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise NotInLanguage("the integer is out of range")
    elif not math.isfinite(value):
        raise NotInLanguage("the number is out of range")
    return value


def _string(written: str) -> str:
    r"""As Python's JSON reader has it, once the string is one of JSON's: in double quotes, without \'."""
    json_body = re.sub(r"\\.|\"", _as_in_json, written[1:-1], flags=re.DOTALL)
    value: str = json.loads(f'"{json_body}"', strict=False)  # control characters stand for themselves
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise NotInLanguage("a surrogate stands alone") from None
    return value


def _as_in_json(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])
