"""A batch of accepted publications and of context changes that only write floats; few kernel calls match them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from silbo.context.function import Scope
from silbo.context.table import ContextTable
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.decision import decided
from silbo.model.notification import Publication
from silbo.model.values import Context, ContextValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from silbo.matching.fast.index import FastIndex

MOST_WORDS = 2**20  # 8 MiB


class Batch:
    """The events are applied in their order. The batch does not take any other event."""

    def __init__(self, contexts: ContextTable, index: FastIndex) -> None:
        self._contexts = contexts
        self._index = index
        self._encoded = index.encoded_batch()
        self._published: list[tuple[Publication, Scope | None]] = []

    def publish(self, publication: Publication) -> None:
        """Add an accepted message."""
        scope = None if publication.scope is None else Scope.of(publication.scope)
        self._encoded.publish(publication.attributes, publication.offered, pause=scope is not None)
        self._published.append((publication, scope))

    def set_floats(self, row: int, values: Mapping[str, ContextValue | None]) -> bool:
        """Add a change that writes floats over floats. Returns False, and adds nothing, for any other change."""
        if not _are_floats(values) or not self._contexts.holds_floats(row, values.keys()):
            return False
        self._encoded.set_floats(row, cast("Mapping[str, float]", values))
        return True

    def set_whole(self, row: int, context: Context) -> bool:
        """Add a whole context of floats if the row holds the same variables as floats. Returns False otherwise."""
        if not _are_floats(context) or not self._contexts.is_of_floats(row, context.keys()):
            return False
        self._encoded.set_floats(row, cast("Mapping[str, float]", context))
        return True

    @property
    def is_full(self) -> bool:
        """Whether the batch should be applied now: it takes memory, and its offsets have 31 bits."""
        return self._encoded.size > MOST_WORDS

    def apply(self) -> Iterator[tuple[Publication, Sequence[SubscriptionRow]]]:
        """Yield each publication with the rows that get it. Exhaust the iterator before any other call."""
        rows_of, contexts = self._index.rows_of, self._contexts
        answers = self._index.apply(self._encoded)
        # read all answers: context changes after the last publication are written at the end
        for (publication, scope), (sure, maybe) in zip(self._published, answers, strict=True):
            yield publication, decided(publication, scope, (rows_of(sure), rows_of(maybe)), contexts)


def _are_floats(values: Mapping[str, ContextValue | None]) -> bool:
    return bool(values) and all(type(value) is float for value in values.values())
