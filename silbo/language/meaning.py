"""Turn a syntax tree into an expression's tree, and refuse what the language does not allow.

Every check that depends on what a token means is here: which names exist, what a filter may
compare, which constants an operator takes, how many arguments a function has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn, cast

from silbo.errors import InvalidGeometry, TooManyVertices
from silbo.language import literals, tree
from silbo.language.hints import strange_word
from silbo.language.languages import Language
from silbo.language.syntax import Node, Parsed, ends
from silbo.language.tokens import Tokens
from silbo.language.tree import Condition, Constant, Name, Shape, Value
from silbo.model.geometry import geometry, library

COMPARISONS: Mapping[str, tree.ComparisonOperator] = {
    "=": "=", "==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
}  # fmt: skip
EQUALITIES = ("=", "!=")
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

    def __init__(self, tokens: Tokens, language: Language) -> None:
        self._tokens = tokens
        self._types = tokens.types
        self._words = tokens.words
        self._language = language
        self._is_filter = language.is_filter

    def condition(self, node: Parsed) -> Condition:
        """A node that must be true, false or unknown."""
        if isinstance(node, int):
            return self._condition_token(node)
        make = CONDITIONS.get(node.data)
        if make is None:
            self._refuse(node, "this is a number, not a condition; compare it with something")
        return make(self, node.children)

    def value(self, node: Parsed) -> Value:
        """A node that must be a name, a constant, or arithmetic over them."""
        if not isinstance(node, int):
            return self._calculation(node)
        match self._types[node]:
            case "NAME":
                return self._name(node)
            case "NUMBER":
                return literals.number(self._tokens, node)
            case "STRING":
                return literals.string(self._tokens, node)
            case type:
                return Constant("bool", type == "TRUE")

    def _calculation(self, node: Node) -> Value:
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
        raise self._tokens.error(reason, *ends(node))

    def _no_filter(self, node: Parsed, what: str) -> None:
        if self._is_filter:
            self._refuse(node, f"a content filter has no {what}; put it into context=, where msg. names the message")

    # conditions

    def _condition_token(self, token: int) -> Condition:
        type, word = self._types[token], self._words[token]
        if type in ("TRUE", "FALSE"):
            return tree.Truth(type == "TRUE")
        if type != "NAME":
            self._refuse(token, "a constant alone is no condition; compare a name with it")
        name = self._name(token)
        if self._is_filter:
            self._refuse(token, f"a name alone is no constraint; write {word} = true, or exists {word}")
        return tree.Holds(name)

    def _chain(self, children: list[Parsed]) -> Condition:
        alternatives = [[self.condition(children[0])]]
        for operator, operand in _pairs(children):
            if self._types[operator] == "OR":
                alternatives.append([])
            alternatives[-1].append(self.condition(operand))
        return tree.disjunction([tree.conjunction(operands) for operands in alternatives])

    def _negated(self, children: list[Parsed]) -> Condition:
        return tree.Not(self.condition(children[1]))

    def _exists(self, children: list[Parsed]) -> Condition:
        (node,) = children
        if not isinstance(node, int) or self._types[node] != "NAME":
            self._refuse(node, "exists takes a name")
        return tree.Exists(self._name(node))

    def _comparison(self, children: list[Parsed]) -> Condition:
        if len(children) > 3:
            self._refuse(children[3], self._shown_as_and(children))
        left, right = self.value(children[0]), self.value(children[2])
        word = self._words[children[1]]  # type: ignore[index]  # the operator is a token
        operator = COMPARISONS.get(word)
        if operator is None:
            return self._pattern(word.lower(), children, left, right)
        if operator not in EQUALITIES:
            self._takes(("number", "string"), operator, children[0], left)
            self._takes(("number", "string"), operator, children[2], right)
        compared = tree.comparison(operator, left, right)
        self._one_attribute(children, compared.left, compared.right, operator)
        return compared

    def _pattern(self, operator: str, children: list[Parsed], left: Value, right: Value) -> tree.Pattern:
        self._takes(("string",), operator, children[0], left)
        self._takes(("string",), operator, children[2], right)
        self._one_attribute(children, left, right, operator)
        return tree.Pattern(cast("tree.PatternOperator", operator), left, right)

    def _shown_as_and(self, children: list[Parsed]) -> str:
        words = [self._written(child) for child in children]
        pairs = [" ".join(words[i : i + 3]) for i in range(0, len(words) - 2, 2)]
        return f"two comparisons in a row; write {' and '.join(pairs)}"

    def _written(self, node: Parsed) -> str:
        first, last = ends(node)
        return self._tokens.text[self._tokens.span(first)[0] : self._tokens.span(last)[1]]

    def _one_attribute(self, children: list[Parsed], left: Value, right: Value, operator: str) -> None:
        if not self._is_filter or (isinstance(left, Name) and isinstance(right, Constant)):
            return
        if isinstance(left, Name):
            self._refuse(children[2], self._no_constant(children[2]))
        if isinstance(right, Name):
            self._refuse(children[0], f"expected the attribute on the left of {operator}")
        self._refuse(children[0], "two constants; a content filter compares an attribute with a constant")

    def _no_constant(self, node: Parsed) -> str:
        """A second attribute, or, more often, a string without its quotes."""
        word = self._written(node)
        known = strange_word(word)
        if known is not None:
            return known
        return f'a string must be in quotes, "{word}"; a second attribute is compared in context='

    def _takes(self, kinds: tuple[str, ...], operator: str, node: Parsed, value: Value) -> None:
        if isinstance(value, Constant) and value.kind not in kinds:
            self._refuse(node, f"{operator} never takes a {value.kind}; expected a {' or a '.join(kinds)}")

    def _member_of_list(self, children: list[Parsed]) -> Condition:
        nodes = children[2:] if self._is_not(children[1]) else children[1:]
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
        token = _token(children[-1])
        name = self._name(token)
        if self._is_filter:
            self._refuse(token, "in a content filter `in` takes a list of constants: in (…)")
        if name.namespace == "msg":
            self._refuse(token, "a message's attribute is never a set; expected a context variable or a list: in (…)")
        return self._membership(children, name)

    def _membership(self, children: list[Parsed], members: tuple[Constant, ...] | Name) -> Condition:
        value = self.value(children[0])
        if self._is_filter and not isinstance(value, Name):
            self._refuse(children[0], "expected an attribute on the left of in")
        membership = tree.In(value, members)
        return tree.Not(membership) if self._is_not(children[1]) else membership

    def _is_not(self, node: Parsed) -> bool:
        """Whether this is the `not` of `not in`."""
        return isinstance(node, int) and self._types[node] == "NOT"

    def _call(self, children: list[Parsed]) -> Condition:
        token, arguments = self._checked_call(children)
        function = self._words[token].lower()
        if function not in PREDICATES:
            self._refuse(token, f"{function} gives no condition; compare it with something")
        library()  # a missing shapely is reported when the expression is read, not at a later publish
        left, right = (self._shape(argument) for argument in arguments)
        return tree.Spatial(cast("tree.SpatialPredicate", function), left, right)

    # values

    def _name(self, token: int) -> Name:
        return literals.name(self._tokens, token, self._language)

    def _sum(self, children: list[Parsed]) -> Value:
        """`a + b * c - d` from the left: products first, then sums."""
        total: Value | None = None
        sign = 0
        product = self._number(children[0])
        for operator, operand in _pairs(children):
            factor = self._number(operand)
            if self._types[operator] in ("STAR", "SLASH"):
                product = self._calculated(operator, product, factor)
            else:
                total, sign, product = self._added(total, sign, product), operator, factor
        return self._added(total, sign, product)

    def _added(self, total: Value | None, sign: int, product: Value) -> Value:
        return product if total is None else self._calculated(sign, total, product)

    def _calculated(self, operator: int, left: Value, right: Value) -> tree.Arithmetic:
        return tree.Arithmetic(cast("tree.ArithmeticOperator", self._words[operator]), left, right)

    def _number(self, node: Parsed) -> Value:
        value = self.value(node)
        self._takes(("number",), "arithmetic", node, value)
        return value

    def _numeric_call(self, node: Node) -> Value:
        token, arguments = self._checked_call(node.children)
        function = self._words[token].lower()
        if function in PREDICATES:
            self._refuse(node, f"{function} is a condition; expected a name, a constant or a number")
        if function in GEOMETRIES:
            self._refuse(node, f"{function}(…) stands only inside within(…) and intersects(…)")
        return tree.Call(cast("tree.Function", function), tuple(self._number(argument) for argument in arguments))

    def _checked_call(self, children: list[Parsed]) -> tuple[int, list[Parsed]]:
        token, arguments = _token(children[0]), children[1:]
        function = self._words[token].lower()
        self._no_filter(token, "functions")
        if function not in ARITY:
            self._refuse(token, f"unknown function; expected one of: {', '.join(ARITY)}")
        fewest, most = ARITY[function]
        if not fewest <= len(arguments) <= most:
            wanted = str(fewest) if fewest == most else f"at least {fewest}"
            self._refuse(token, f"{function} takes {wanted} argument{'s' * (fewest > 1)}, here are {len(arguments)}")
        return token, arguments

    def _shape(self, node: Parsed) -> Shape:
        """An operand of `within` and `intersects`."""
        if isinstance(node, int):
            if self._types[node] == "NAME":
                return self._name(node)
        elif node.data == "call":
            return self._shape_call(node.children)
        self._refuse(node, 'expected a geometry: a variable, point(x, y) or geometry("WKT")')

    def _shape_call(self, children: list[Parsed]) -> Shape:
        token, arguments = self._checked_call(children)
        match self._words[token].lower():
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


CONDITIONS: Mapping[str, Callable[[Meaning, list[Parsed]], Condition]] = {
    "chain": Meaning._chain,
    "negated": Meaning._negated,
    "exists": Meaning._exists,
    "comparison": Meaning._comparison,
    "member_of_list": Meaning._member_of_list,
    "member_of_name": Meaning._member_of_name,
    "call": Meaning._call,
}


def _token(node: Parsed) -> int:
    """A part that syntax lets only be a token."""
    assert isinstance(node, int)
    return node


def _pairs(children: list[Parsed]) -> Iterator[tuple[int, Parsed]]:
    """The operators of a chain, each with the operand after it."""
    return zip(cast("list[int]", children[1::2]), children[2::2], strict=True)
