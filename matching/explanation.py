"""Explain why a subscription gets a message or not: clause by clause, with the values used and the resulting truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from silbo.context.function import Scope
from silbo.language import tree
from silbo.language.evaluation import PLACE, Bindings, compiled
from silbo.language.expression import Expression
from silbo.language.text import name_text, to_text
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.reasons import unknown_reason
from silbo.model.events import Dropped
from silbo.model.notification import Publication
from silbo.model.texts import value_text
from silbo.model.values import Context

TRUTHS = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition inside an expression: its depth, its truth, and the values that its names had.

    `reason` says why the condition is unknown, if its values do not show it.
    """

    depth: int
    text: str
    truth: bool | None
    values: tuple[tuple[str, str], ...]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One of the three conditions: the content filter, the context function or the scope."""

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
    now: bool  # whether it uses the contexts of now; otherwise those of the time of the publish
    dropped: Dropped  # how a record would name this notification if it was dropped

    @property
    def reason(self) -> str:
        """The deciding part and its truth, in a few words."""
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
    """Evaluate the three conditions for one publication and one subscription, given the subscriber's context."""
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
        Dropped(publication.publisher, publication.sequence, row.name, row.id),
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
            reason = unknown_reason(condition, bindings) if truth is None else None
            yield Clause(depth, to_text(condition), truth, tuple(_values(condition, bindings, hidden)), reason)


def _values(condition: tree.Condition, bindings: Bindings, hidden: frozenset[str]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(tree.names(condition)):
        values = bindings[PLACE[name.namespace]]
        value = values.get(name.name)
        if value is not None:
            yield name_text(name), value_text(value)
        elif f"{name.namespace}.{name.name}" in hidden:
            yield name_text(name), "not offered by the advertisement"
        else:
            yield name_text(name), value_text(None) + _nearest(name, values)


def _nearest(name: tree.Name, values: Context) -> str:
    """A hint at a present name that differs little, such as `this.x` if `this.X` was written; else an empty string."""
    wanted = name.name.lower()
    near = [other for other in values if other.lower() == wanted] or get_close_matches(
        name.name, values, n=1, cutoff=0.8
    )
    return f"; there is {name_text(tree.Name(name.namespace, near[0]))}" if near else ""


def _part_lines(part: Part) -> Iterator[str]:
    if part.text is None:
        yield f"  {part.title}: none, so it is true"
        return
    yield f"  {part.title}: {TRUTHS[part.truth]}"
    for clause in part.clauses:
        values = ", ".join(f"{name} is {value}" for name, value in clause.values)
        shown = f"    [{values}]" if values else ""
        reason = "" if clause.reason is None else f": {clause.reason}"
        yield f"    {TRUTHS[clause.truth]:8}{'  ' * clause.depth}{clause.text}{shown}{reason}"
