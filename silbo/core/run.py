"""A run of publications and moves: what comes one by one is matched in batches, in the same order.

The fold over a log and the step of the streaming job both use it. An index that cannot match several publications in
one call takes part in no run: `publish` and `move` then return False, and the caller applies the event by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from silbo.core.batch import Batch
from silbo.core.client import Client
from silbo.core.core import Core
from silbo.matching.candidates import SubscriptionRow
from silbo.model.notification import Publication
from silbo.model.values import Context, ContextValue


class BatchRun:
    """Calls `matched` with each publication and its rows, in the order of `publish`, at the latest in `flush`."""

    def __init__(self, core: Core, matched: Callable[[Publication, Sequence[SubscriptionRow]], object]) -> None:
        self._core = core
        self._matched = matched
        self._batch: Batch | None = None

    @property
    def is_possible(self) -> bool:
        """Whether the index matches several publications in one call."""
        return self._core.index.fast is not None

    def publish(self, publication: Publication) -> None:
        """Add an accepted publication."""
        self._open().publish(publication)

    def move(self, client: Client, changes: Mapping[str, ContextValue | None], *, whole: bool = False) -> bool:
        """Add a change of floats, or a whole context of floats; returns False, and adds nothing, for any other."""
        if not self.is_possible:
            return False
        batch = self._open()
        return batch.set_whole(client.row, cast("Context", changes)) if whole else batch.set_floats(client.row, changes)

    def _open(self) -> Batch:
        if self._batch is not None and self._batch.is_full:
            self.flush()
        if self._batch is None:
            self._batch = self._core.batch()
        assert self._batch is not None
        return self._batch

    def flush(self) -> None:
        """Match everything that was added."""
        batch, self._batch = self._batch, None
        if batch is not None:
            for publication, rows in batch.apply():
                self._matched(publication, rows)
