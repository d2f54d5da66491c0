"""How kernels write context cells: the only place in compiled code that does, whoever the caller is.

`bulk` writes columns of many rows with it, and `matching.fast.kernels.search` the changes in a batch of events.
`Cells.write_row` and its shortcut `Cells.write_floats` are the same for Python.
"""

from __future__ import annotations

from silbo.compiled import inner
from silbo.context import cells as layout


@inner
def write_cell(words, cell, payload, meta):
    """Write one cell: its payload, and its meta word."""
    words[cell] = payload
    words[cell + 1] = meta


@inner
def note_write(row, how, stale, moved, queue, state):
    """After a write: mark the table's row as stale, and queue it if a grid must move it."""
    stale[row] = max(stale[row], how)
    if state[layout.TRACKED] and not moved[row]:
        moved[row] = 1
        queue[state[layout.MOVED]] = row
        state[layout.MOVED] += 1
