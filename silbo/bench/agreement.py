"""Compare the index with the oracle, above all for subscriptions that only just match or only just do not.

A probe takes a subscription and makes a publication for it that meets every constraint or all but one, from a
publisher near the border of the subscriber's box. The subscriber may just have moved. The oracle decides whether it
matches. Ordinary events are also compared, for subscriptions drawn at random, and the oracle checks every match of
the index for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from silbo.bench.workloads import Workload, subscriber
from silbo.context.table import ContextTable
from silbo.language import tree
from silbo.matching.oracle import truth
from silbo.model.values import Attributes, Context

Answer: TypeAlias = Callable[[Attributes, Context], set[int]]  # the subscriptions that get a publication

ENOUGH = 1_000  # matches, and as many near misses
PROBES = 100_000  # after which the comparison gives up
SCANS, SCANNED = 20, 1_000  # ordinary events, and subscriptions compared for each
GIVEN = 10  # matches of the index for a probe that the oracle checks too


@dataclass(slots=True)
class Agreement:
    """The number of comparisons, and the first differences."""

    matches: int = 0
    near_misses: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def is_enough(self) -> bool:
        """Whether there were enough matches and enough near misses."""
        return min(self.matches, self.near_misses) >= ENOUGH


def compare(workload: Workload, table: ContextTable, answer: Answer, seed: int) -> Agreement:
    """Compare until there were enough matches and near misses; subscribers move meanwhile."""
    comparison = _Comparison(workload, table, answer, seed)
    comparison.scan()
    for _ in range(PROBES):
        if comparison.found.is_enough:
            break
        comparison.probe()
    return comparison.found


class _Comparison:
    def __init__(self, workload: Workload, table: ContextTable, answer: Answer, seed: int) -> None:
        self.found = Agreement()
        self._workload = workload
        self._table = table
        self._answer = answer
        self._chance = np.random.default_rng(seed)

    def scan(self) -> None:
        """Compare ordinary events."""
        for attributes, offered in self._workload.publications[:SCANS]:
            given = self._answer(attributes, offered)
            drawn = self._chance.integers(0, len(self._workload), SCANNED).tolist()
            for subscription in {*drawn, *sorted(given)[:SCANNED]}:
                self._check(subscription, attributes, offered, given)

    def probe(self) -> None:
        """Compare a publication made for a subscription drawn at random, whose subscriber may move first."""
        chance, workload = self._chance, self._workload
        subscription = int(chance.integers(len(workload)))
        if chance.random() < 0.3:
            self._move(subscription)
        attributes, offered = workload.publications[int(chance.integers(len(workload.publications)))]
        wanted, is_broken = _message(chance, workload.filters[subscription].tree)
        attributes = {**attributes, **wanted}
        if workload.functions[subscription] is not None:
            offered = workload.near(chance, self._table[subscriber(subscription)], offered)
        given = self._answer(attributes, offered)
        for other in sorted(given)[:GIVEN]:
            self._check(other, attributes, offered, given)
        content, context = self._check(subscription, attributes, offered, given)
        self.found.matches += content and context
        self.found.near_misses += content != context and (content or is_broken)

    def _move(self, subscription: int) -> None:
        x, y = (float(each) for each in self._chance.uniform(0, 1_000, 2))
        self._table.set(subscriber(subscription), {"x": x, "y": y})

    def _check(self, subscription: int, attributes: Attributes, offered: Context, given: set[int]) -> tuple[bool, bool]:
        """Whether the content matches, and whether the context does, according to the oracle."""
        content, context = self._oracle(subscription, attributes, offered)
        if (content and context) != (subscription in given) and len(self.found.differences) < 5:
            verb = "missed" if content and context else "got"
            self.found.differences.append(f"{self._told(subscription)} {verb} {attributes} from {offered}")
        return content, context

    def _told(self, subscription: int) -> str:
        filter, function = self._workload.filters[subscription], self._workload.functions[subscription]
        context = dict(self._table[subscriber(subscription)])
        return f"s{subscription} ({filter.text} | {function and function.text} | {context})"

    def _oracle(self, subscription: int, attributes: Attributes, offered: Context) -> tuple[bool, bool]:
        function = self._workload.functions[subscription]
        spaces: dict[str, Mapping[str, Any]] = {
            "attribute": attributes, "msg": attributes, "pub": offered, "this": self._table[subscriber(subscription)],
        }  # fmt: skip

        def look(name: tree.Name) -> Any:
            return spaces[name.namespace].get(name.name)

        content = truth(self._workload.filters[subscription].tree, look) == 1
        return content, function is None or truth(function.tree, look) == 1


def _message(chance: np.random.Generator, condition: tree.Condition) -> tuple[dict[str, Any], bool]:
    """Attributes that meet one conjunction of a filter, or all of it but one constraint; and whether one is not met."""
    if isinstance(condition, tree.Or):
        condition = condition.operands[chance.integers(len(condition.operands))]
    atoms = condition.operands if isinstance(condition, tree.And) else (condition,)
    broken = int(chance.integers(len(atoms))) if chance.random() < 0.5 else None
    return dict(_value(chance, atom, met=i != broken) for i, atom in enumerate(atoms)), broken is not None


def _value(chance: np.random.Generator, atom: tree.Condition, *, met: bool) -> tuple[str, Any]:
    """An attribute for which a constraint is just true, or just not."""
    match atom:
        case tree.Compare(_, tree.Name(_, name), tree.Constant("number", value)):
            around: list[Any] = [value, value + 1, value - 1, value + 0.5, value - 0.5]  # type: ignore[operator]
        case tree.Compare(_, tree.Name(_, name), tree.Constant(_, text)) | tree.Pattern(
            _, tree.Name(_, name), tree.Constant(_, text)
        ):
            around = [text, f"{text}~", f"~{text}", f"~{text}~", f"~{text}"[:-1]]
        case _:
            raise AssertionError(f"not in any workload: {atom}")
    fitting = [value for value in around if _holds(atom, value) == met]
    return name, fitting[chance.integers(len(fitting))]


def _holds(atom: tree.Condition, value: Any) -> bool:
    return truth(atom, lambda _: value) == 1
