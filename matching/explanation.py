"""Say why a subscription gets a message or not: clause by clause, with the values used and the truth each gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from silbo.context.function import Scope
from silbo.language import tree
from silbo.language.evaluation import PLACE, Bindings, compiled
from silbo.language.expression import Expression
from silbo.language.text import name_text, to_text
from silbo.matching.candidates import SubscriptionRow
from silbo.model.log import value_text
from silbo.model.notification import Publication
from silbo.model.values import Context

TRUTHS = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition inside an expression: how deep it stands, its truth, and the values that its names had."""

    depth: int
    text: str
    truth: bool | None
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One of the three questions: the content filter, the context function, the scope."""

    title: str
    text: str | None
    truth: bool | None
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict and the parts that led to it; `print` it."""

    message: str
    subscription: str
    gets: bool
    parts: tuple[Part, ...]
    now: bool  # asked with the contexts as they are now, else as they were at the publish

    @property
    def reason(self) -> str:
        """What decided, in a few words."""
        failed = next((part for part in self.parts if part.truth is not True), None)
        return "all three are true" if failed is None else f"the {failed.title} is {TRUTHS[failed.truth]}"

    def __str__(self) -> str:
        verb = {True: "gets", False: "does not get"}[self.gets]
        if self.now:
            verb = {True: "would get", False: "would not get"}[self.gets]
        lines = [f"{self.subscription} {verb} {self.message}{' now' * self.now}: {self.reason}"]
        for part in self.parts:
            lines += _part_lines(part)
        return "\n".join(lines)


def explain(publication: Publication, row: SubscriptionRow, context: Context, *, now: bool) -> Explanation:
    """Ask the three questions of one publication and one subscription, with the subscriber's context given."""
    message, offered, sent = publication.attributes, publication.offered, publication.context
    hidden = frozenset(f"pub.{name}" for name in sent.keys() - offered.keys())
    scope = None if publication.scope is None else Scope.of(publication.scope)
    parts = (
        _part("content filter", row.filter, (message, {}, {}), hidden),
        _part("context function", row.function, (message, offered, context), hidden),
        _part("publisher's scope", scope, (message, context, sent), frozenset()),
    )
    return Explanation(
        f"{publication.publisher}#{publication.sequence}",
        f"{row.name}/{row.id}",
        all(part.truth is True for part in parts),
        parts,
        now,
    )


def _part(title: str, expression: Expression | None, bindings: Bindings, hidden: frozenset[str]) -> Part:
    if expression is None:
        return Part(title, None, True, ())
    clauses = tuple(_clauses(expression.tree, bindings, hidden, 0))
    return Part(title, str(expression), expression.truth(bindings), clauses)


def _clauses(condition: tree.Condition, bindings: Bindings, hidden: frozenset[str], depth: int) -> Iterator[Clause]:
    truth = compiled(condition)(bindings)
    match condition:
        case tree.And(operands) | tree.Or(operands):
            joined = "and" if isinstance(condition, tree.And) else "or"
            yield Clause(depth, f"all of ({joined})" if joined == "and" else "one of (or)", truth, ())
            for operand in operands:
                yield from _clauses(operand, bindings, hidden, depth + 1)
        case tree.Not(tree.And() | tree.Or() | tree.Not() as operand):
            yield Clause(depth, "not", truth, ())
            yield from _clauses(operand, bindings, hidden, depth + 1)
        case _:
            yield Clause(depth, to_text(condition), truth, tuple(_values(condition, bindings, hidden)))


def _values(condition: tree.Condition, bindings: Bindings, hidden: frozenset[str]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(tree.names(condition)):
        value = bindings[PLACE[name.namespace]].get(name.name)
        written = name_text(name)
        unoffered = value is None and f"{name.namespace}.{name.name}" in hidden
        yield written, "not offered by the advertisement" if unoffered else value_text(value)


def _part_lines(part: Part) -> Iterator[str]:
    if part.text is None:
        yield f"  {part.title}: none, so it is true"
        return
    yield f"  {part.title}: {TRUTHS[part.truth]}"
    for clause in part.clauses:
        values = ", ".join(f"{name} is {value}" for name, value in clause.values)
        behind = f"    [{values}]" if values else ""
        yield f"    {TRUTHS[clause.truth]:8}{'  ' * clause.depth}{clause.text}{behind}"
