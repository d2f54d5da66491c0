"""The plain index: a dictionary of equality constraints, and a scan of the rest.

Each conjunction of a filter is filed under one of its equality constraints; a filter with a
conjunction that has none is a candidate for every message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TypeAlias

from silbo.language import tree
from silbo.matching.candidates import Found, SubscriptionRow
from silbo.matching.normal_form import Constraint, conjunctions
from silbo.model.notification import Publication
from silbo.model.values import KINDS, Context, Kind, Scalar

Key: TypeAlias = tuple[str, Kind, Scalar]  # the kind keeps 1 and true apart
Rows: TypeAlias = dict[SubscriptionRow, None]  # a set that keeps its order


class PlainIndex:
    """An index that is simple enough to trust; the faster ones are compared with it."""

    def __init__(self) -> None:
        self._filed: dict[Key, Rows] = {}
        self._scanned: Rows = {}
        self.changes = 0

    def add(self, row: SubscriptionRow) -> None:
        """File a subscription under its keys."""
        self.changes += 1
        keys = _keys(row)
        if keys is None:
            self._scanned[row] = None
            return
        for key in keys:
            self._filed.setdefault(key, {})[row] = None

    def remove(self, row: SubscriptionRow) -> None:
        """Remove a subscription from all of its keys."""
        self.changes += 1
        keys = _keys(row)
        if keys is None:
            del self._scanned[row]
            return
        for key in keys:
            rows = self._filed[key]
            del rows[row]
            if not rows:
                del self._filed[key]

    def set_context(self, subscriber: str, context: Context) -> None:
        """Do nothing: this index files by content only."""

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """Yield for each publication the rows filed under one of its values, and all that are scanned."""
        return map(self._candidates, batch)

    def found(self, batch: Sequence[Publication]) -> Iterable[Found]:
        """Yield for each publication no rows that match for sure, and the candidates."""
        if len(batch) == 1:
            return [([], self._candidates(batch[0]))]
        return zip(repeat([]), map(self._candidates, batch))

    def _candidates(self, publication: Publication) -> Rows:
        found = dict(self._scanned)
        for name, value in publication.attributes.items():
            found.update(self._filed.get((name, KINDS[type(value)], value), {}))
        return found


def _keys(row: SubscriptionRow) -> list[Key] | None:
    """The keys to file a row under, one for each conjunction; None if it must be scanned."""
    keys: dict[Key, None] = {}
    for conjunction in conjunctions(row.filter.tree):
        key = next((key for constraint in conjunction if (key := _key(constraint))), None)
        if key is None:
            return None
        keys[key] = None
    return list(keys)


def _key(constraint: Constraint) -> Key | None:
    match constraint:
        case Constraint(tree.Compare("=", tree.Name(_, name), tree.Constant(kind, value)), False):
            return name, kind, value
        case _:
            return None
