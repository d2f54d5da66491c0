"""A run: events are applied to a core in their order, and publications and moves that follow one another in batches.

The fold over a log and the step of the streaming job both apply their input through a run. If the index cannot match
several publications in one call, or somebody observes the core, each event is applied by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from silbo.core.batch import Batch
from silbo.core.client import Client
from silbo.core.core import Core
from silbo.matching.candidates import SubscriptionRow
from silbo.model.events import Event, Publish, SetContext
from silbo.model.notification import Publication
from silbo.model.values import Context


class BatchRun:
    """Calls `matched` with each publication and its rows, in the order of publishing, at the latest in `flush`."""

    def __init__(self, core: Core, matched: Callable[[Publication, Sequence[SubscriptionRow]], object]) -> None:
        self._core = core
        self._matched = matched
        self._batch: Batch | None = None

    @property
    def is_batching(self) -> bool:
        """Whether publications and moves are collected. An index that does so exists from the first subscription on."""
        return self._core.index.fast is not None and not self._core.observers

    def apply(self, client: Client, event: Event) -> None:
        """Apply an event after all earlier ones, or collect it; raises if it is refused."""
        if self._collected(client, event):
            return
        self.flush()
        if type(event) is Publish:
            self._matched(*self._core.apply(client, event))
        else:
            self._core.apply(client, event)

    def _collected(self, client: Client, event: Event) -> bool:
        """Collect a publish, or a move that writes floats over floats; returns False for any other event."""
        if not self.is_batching:
            return False
        if type(event) is Publish:
            self.publish(self._core.accept(client, event))
            return True
        return type(event) is SetContext and self._open().set_floats(client.row, event.values)

    def publish(self, publication: Publication) -> None:
        """Collect a publication that was accepted elsewhere. Call it only while `is_batching`."""
        self._open().publish(publication)

    def replace_context(self, client: Client, context: Context) -> None:
        """Give a client a whole context in place of its old one."""
        if self.is_batching and self._open().set_whole(client.row, context):
            return
        self.flush()
        old = self._core.contexts.at(client.row)
        self._core.apply(client, SetContext(client.name, {**dict.fromkeys(old.keys() - context.keys()), **context}))

    def _open(self) -> Batch:
        if self._batch is not None and self._batch.is_full:
            self.flush()
        if self._batch is None:
            self._batch = self._core.batch()
        assert self._batch is not None
        return self._batch

    def flush(self) -> None:
        """Match everything that was collected."""
        batch, self._batch = self._batch, None
        if batch is not None:
            for publication, rows in batch.apply():
                self._matched(publication, rows)
