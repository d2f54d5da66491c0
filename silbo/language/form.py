"""The Python form: `(attr.severity >= 3) & attr.msg.is_in("accident", "jam")`.

`attr` names the message's attributes in a filter; `pub`, `this`, `sub` and `msg` the variables of
functions and scopes. Python evaluates `and`, `or`, `not`, `in` and chained comparisons by asking for a
bool, which no condition has before a message comes: that raises, with the right spelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn

from silbo.errors import FormError, NoSuchMethod, TextTooLong, TooDeep, TooManyNodes
from silbo.language import tree
from silbo.language.bounds import MAX_NODES, MAX_TEXT
from silbo.language.tokens import MAX_DEPTH
from silbo.language.tree import Constant, Name, Namespace, Value
from silbo.model.geometry import Geometry, geometry, looks_like_geometry
from silbo.model.values import KINDS, ValueSet, checked_name, checked_scalar

SPELLING = (
    "a condition has no truth before a message comes. Write & for `and`, | for `or`, ~ for `not`, "
    ".is_in(…) for `in`, (1 < attr.x) & (attr.x < 5) for `1 < attr.x < 5`, fn.min(…) and fn.max(…) for min and max; "
    "and put parentheses around each comparison: (attr.x > 1) & (attr.y < 2)."
)

# each level of a tree needs at most this many more in text that is still within MAX_DEPTH
LEVELS = 3 * MAX_DEPTH


class Form:
    """What `&`, `|` and `~` combine: a condition, or a name that stands for a bool."""

    __slots__ = ("_levels", "_size")

    _levels: int
    _size: int

    def condition(self) -> tree.Condition:
        """The tree that the form stands for."""
        raise FormError("this is a number, not a condition. Compare it with something.")

    def __and__(self, other: Form) -> Condition:
        return _joined(tree.And, self, _form(other))

    def __or__(self, other: Form) -> Condition:
        return _joined(tree.Or, self, _form(other))

    def __rand__(self, other: object) -> NoReturn:
        _form(other)
        raise AssertionError("two forms are joined from the left")

    __ror__ = __rand__

    def __invert__(self) -> Condition:
        return Condition(tree.Not(self.condition()), self._size + 1, self._levels + 1)

    def __bool__(self) -> NoReturn:
        raise FormError(SPELLING)

    def __dir__(self) -> list[str]:
        """What users call, for completion: `condition` is for silbo itself."""
        return [name for name in super().__dir__() if name != "condition"]

    def __repr__(self) -> str:
        from silbo.language.text import to_text

        return f"<{to_text(self.condition())}>"


def _joined(node: type[tree.And | tree.Or], *forms: Form) -> Condition:
    """A chain; a form that is such a chain already is taken into it and adds no level."""
    conditions = [form.condition() for form in forms]
    join = tree.conjunction if node is tree.And else tree.disjunction
    levels = [form._levels + (not isinstance(each, node)) for form, each in zip(forms, conditions, strict=True)]
    return Condition(join(conditions), sum(form._size for form in forms) + 1, max(levels))


def _form(other: object) -> Form:
    if isinstance(other, Form):
        return other
    raise FormError(f"& and | join conditions, not {type(other).__name__}; put parentheses around each comparison.")


class Condition(Form):
    """A comparison, or several joined by `& | ~`. Equal when the trees are equal."""

    __slots__ = ("_tree",)

    def __init__(self, condition: tree.Condition, size: int = 1, levels: int = 1) -> None:
        # bounded while it grows, so that no tree is too deep to be walked or too large to be printed
        if size > MAX_TEXT:
            raise TextTooLong("", 0, 0, size, MAX_TEXT)
        if levels > LEVELS:
            raise TooDeep("", 0, 0, levels, MAX_DEPTH)
        self._tree = condition
        self._size = size
        self._levels = levels

    def condition(self) -> tree.Condition:
        """The tree that it stands for."""
        return self._tree

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self._tree == other._tree

    def __hash__(self) -> int:
        return hash(self._tree)


class Operand(Form):
    """A name or arithmetic over names: compare it, calculate with it."""

    __slots__ = ("_tree",)
    __hash__ = None  # type: ignore[assignment]  # == builds a condition, so no set can hold operands

    def __init__(self, value: Value, *parts: Operand) -> None:
        self._tree = value
        self._size = sum(part._size for part in parts) + 1
        self._levels = 1
        if self._size > MAX_NODES:
            raise TooManyNodes("", 0, 0, self._size, MAX_NODES)

    def condition(self) -> tree.Condition:
        """A name alone stands for a bool; a number for nothing."""
        if isinstance(self._tree, Name):
            return tree.Holds(self._tree)
        return super().condition()

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]  # a condition, not a bool
        return self._compare("=", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]  # a condition, not a bool
        return self._compare("!=", other)

    def __lt__(self, other: object) -> Condition:
        return self._compare("<", other)

    def __le__(self, other: object) -> Condition:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self._compare(">", other)

    def __ge__(self, other: object) -> Condition:
        return self._compare(">=", other)

    def _compare(self, operator: tree.ComparisonOperator, other: object) -> Condition:
        right = operand(other)
        return Condition(tree.comparison(operator, self._tree, right._tree))

    def prefix(self, other: object) -> Condition:
        """Begins with."""
        return self._pattern("prefix", other)

    def suffix(self, other: object) -> Condition:
        """Ends with."""
        return self._pattern("suffix", other)

    def contains(self, other: object) -> Condition:
        """Contains, as a string contains another."""
        return self._pattern("contains", other)

    def _pattern(self, operator: tree.PatternOperator, other: object) -> Condition:
        right = operand(other)
        return Condition(tree.Pattern(operator, self._tree, right._tree))

    def is_in(self, *members: object) -> Condition:
        """Is one of the constants, given one by one or as one collection; or is in a set-valued variable."""
        only = members[0] if len(members) == 1 else members
        if isinstance(only, Operand):
            if not isinstance(only._tree, Name):
                raise FormError("is_in takes constants, a collection of them, or a variable that holds a set.")
            return Condition(tree.In(self._tree, only._tree))
        if isinstance(only, str) or not isinstance(only, Iterable):
            only = (only,)
        constants = tuple(constant(member) for member in only)
        return Condition(tree.In(self._tree, constants))

    def exists(self) -> Condition:
        """Is present."""
        if not isinstance(self._tree, Name):
            raise FormError("exists() takes a name: attr.x.exists().")
        return Condition(tree.Exists(self._tree))

    def __contains__(self, _: object) -> NoReturn:
        raise FormError("write msg.symbol.is_in(this.holdings) for `msg.symbol in this.holdings`.")

    def __iter__(self) -> Iterator[NoReturn]:
        raise FormError("a name has no members before a message comes.")

    def __add__(self, other: object) -> Operand:
        return _arithmetic("+", self, other)

    def __radd__(self, other: object) -> Operand:
        return _arithmetic("+", other, self)

    def __sub__(self, other: object) -> Operand:
        return _arithmetic("-", self, other)

    def __rsub__(self, other: object) -> Operand:
        return _arithmetic("-", other, self)

    def __mul__(self, other: object) -> Operand:
        return _arithmetic("*", self, other)

    def __rmul__(self, other: object) -> Operand:
        return _arithmetic("*", other, self)

    def __truediv__(self, other: object) -> Operand:
        return _arithmetic("/", self, other)

    def __rtruediv__(self, other: object) -> Operand:
        return _arithmetic("/", other, self)

    def __pow__(self, other: object) -> NoReturn:
        raise FormError("there is no power. In a context function or a scope, write pub.x * pub.x.")

    __rpow__ = __pow__

    def __mod__(self, other: object) -> NoReturn:
        raise FormError("there is no remainder. Put the remainder into the message or the context and compare it.")

    __rmod__ = __mod__

    def __floordiv__(self, other: object) -> NoReturn:
        raise FormError("there is no division without a fraction. Write pub.x / 2.")

    __rfloordiv__ = __floordiv__

    def __getattr__(self, name: str) -> NoReturn:
        raise NoSuchMethod(
            f"no {name!r} here: there are prefix, suffix, contains, is_in and exists; "
            'a name with a dot is written attr["a.b"].'
        )

    def __neg__(self) -> Operand:
        return Operand(tree.Negative(self._tree), self)

    def __abs__(self) -> Operand:
        return Operand(tree.Call("abs", (self._tree,)), self)

    def __repr__(self) -> str:
        from silbo.language.text import value_text

        return f"<{value_text(self._tree)}>"


class Names:
    """`attr`, `pub`, `this`, `sub` or `msg`: `attr.severity`, `attr["a.b"]`."""

    __slots__ = ("_namespace",)

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def __getitem__(self, name: str) -> Operand:
        return Operand(Name(self._namespace, checked_name(name, "name")))

    def __getattr__(self, name: str) -> Operand:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __repr__(self) -> str:
        return f"<names of {self._namespace}>"


attr = Names("attribute")
pub = Names("pub")
this = Names("this")
sub = Names("sub")
msg = Names("msg")
true = Condition(tree.Truth(True))
false = Condition(tree.Truth(False))


class Geometric:
    """A geometry inside `fn.within` and `fn.intersects`."""

    __slots__ = ("tree",)

    def __init__(self, shape: tree.Point | tree.GeometryConstant) -> None:
        self.tree = shape


def constant(value: object) -> Constant:
    """A Python scalar as a constant."""
    if value is None:
        raise FormError("there is no None to compare with. Write ~attr.x.exists() for an absent name.")
    checked = checked_scalar(value, "constant")
    return Constant(KINDS[type(checked)], checked)


def operand(value: object) -> Operand:
    """A name, arithmetic, or a Python scalar as one side of a comparison."""
    if isinstance(value, Operand):
        return value
    if isinstance(value, ValueSet | list | tuple | set | frozenset):
        raise FormError("a collection is compared by .is_in(…).")
    if isinstance(value, Form | Geometric | Geometry):
        raise FormError("a comparison takes names, numbers and constants on both sides; join conditions with & and |.")
    return Operand(constant(value))


def _arithmetic(operator: tree.ArithmeticOperator, left: object, right: object) -> Operand:
    a, b = operand(left), operand(right)
    return Operand(tree.Arithmetic(operator, a._tree, b._tree), a, b)


def call(function: tree.Function, *arguments: object) -> Operand:
    """A numeric function of names, numbers and constants."""
    operands = [operand(argument) for argument in arguments]
    return Operand(tree.Call(function, tuple(each._tree for each in operands)), *operands)


def point(x: object, y: object) -> Geometric:
    """`point(x, y)`."""
    return Geometric(tree.Point(operand(x)._tree, operand(y)._tree))


def spatial(predicate: tree.SpatialPredicate, left: object, right: object) -> Condition:
    """`within` or `intersects` of two geometries."""
    return Condition(tree.Spatial(predicate, _shape(left), _shape(right)))


def _shape(value: object) -> tree.Shape:
    if isinstance(value, Operand) and isinstance(value._tree, Name):
        return value._tree
    if isinstance(value, Geometric):
        return value.tree
    if looks_like_geometry(value):
        made = geometry(value)
        return tree.GeometryConstant(made.wkb, made.wkt)
    raise FormError("expected a geometry: a variable, fn.point(x, y) or silbo.geometry(…).")
