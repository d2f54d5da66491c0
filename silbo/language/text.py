"""Print a tree as text that reads back as the same tree."""

from __future__ import annotations

import json
from decimal import Decimal
from string import ascii_letters, digits

from silbo.exhaustive import assert_never
from silbo.language import tree
from silbo.language.bounds import MAX_TEXT
from silbo.language.literals import NAMESPACES, PLAIN, string
from silbo.language.tokens import KEYWORDS, Tokens, tokens
from silbo.language.tree import And, Condition, Constant, Name, Not, Or, Shape, Value

SUM, PRODUCT, UNARY = 1, 2, 3  # how tightly a value binds

WORD = frozenset(ascii_letters + digits + "_.")


def to_text(condition: Condition) -> str:
    """The expression as text; where that would be too long to be read again, without what can be left out."""
    text = _condition(condition)
    return text if len(text) <= MAX_TEXT else compact(text)


def _condition(node: Condition) -> str:
    match node:
        case Or(operands):
            return " or ".join(_condition(operand) for operand in operands)
        case And(operands):
            return " and ".join(_in_parentheses(operand, Or) for operand in operands)
        case Not(tree.In(value, members)):
            return f"{value_text(value)} not in {_members(members)}"
        case Not(operand):
            return "not " + _in_parentheses(operand, (And, Or))
        case tree.Truth(value):
            return "true" if value else "false"
        case tree.Holds(name):
            return name_text(name)
        case tree.Compare(operator, left, right) | tree.Pattern(operator, left, right):
            return f"{value_text(left)} {operator} {value_text(right)}"
        case tree.In(value, members):
            return f"{value_text(value)} in {_members(members)}"
        case tree.Exists(name):
            return f"exists {name_text(name)}"
        case tree.Spatial(predicate, left, right):
            return f"{predicate}({_shape(left)}, {_shape(right)})"
        case _:
            assert_never(node)


def _in_parentheses(node: Condition, weaker: type | tuple[type, ...]) -> str:
    text = _condition(node)
    return f"({text})" if isinstance(node, weaker) else text


def _members(members: tuple[Constant, ...] | Name) -> str:
    return name_text(members) if isinstance(members, Name) else f"({', '.join(map(_constant, members))})"


def value_text(node: Value) -> str:
    """A value as text, for messages and explanations."""
    match node:
        case Constant():
            return _constant(node)
        case Name():
            return name_text(node)
        case tree.Negative(Constant() as operand):
            # with a blank, or the minus would belong to the number
            return f"- {_constant(operand)}"
        case tree.Negative(operand):
            return f"-{_tight(operand, UNARY)}"
        case tree.Arithmetic(operator, left, right):
            binding = _binding(node)
            return f"{_tight(left, binding)} {operator} {_tight(right, binding + 1)}"
        case tree.Call(function, arguments):
            return f"{function}({', '.join(map(value_text, arguments))})"
        case _:
            assert_never(node)


def _tight(node: Value, binding: int) -> str:
    text = value_text(node)
    return f"({text})" if _binding(node) < binding else text


def _binding(node: Value) -> int:
    if isinstance(node, tree.Arithmetic):
        return SUM if node.operator in "+-" else PRODUCT
    return UNARY


def _shape(node: Shape) -> str:
    match node:
        case Name():
            return name_text(node)
        case tree.Point(x, y):
            return f"point({value_text(x)}, {value_text(y)})"
        case tree.GeometryConstant(_, wkt):
            return f"geometry({_string(wkt)})"
        case _:
            assert_never(node)


def name_text(node: Name) -> str:
    """A name as text, quoted where it must be."""
    if node.namespace == "attribute":
        beginning, dot, _ = node.name.partition(".")
        reserved = node.name.lower() in KEYWORDS or (bool(dot) and beginning in NAMESPACES)
        return node.name if PLAIN.fullmatch(node.name) and not reserved else _quoted(node.name)
    return f"{node.namespace}.{node.name if PLAIN.fullmatch(node.name) else _quoted(node.name)}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _constant(node: Constant) -> str:
    if isinstance(node.value, str):
        return _string(node.value)
    if isinstance(node.value, bool):
        return "true" if node.value else "false"
    return repr(node.value)


def _string(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def compact(text: str) -> str:
    """The same tokens in as few code points as they need."""
    written, previous, last = [], "", ""
    found = tokens(text)
    for token, type in enumerate(found.types[:-1]):
        short = _shortest(found, token)
        # two words need a blank between them; otherwise a minus would belong to the number after it
        if (last in WORD and short[0] in WORD) or (previous == "SIGN" and type == "NUMBER"):
            written.append(" ")
        written.append(short)
        previous, last = type, short[-1]
    return "".join(written)


def _shortest(found: Tokens, token: int) -> str:
    type, word = found.types[token], found.words[token]
    if type == "STRING":
        value = str(string(found, token).value).replace("\\", "\\\\")
        quotes = [quote + value.replace(quote, "\\" + quote) + quote for quote in "\"'"]
        return min(quotes, key=len)
    if type == "NUMBER" and set(word) & set(".e"):
        sign, figures, exponent = Decimal(word).normalize().as_tuple()
        scientific = f"{'-' * sign}{''.join(map(str, figures))}e{exponent}"
        return min(word.replace("e+", "e"), scientific, key=len)
    return word
