"""Turn a syntax tree into an expression's tree, and refuse what the language at hand does not allow.

Everything that needs to know what a token *means* is here: which names exist, what a filter may
compare, which constants an operator takes, how many arguments a function has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, cast

from silbo.errors import ExpressionError, InvalidGeometry, TooManyVertices
from silbo.language import literals, tree
from silbo.language.hints import strange_word
from silbo.language.languages import Language
from silbo.language.syntax import Parsed, span
from silbo.language.tokens import Lexeme
from silbo.language.tree import Condition, Constant, Name, Shape, Value
from silbo.model.geometry import geometry

PATTERNS = ("prefix", "suffix", "contains")
PREDICATES = ("within", "intersects")
GEOMETRIES = ("point", "geometry")
# the fewest and the most arguments of each function
ARITY = {
    "abs": (1, 1),
    "min": (2, 256),
    "max": (2, 256),
    "sqrt": (1, 1),
    "distance": (4, 4),
    "geo_distance": (4, 4),
    "point": (2, 2),
    "geometry": (1, 1),
    "within": (2, 2),
    "intersects": (2, 2),
}


class Meaning:
    """One text in one language; each method turns one kind of syntax node into tree nodes."""

    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._language = language

    def condition(self, node: Parsed) -> Condition:
        """A node that must be true, false or unknown."""
        if isinstance(node, Lexeme):
            return self._condition_token(node)
        make: Callable[[list[Parsed]], Condition] | None = getattr(self, f"_{node.data}", None)
        if make is None:
            self._refuse(node, "this is a number, not a condition; compare it with something")
        return make(node.children)

    def value(self, node: Parsed) -> Value:
        """A node that must be a name, a constant, or arithmetic over them."""
        if isinstance(node, Lexeme):
            return self._value_token(node)
        match node.data:
            case "arithmetic":
                self._no_filter(node, "arithmetic")
                return self._sum(node.children)
            case "negative":
                self._no_filter(node, "arithmetic")
                return tree.Negative(self._number(node.children[1]))
            case "call":
                return self._numeric_call(node)
            case _:
                self._refuse(node, "a condition stands here; expected a name, a constant or a number")

    def _refuse(self, node: Parsed, reason: str) -> NoReturn:
        raise ExpressionError(self._text, *span(node), reason)

    def _no_filter(self, node: Parsed, what: str) -> None:
        if self._language.is_filter:
            self._refuse(node, f"a content filter has no {what}; put it into context=, where msg. names the message")

    # conditions

    def _condition_token(self, token: Lexeme) -> Condition:
        if token.type in ("TRUE", "FALSE"):
            return tree.Truth(token.type == "TRUE")
        if token.type != "NAME":
            self._refuse(token, "a constant alone is no condition; compare a name with it")
        name = self._name(token)
        if self._language.is_filter:
            self._refuse(token, f"a name alone is no constraint; write {token.text} = true, or exists {token.text}")
        return tree.Holds(name)

    def _chain(self, children: list[Parsed]) -> Condition:
        alternatives: list[list[Condition]] = [[self.condition(children[0])]]
        for operator, operand in zip(children[1::2], children[2::2], strict=True):
            if cast("Lexeme", operator).type == "OR":
                alternatives.append([])
            alternatives[-1].append(self.condition(operand))
        return tree.disjunction(tree.conjunction(operands) for operands in alternatives)

    def _negated(self, children: list[Parsed]) -> Condition:
        return tree.Not(self.condition(children[1]))

    def _exists(self, children: list[Parsed]) -> Condition:
        (node,) = children
        if not isinstance(node, Lexeme) or node.type != "NAME":
            self._refuse(node, "exists takes a name")
        return tree.Exists(self._name(node))

    def _comparison(self, children: list[Parsed]) -> Condition:
        operators = cast("list[Lexeme]", children[1::2])
        if len(operators) > 1:
            self._refuse(operators[1], self._shown_as_and(children))
        left, right = self.value(children[0]), self.value(children[2])
        operator = operators[0].text.lower().replace("==", "=")
        if operator in PATTERNS:
            self._takes(("string",), operator, children[0], left)
            self._takes(("string",), operator, children[2], right)
            self._one_attribute(children, left, right, operator)
            return tree.Pattern(cast("tree.PatternOperator", operator), left, right)
        if operator not in ("=", "!="):
            self._takes(("number", "string"), operator, children[0], left)
            self._takes(("number", "string"), operator, children[2], right)
        compared = tree.comparison(cast("tree.ComparisonOperator", operator), left, right)
        self._one_attribute(children, compared.left, compared.right, operator)
        return compared

    def _shown_as_and(self, children: list[Parsed]) -> str:
        words = [self._text[slice(*span(child))] for child in children]
        pairs = [" ".join(words[i : i + 3]) for i in range(0, len(words) - 2, 2)]
        return f"two comparisons in a row; write {' and '.join(pairs)}"

    def _one_attribute(self, children: list[Parsed], left: Value, right: Value, operator: str) -> None:
        if not self._language.is_filter or (isinstance(left, Name) and isinstance(right, Constant)):
            return
        if isinstance(left, Name):
            self._refuse(children[2], self._no_constant(children[2]))
        if isinstance(right, Name):
            self._refuse(children[0], f"expected the attribute on the left of {operator}")
        self._refuse(children[0], "two constants; a content filter compares an attribute with a constant")

    def _no_constant(self, node: Parsed) -> str:
        """A second attribute, or, more often, a string without its quotes."""
        word = self._text[slice(*span(node))]
        known = strange_word(word)
        if known is not None:
            return known
        return f'a string stands in quotes, "{word}"; a second attribute is compared in context='

    def _takes(self, kinds: tuple[str, ...], operator: str, node: Parsed, value: Value) -> None:
        if isinstance(value, Constant) and value.kind not in kinds:
            self._refuse(node, f"{operator} never takes a {value.kind}; expected a {' or a '.join(kinds)}")

    def _member_of_list(self, children: list[Parsed]) -> Condition:
        nodes = children[2:] if _is_not(children[1:2]) else children[1:]
        if not nodes:
            self._refuse(children[0], "the list behind its `in` is empty; expected 1 to 1,000 constants")
        members = tuple(self._member(node) for node in nodes)
        for node, member in zip(nodes, members, strict=True):
            if member.kind != members[0].kind:
                self._refuse(node, f"the constants of a list have one type; expected a {members[0].kind}")
        return self._membership(children, members)

    def _member(self, node: Parsed) -> Constant:
        value = self.value(node)
        if not isinstance(value, Constant):
            self._refuse(node, "expected a constant: after `in` a parenthesis opens a list (a set stands without it)")
        return value

    def _member_of_name(self, children: list[Parsed]) -> Condition:
        token = cast("Lexeme", children[-1])
        name = self._name(token)
        if self._language.is_filter:
            self._refuse(token, "in a content filter `in` takes a list of constants: in (…)")
        if name.namespace == "msg":
            self._refuse(token, "a message's attribute is never a set; expected a context variable or a list: in (…)")
        return self._membership(children, name)

    def _membership(self, children: list[Parsed], members: tuple[Constant, ...] | Name) -> Condition:
        value = self.value(children[0])
        if self._language.is_filter and not isinstance(value, Name):
            self._refuse(children[0], "expected an attribute on the left of in")
        membership = tree.In(value, members)
        return tree.Not(membership) if _is_not(children[1:2]) else membership

    def _call(self, children: list[Parsed]) -> Condition:
        token, arguments = self._checked_call(children)
        function = token.text.lower()
        if function not in PREDICATES:
            self._refuse(token, f"{function} gives no condition; compare it with something")
        left, right = (self._shape(argument) for argument in arguments)
        return tree.Spatial(cast("tree.SpatialPredicate", function), left, right)

    # values

    def _value_token(self, token: Lexeme) -> Value:
        start, end = span(token)
        match token.type:
            case "NAME":
                return self._name(token)
            case "NUMBER":
                return literals.number(self._text, start, end)
            case "STRING":
                return literals.string(self._text, start, end)
            case _:
                return Constant("bool", token.type == "TRUE")

    def _name(self, token: Lexeme) -> Name:
        return literals.name(self._text, *span(token), self._language)

    def _sum(self, children: list[Parsed]) -> Value:
        """`a + b * c - d` from the left: products first, then sums."""
        total: Value | None = None
        sign: Lexeme | None = None
        product = self._number(children[0])
        for operator, operand in zip(cast("list[Lexeme]", children[1::2]), children[2::2], strict=True):
            factor = self._number(operand)
            if operator.type in ("STAR", "SLASH"):
                product = tree.Arithmetic(cast("tree.ArithmeticOperator", operator.text), product, factor)
            else:
                total, sign, product = self._added(total, sign, product), operator, factor
        return self._added(total, sign, product)

    def _added(self, total: Value | None, sign: Lexeme | None, product: Value) -> Value:
        if total is None or sign is None:
            return product
        return tree.Arithmetic(cast("tree.ArithmeticOperator", sign.text), total, product)

    def _number(self, node: Parsed) -> Value:
        value = self.value(node)
        self._takes(("number",), "arithmetic", node, value)
        return value

    def _numeric_call(self, node: Parsed) -> Value:
        assert not isinstance(node, Lexeme)
        token, arguments = self._checked_call(node.children)
        function = token.text.lower()
        if function in PREDICATES:
            self._refuse(node, f"{function} is a condition; expected a name, a constant or a number")
        if function in GEOMETRIES:
            self._refuse(node, f"{function}(…) stands only inside within(…) and intersects(…)")
        return tree.Call(cast("tree.Function", function), tuple(self._number(argument) for argument in arguments))

    def _checked_call(self, children: list[Parsed]) -> tuple[Lexeme, list[Parsed]]:
        token, arguments = cast("Lexeme", children[0]), children[1:]
        function = token.text.lower()
        if function not in ARITY:
            self._refuse(token, f"unknown function; expected one of: {', '.join(ARITY)}")
        self._no_filter(token, "functions")
        fewest, most = ARITY[function]
        if not fewest <= len(arguments) <= most:
            wanted = str(fewest) if fewest == most else f"at least {fewest}"
            self._refuse(token, f"{function} takes {wanted} argument{'s' * (fewest > 1)}, here are {len(arguments)}")
        return token, arguments

    def _shape(self, node: Parsed) -> Shape:
        """An operand of `within` and `intersects`."""
        if isinstance(node, Lexeme):
            token = node
            if token.type == "NAME":
                return self._name(token)
        elif node.data == "call":
            return self._shape_call(node.children)
        self._refuse(node, 'expected a geometry: a variable, point(x, y) or geometry("WKT")')

    def _shape_call(self, children: list[Parsed]) -> Shape:
        token, arguments = self._checked_call(children)
        match token.text.lower():
            case "point":
                return tree.Point(self._number(arguments[0]), self._number(arguments[1]))
            case "geometry":
                return self._geometry(arguments[0])
            case _:
                self._refuse(token, 'expected a geometry: a variable, point(x, y) or geometry("WKT")')

    def _geometry(self, node: Parsed) -> tree.GeometryConstant:
        wkt = self.value(node)
        if not isinstance(wkt, Constant) or not isinstance(wkt.value, str):
            self._refuse(node, "geometry takes WKT in quotes")
        try:
            checked = geometry(wkt.value)
        except (InvalidGeometry, TooManyVertices) as error:
            self._refuse(node, error.reason)
        return tree.GeometryConstant(checked.wkb, wkt.value)


def _is_not(nodes: list[Parsed]) -> bool:
    """Whether the `not` of `not in` stands there."""
    return bool(nodes) and isinstance(nodes[0], Lexeme) and nodes[0].type == "NOT"
