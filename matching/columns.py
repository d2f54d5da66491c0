"""A batch of mixed events in columns: contexts and publications in their order, ready for the kernels.

Within a batch a context is a write of cells and a publication is a match, one after the other, in one kernel
call: what a publication meets are the contexts as they are at its place, however the batch was cut. Whatever
else happens (a subscription, a context of another kind) ends the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from silbo.matching.encoding import Encoder
from silbo.matching.names import Names
from silbo.model.values import Attributes, Context

if TYPE_CHECKING:
    import numpy as np


class Columns:
    """Made by `FastIndex.columns`, filled in the events' order, given to `FastIndex.apply`."""

    def __init__(self, attributes: Names, variables: Names, columns: Mapping[str, int]) -> None:
        self._encoder = Encoder(attributes, variables)
        self._columns = columns
        self.publications = 0
        self.size = 0  # words of the stream in use

    @property
    def stream(self) -> np.ndarray[Any, Any]:
        """The events in words."""
        return self._encoder.stream

    def publish(self, attributes: Attributes, offered: Context, *, pause: bool = False) -> None:
        """A publication; with `pause`, whoever applies the batch is asked before the events behind it."""
        self.size = self._encoder.publication(attributes, offered, self.size, pause=pause)
        self.publications += 1

    def set_floats(self, row: int, values: Mapping[str, float]) -> None:
        """A context change of floats in cells that hold floats."""
        self.size = self._encoder.context(row, [(self._columns[name], values[name]) for name in values], self.size)

    def set_columns(self, rows: np.ndarray[Any, Any], values: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Many context changes of floats in cells that hold floats, one event a row."""
        columns = [(self._columns[name], column) for name, column in values.items()]
        self.size = self._encoder.contexts(rows, columns, self.size)
