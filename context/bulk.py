"""Many context changes at once: columns of numbers written into rows by a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from silbo.compiled import Kernel, digest_of
from silbo.context import cells as layout
from silbo.context import writing
from silbo.context.cells import Cells
from silbo.context.writing import note_write, write_cell


def write(words, width, column, rows, payloads, metas, stale, moved, queue, state):
    """Write one cell in each row, and queue the rows that a grid must move. A column of one kind has one meta word."""
    one_meta = metas.size == 1
    for i in range(rows.size):
        row = rows[i]
        write_cell(words, (row * width + column) * layout.CELL_WORDS, payloads[i], metas[0 if one_meta else i])
        note_write(row, layout.KINDS, stale, moved, queue, state)


def _signature() -> Any:
    from numba import int32, int64, types, uint8

    words = types.Array(int64, 1, "C")
    flags = types.Array(uint8, 1, "C")
    return types.void(words, int64, int64, words, words, words, flags, flags, types.Array(int32, 1, "C"), words)


WRITE = Kernel(write, _signature, digest_of([Path(__file__), Path(layout.__file__), Path(writing.__file__)]))


def write_column(
    cells: Cells,
    rows: np.ndarray[Any, Any],
    column: int,
    payloads: np.ndarray[Any, Any],
    metas: np.ndarray[Any, Any],
) -> None:
    """Write one column. All arrays hold words; `metas` has one word for all rows, or one for each row."""
    WRITE.make()(
        cells.words, cells.width, column, np.ascontiguousarray(rows, np.int64), payloads, metas,
        cells.stale, cells.moved, cells.queue, cells.state,
    )  # fmt: skip
