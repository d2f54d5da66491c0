"""The contexts as kernels read them: a row of tagged cells for each session, a column for each variable.

Only variables that a context function reads or that are written in bulk have a column, and at most `MAX_COLUMNS` of
them; `table` holds the whole contexts. A cell is two words: a payload (a double, a bool, a string's hash) and a meta
word (kind, whether the number was given as an int, residue, block). Bytes of strings, members of sets and bounds of
geometries are in blocks on a heap, which is packed when it is full.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import getsizeof
from typing import Any, TypeAlias

import numpy as np

from silbo.context.scalars import (
    ABSENT,
    BOOL,
    FLAGS,
    INT,
    KIND,
    NUMBER,
    RESIDUE,
    SET,
    SHAPE,
    STRING,
    encoded_number,
    set_block,
    string_block,
)
from silbo.errors import InvalidValue
from silbo.model.geometry import Geometry
from silbo.model.values import ContextValue, ValueSet

Array: TypeAlias = np.ndarray[Any, Any]

NO_NAMES: frozenset[str] = frozenset()
MAX_COLUMNS = 64  # a limit, so that a subscriber cannot widen every row with functions over ever more variables
CELL_WORDS = 2
FLOAT_META = NUMBER << KIND
MOVED, TRACKED, WRITES = 0, 1, 2  # words of `state`
VALUES, KINDS = 1, 2  # how a row is stale: only its floats have changed, or the kinds of its values may have changed


class Cells:
    """Owns the arrays. `generation` rises when an array is replaced, so that holders of the old one can notice."""

    def __init__(self, rows: int) -> None:
        self.floats: list[frozenset[str]] = []  # by row: the names whose cells hold plain floats
        self.columns: dict[str, int] = {}
        self.offsets: dict[str, int] = {}  # the same in words
        self._free: list[int] = []
        self.width = 4
        self.generation = 0
        # the number of rows in `queue`; whether a grid tracks moves; the number of writes by kernels
        self.state = np.zeros(3, np.int64)
        self.is_tracked = False  # the same as state[TRACKED]
        self.moves = 0  # calls of `write_floats` that changed something
        self.heap = np.zeros(64, np.int64)
        self._heap_used = 1  # 0 means no block
        self.words = np.zeros(0, np.int64)
        self.moved = np.zeros(0, np.uint8)
        self.stale = np.zeros(0, np.uint8)
        self.queue = np.zeros(0, np.int32)
        self._allocate(max(64, rows), self.width)

    @property
    def rows(self) -> int:
        """The number of rows that have cells."""
        return self.moved.size

    @property
    def nbytes(self) -> int:
        """Memory of all arrays, and of the list beside them."""
        arrays = (self.words, self.heap, self.moved, self.stale, self.queue)
        return sum(each.nbytes for each in arrays) + getsizeof(self.floats)

    def make_room(self, row: int) -> None:
        """Allocate cells for a row, if it has none."""
        if row >= self.rows:
            self._allocate(max(2 * self.rows, row + 1), self.width)

    def add_column(self, name: str, values: Mapping[int, ContextValue]) -> int:
        """Add a column for a variable, with its values by row; returns the column's number."""
        if not self._free and len(self.columns) == self.width:
            self._allocate(self.rows, 2 * self.width)
        column = self._free.pop() if self._free else len(self.columns)
        self.columns[name] = column
        self.offsets[name] = column * CELL_WORDS
        for row, value in values.items():
            self._write_cell(row, name, value)
        return column

    @property
    def is_full(self) -> bool:
        """Whether all columns are taken."""
        return len(self.columns) == MAX_COLUMNS

    def drop_column(self, name: str) -> None:
        """Clear a column's cells, and free it for another variable."""
        column = self.columns.pop(name)
        del self.offsets[name]
        self.words.reshape(self.rows, self.stride)[:, column * CELL_WORDS : (column + 1) * CELL_WORDS] = 0
        self._free.append(column)

    def write_row(self, row: int, changes: Mapping[str, ContextValue | None]) -> None:
        """Write the cells of a row that have columns; None makes one absent."""
        for name, value in changes.items():
            self._write_cell(row, name, value)
        self.note_move(row)

    def write_floats(self, row: int, changes: Mapping[str, float]) -> bool | None:
        """Write floats over floats, the shortcut of `write_row`; returns whether one changed.

        The table's row becomes stale: it is updated from the cells when it is read. Returns None, and writes nothing,
        unless the row is known to hold plain floats under these names: otherwise the kinds or the number of variables
        may change, and names must be checked.
        """
        stale = self.is_stale[row]
        if stale > VALUES or not self.floats[row].issuperset(changes):
            return None
        doubles, offsets, at, changed, zero = self.doubles, self.offsets, row * self.stride, False, False
        for name, value in changes.items():
            cell = at + offsets[name]
            if doubles[cell] != value:
                doubles[cell] = value
                changed = True
            elif value == 0.0:
                zero = True
        if changed:
            self.moves += 1
            if zero:  # 0.0 and -0.0 are equal, but a reader of the row can tell them apart
                for name, value in changes.items():
                    doubles[at + offsets[name]] = value
            if not stale:
                self.is_stale[row] = VALUES
            if self.is_tracked and not self.is_moved[row]:
                self.note_move(row)
        return changed

    def _write_cell(self, row: int, name: str, value: ContextValue | None) -> None:
        column = self.columns.get(name)
        if column is None:
            return
        at = (row * self.width + column) * CELL_WORDS
        old = self._meta[at + 1]
        if type(value) is float and old == FLOAT_META:
            self.doubles[at] = value
            return
        self._write(at, value)

    def _write(self, at: int, value: ContextValue | None) -> None:
        match value:
            case None:
                self._meta[at], self._meta[at + 1] = 0, ABSENT
            case bool():
                self._meta[at], self._meta[at + 1] = int(value), BOOL << KIND
            case int() | float():
                self.doubles[at], residue = encoded_number(value)
                self._meta[at + 1] = FLOAT_META | (int(type(value) is int) << FLAGS) | (residue << RESIDUE)
            case str():
                self._meta[at] = hash(value)
                self._put(at + 1, STRING, string_block(value))
            case ValueSet():
                self._meta[at] = 0
                self._put(at + 1, SET, set_block(value))
            case Geometry():
                self._meta[at] = 0
                self._put(at + 1, SHAPE, np.array(value.bounds, np.float64).view(np.int64))

    def _put(self, at: int, kind: int, block: Array) -> None:
        """Put a block on the heap, after a word that holds its size, and point a cell's meta word to it."""
        size = block.size + 1
        if self._heap_used + size > self.heap.size:
            self._make_heap(size)
        start = self._heap_used
        self.heap[start] = size
        self.heap[start + 1 : start + size] = block
        self._heap_used += size
        self._meta[at] = (kind << KIND) | (start + 1)

    def _make_heap(self, size: int) -> None:
        """Pack the heap, and enlarge it if more than half of it would still be in use."""
        self._pack()
        if 2 * (self._heap_used + size) > self.heap.size:
            # packing reads every cell, so leave room for a proportional number of writes before the next time
            heap = np.zeros(max(4 * (self._heap_used + size), self.words.size // 8), np.int64)
            heap[: self._heap_used] = self.heap[: self._heap_used]
            self.heap = heap

    def _pack(self) -> None:
        """Copy the blocks of all cells to a new heap without gaps, and update the cells that point to them."""
        metas = self.words[1::CELL_WORDS]
        cells = np.flatnonzero((metas >> KIND) & 0xFF >= STRING)
        blocks = (metas[cells] & 0xFFFFFFFF) - 1
        sizes = self.heap[blocks]
        starts = 1 + np.cumsum(sizes) - sizes
        heap = np.zeros_like(self.heap)
        within = np.arange(sizes.sum()) - np.repeat(starts - 1, sizes)
        heap[1 : 1 + within.size] = self.heap[np.repeat(blocks, sizes) + within]
        metas[cells] = (metas[cells] & ~np.int64(0xFFFFFFFF)) | (starts + 1)
        self.heap = heap
        self._heap_used = 1 + int(within.size)
        self.generation += 1

    def clear(self, row: int) -> None:
        """Make every cell of a row absent."""
        self.is_stale[row] = 0
        self.floats[row] = NO_NAMES
        for name in self.columns:
            self._write_cell(row, name, None)

    def has_new_kinds(self, row: int) -> bool:
        """Whether kernels may have written values of other kinds, or new variables, since the row was read."""
        return bool(self.is_stale[row] > VALUES)

    def note_move(self, row: int) -> None:
        """Add a row to the queue of rows that a grid must move."""
        if self.is_tracked and not self.is_moved[row]:
            self.is_moved[row] = 1
            waiting = self._state[MOVED]
            self._queue[waiting] = row
            self._state[MOVED] = waiting + 1

    def track(self, *, wanted: bool) -> None:
        """Start or stop queueing the rows that move."""
        self.is_tracked = wanted
        self.state[TRACKED] = wanted

    def number_at(self, row: int, name: str) -> ContextValue | None:
        """The number or bool in a cell, with the type it was given with; None for any other kind."""
        at = (row * self.width + self.columns[name]) * CELL_WORDS
        meta = self._meta[at + 1]
        kind = (meta >> KIND) & 0xFF
        if kind == BOOL:
            return bool(self._meta[at])
        if kind != NUMBER:
            return None
        number: float = self.doubles[at]
        return int(number) + (meta >> RESIDUE) if (meta >> FLAGS) & INT else number

    def write_columns(self, rows: Array, columns: Mapping[str, tuple[Array, Array]]) -> None:
        """Write columns, each as payloads and meta words, into many rows at once."""
        from silbo.context.bulk import write_column

        for name, (payloads, metas) in columns.items():
            write_column(self, rows, self.columns[name], payloads, metas)

    @staticmethod
    def encoded(name: str, column: Array) -> tuple[Array, Array]:
        """The payloads and meta words of a column of numbers or bools; one meta word if all are the same."""
        if column.dtype.kind == "b":
            return column.astype(np.int64), np.array([BOOL << KIND], np.int64)
        if column.dtype.kind == "f":
            doubles = np.ascontiguousarray(column, np.float64)
            _check_finite(name, doubles)
            # the kernel is compiled for writable arrays: read-only ones, such as Arrow's, are copied
            return np.require(doubles, requirements="W").view(np.int64), np.array([FLOAT_META], np.int64)
        integers = np.ascontiguousarray(column, np.int64)
        doubles = integers.astype(np.float64)
        # the largest integers round up to 2^63, which is not an int64
        top = doubles >= 2.0**63
        below = np.where(top, 0.0, doubles).astype(np.int64)
        residues = np.where(top, integers - np.int64(2**63 - 1) - 1, integers - below)
        return doubles.view(np.int64), (FLOAT_META | (INT << FLAGS)) | (residues << RESIDUE)

    def _allocate(self, rows: int, width: int) -> None:
        words = np.zeros(rows * width * CELL_WORDS, np.int64)
        old = self.words.reshape(-1, self.width * CELL_WORDS)
        words.reshape(rows, width * CELL_WORDS)[: old.shape[0], : old.shape[1]] = old
        self.words, self.width, self.stride = words, width, width * CELL_WORDS
        self.floats += [NO_NAMES] * (rows - len(self.floats))
        for name in ("moved", "stale", "queue"):
            before = getattr(self, name)
            after = np.zeros(rows, before.dtype)
            after[: before.size] = before
            setattr(self, name, after)
        # memoryviews read and write single items several times as fast as arrays
        self._meta: Any = words.data
        self.doubles: Any = words.view(np.float64).data
        self._state: Any = self.state.data
        self.is_moved: Any = self.moved.data  # by row: whether it is in the queue
        self._queue: Any = self.queue.data
        self.is_stale: Any = self.stale.data  # by row: whether, and how, the cells are newer than the table
        self.generation += 1


def _check_finite(name: str, doubles: Array) -> None:
    is_finite = np.isfinite(doubles)
    if not is_finite.all():
        row = int(np.argmin(is_finite))
        raise InvalidValue(
            f"values[{row}].{name}", f"{doubles[row]} is not a finite number. Leave this session out, or its value."
        )
