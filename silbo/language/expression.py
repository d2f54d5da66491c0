"""An expression that passed every check: its tree, its text, and its truth for given values.

Filters, context functions and scopes are three classes of it; each knows its language. Reading the
same text twice gives the same object, so a million subscriptions with one function hold it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from silbo.errors import ExpressionError, FormError, TextTooLong
from silbo.language.bounds import MAX_TEXT, check_conjunctions, check_lists, check_nodes, check_text
from silbo.language.evaluation import Bindings, Evaluate, compiled
from silbo.language.form import Form
from silbo.language.languages import Language
from silbo.language.meaning import Meaning
from silbo.language.syntax import read
from silbo.language.text import to_text
from silbo.language.tokens import tokens
from silbo.language.tree import Condition, Namespace, names

if TYPE_CHECKING:
    from typing_extensions import Self

# as many distinct texts as a busy broker uses at the same time. A short text costs a few kilobytes, the longest
# some hundred: the cache of long texts is small, so that a client cannot fill the memory with them.
SHORT = 256  # code points
REMEMBERED_SHORT = 16_384
REMEMBERED_LONG = 256

E = TypeVar("E", bound="Expression")


class Expression:
    """Read by `of`; equal when the language and the trees are equal."""

    __slots__ = ("_evaluate", "_variables", "text", "tree")

    language: ClassVar[Language]

    def __init__(self, tree: Condition, text: str | None = None) -> None:
        if text is None:
            raise FormError(
                f"{type(self).__name__}.of(…) reads an expression: write silbo.{type(self).__name__}.of(…)."
            )
        self.tree = tree
        self.text = text
        # made by the first caller of `evaluation_of`: most expressions are evaluated by kernels only
        self._evaluate: Evaluate | None = None
        self._variables: Mapping[Namespace, frozenset[str]] | None = None

    @classmethod
    def of(cls, given: str | Form | Self) -> Self:
        """The expression of a text or a Python form, or an `ExpressionError`."""
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return _remembered(cls, given)
        if isinstance(given, Form):
            return cls._of_form(given)
        known = ("attr",) if cls.language.is_filter else cls.language.namespaces
        names = ", ".join(f"silbo.{each}" for each in known)
        raise FormError(f"a {cls.language.title} is text or built from {names}; not {type(given).__name__}.")

    @classmethod
    def _of_form(cls, form: Form) -> Self:
        """Read the text of the form, so that the two forms cannot differ and every check is in one place."""
        text = to_text(form.condition())
        if len(text) > MAX_TEXT:
            raise TextTooLong(text, MAX_TEXT, len(text), len(text), MAX_TEXT)
        return _remembered(cls, text)

    def truth(self, bindings: Bindings) -> bool | None:
        """True, False, or None for unknown."""
        return (self._evaluate or evaluation_of(self))(bindings)

    def variables(self, namespace: Namespace) -> frozenset[str]:
        """The names that it reads in a namespace; `exists` counts as reading."""
        if self._variables is None:
            found: dict[Namespace, set[str]] = {}
            for name in names(self.tree):
                found.setdefault(name.namespace, set()).add(name.name)
            self._variables = {each: frozenset(read) for each, read in found.items()}
        return self._variables.get(namespace, frozenset())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.language == other.language and self.tree == other.tree

    def __hash__(self) -> int:
        return hash((self.language, self.tree))

    def __str__(self) -> str:
        """The tree as text, in one spelling; `text` is as it was written."""
        return to_text(self.tree)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (self.text,)


def evaluation_of(expression: Expression) -> Evaluate:
    """The truth as a function of the bindings. Matching calls `evaluate` itself, which saves calls for each row."""
    if expression._evaluate is None:
        expression._evaluate = compiled(expression.tree)
    return expression._evaluate


def _remembered(kind: type[E], text: str) -> E:
    read = _read_short if len(text) <= SHORT else _read_long
    return cast("E", read(kind, text))  # type: ignore[arg-type]  # a class is hashable


def _read(kind: type[Expression], text: str) -> Expression:
    try:
        return kind(_tree(text, kind.language), text)
    except ExpressionError as error:
        error.what = kind.language.title
        raise


_read_short = lru_cache(maxsize=REMEMBERED_SHORT)(_read)
_read_long = lru_cache(maxsize=REMEMBERED_LONG)(_read)


def _tree(text: str, language: Language) -> Condition:
    check_text(text)
    found = tokens(text)
    check_lists(found)
    if not language.is_filter:
        check_nodes(found)
    condition = Meaning(found, language).condition(read(found, language))
    if language.is_filter:
        check_conjunctions(found, condition)
    return condition
