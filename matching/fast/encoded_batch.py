"""A batch of context changes and publications in their order, encoded for the kernels.

The kernel applies a batch event by event, in as few calls as it can: a context change writes cells, a publication is
matched. So a publication is matched with the contexts at its place in the order, however events are cut into batches.
Any other event (a subscription, a context change of another kind) ends the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from silbo.matching.fast.encoding import Encoder
from silbo.matching.fast.names import Names
from silbo.model.values import Attributes, Context

if TYPE_CHECKING:
    import numpy as np


class EncodedBatch:
    """Created by `FastIndex.encoded_batch`, filled in the order of the events, and passed to `FastIndex.apply`."""

    def __init__(self, attributes: Names, variables: Names, columns: Mapping[str, int]) -> None:
        self._encoder = Encoder(attributes, variables)
        self._columns = columns
        self.size = 0  # words of the stream in use

    @property
    def stream(self) -> np.ndarray[Any, Any]:
        """The events, encoded as words."""
        return self._encoder.stream

    def publish(self, attributes: Attributes, offered: Context, *, pause: bool = False) -> None:
        """Add a publication. With `pause`, the caller of `apply` gets its matches before later events are applied."""
        self.size = self._encoder.publication(attributes, offered, self.size, pause=pause)

    def set_floats(self, row: int, values: Mapping[str, float]) -> None:
        """Add a context change that writes floats over floats."""
        self.size = self._encoder.context(row, [(self._columns[name], values[name]) for name in values], self.size)

    def set_columns(self, rows: np.ndarray[Any, Any], values: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Add many context changes that write floats over floats, one event for each row."""
        columns = [(self._columns[name], column) for name, column in values.items()]
        self.size = self._encoder.contexts(rows, columns, self.size)
