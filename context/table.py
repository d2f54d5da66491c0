"""The context table (the paper's contextManager): it maps a session's UUID to its context values.

(No relation to Python's context managers: nothing here is used in a `with` statement.) A change is
one write of one row. The content index is not notified: contexts are read when a publication arrives, so the values
in the table at that moment count. `cells` holds the variables that kernels read; it is created at its first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from sys import getsizeof
from typing import TYPE_CHECKING, Any

from silbo.model.readonly import ReadOnlyDict
from silbo.model.values import MAX_VARIABLES, Context, ContextValue, changed_context, checked_changes, whole_context

if TYPE_CHECKING:
    import numpy as np

    from silbo.context.cells import Cells

EMPTY: Context = ReadOnlyDict()
MANY = 1_024  # sets of names that are interned at most


class ContextTable:
    """Rows are replaced, never changed in place: a row that was read is a snapshot."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # UUID to row
        self._rows: list[Context] = []
        self._free: list[int] = []
        self._widest = 0  # the most variables that any row ever had, bulk writes not included
        self._bulk: set[str] = set()  # names of variables that were written in bulk
        # interned sets: rows with the same float variables share one frozenset, which stays in the CPU's cache
        self._same: dict[frozenset[str], frozenset[str]] = {}
        self._used: dict[str, int] = {}  # by variable: the number of functions that read its cells
        self.cells: Cells | None = None
        self._writes = 0

    # one context

    def __getitem__(self, uuid: str) -> Context:
        """The context of a session as it is now; empty if it never set one."""
        row = self._numbers.get(uuid)
        return EMPTY if row is None else self.at(row)

    def at(self, row: int) -> Context:
        """The context in a row as it is now."""
        if self.cells is not None and self.cells.is_stale[row]:
            self._refresh(row)
        return self._rows[row]

    def __iter__(self) -> Iterator[tuple[str, Context]]:
        return ((uuid, context) for uuid, row in self._numbers.items() if (context := self.at(row)))

    def __len__(self) -> int:
        return sum(1 for row in self._numbers.values() if self.at(row))

    def row(self, uuid: str) -> int:
        """The row of a session, which it keeps until `remove`."""
        row = self._numbers.get(uuid)
        if row is None:
            row = self._numbers[uuid] = self._free.pop() if self._free else len(self._rows)
            if row == len(self._rows):
                self._rows.append(EMPTY)
                if self.cells is not None:
                    self.cells.make_room(row)
        return row

    def set(self, uuid: str, changes: Mapping[str, ContextValue | None]) -> bool:
        """Merge all changes into a session's row, or none; None removes. Returns whether anything changed."""
        return self.write(self.row(uuid), changes)

    def write_floats(self, row: int, changes: Mapping[str, float]) -> bool | None:
        """Write plain, finite floats over plain floats: the fast path for sessions that move.

        It writes only the cells, which are close together in memory; the row is updated from them when it is read.
        Returns whether anything changed, or None if `write` must do it.
        """
        return None if self.cells is None else self.cells.write_floats(row, changes)

    @property
    def writes(self) -> int:
        """The number of writes that changed a row."""
        return self._writes + (0 if self.cells is None else self.cells.moves)

    def holds_floats(self, row: int, names: AbstractSet[str]) -> bool:
        """Whether these variables of a row are plain floats that have cells."""
        # no refresh is needed after kernels wrote floats over floats: only values have changed
        return self.cells is not None and names <= self.cells.floats[row]

    def is_of_floats(self, row: int, names: AbstractSet[str]) -> bool:
        """Whether a row has exactly these variables, all of them plain floats that have cells."""
        if self.cells is None:
            return False
        if self.cells.has_new_kinds(row):
            self._refresh(row)  # kernels may have written values of other kinds, or new variables
        return names == self.cells.floats[row] and len(self._rows[row]) == len(names)

    def write(self, row: int, changes: Mapping[str, ContextValue | None]) -> bool:
        """Merge all changes into a row, or none; None removes. Returns whether anything changed."""
        old = self.at(row)
        merged = changed_context(old, changes)
        if merged is None:
            return False
        self._rows[row] = merged
        self._widest = max(self._widest, len(merged))
        self._writes += 1
        if self.cells is not None:
            self.cells.write_row(row, changes)
            self._note_floats(row)
        return True

    def _note_floats(self, row: int) -> None:
        """Take note which variables of a row are plain floats that have cells."""
        cells = self.with_cells()
        columns = cells.columns
        names = frozenset(name for name, value in self._rows[row].items() if type(value) is float and name in columns)
        if len(self._same) > MANY:
            self._same.clear()
        cells.floats[row] = self._same.setdefault(names, names)

    def remove(self, uuid: str) -> None:
        """Remove a session, and free its row."""
        row = self._numbers.pop(uuid, None)
        if row is not None:
            self._rows[row] = EMPTY
            self._free.append(row)
            if self.cells is not None:
                self.cells.clear(row)

    # many contexts

    def write_columns(self, rows: Sequence[int] | np.ndarray[Any, Any], columns: Mapping[str, Any]) -> None:
        """Write arrays of floats, integers or bools into many rows, all or none. The last value for a row counts."""
        import numpy as np

        if self.cells is None or self._widest + len(self._bulk | columns.keys()) > MAX_VARIABLES:
            self._write_one_by_one(rows, columns)
            return
        encoded = {name: self.cells.encoded(name, column) for name, column in columns.items()}
        for name in columns:
            self.column(name)
        if not columns.keys() <= self.cells.columns.keys():  # adding one column may have dropped another
            self._write_one_by_one(rows, columns)
            return
        self._bulk |= columns.keys()
        self.cells.write_columns(np.asarray(rows, np.int64), encoded)
        self._writes += len(rows)

    def _write_one_by_one(self, rows: Iterable[Any], columns: Mapping[str, Any]) -> None:
        """Write row by row: slower, for variables without cells and for contexts that may become too large."""
        lines = zip(*columns.values(), strict=True)
        changes = [
            checked_changes(dict(zip(columns, line, strict=True)), f"values[{i}]") for i, line in enumerate(lines)
        ]
        numbers = [int(row) for row in rows]
        self.check_all(numbers, changes)
        for row, change in zip(numbers, changes, strict=True):
            self.write(row, change)

    def check_all(self, rows: Sequence[int], changes: Sequence[Mapping[str, ContextValue | None]]) -> None:
        """Raise if one of these changes would be refused when they are made in this order."""
        seen: dict[int, Context] = {}
        for row, change in zip(rows, changes, strict=True):
            seen[row] = whole_context(seen.get(row, self.at(row)), change)

    def _refresh(self, row: int) -> None:
        """Update a row from its cells: its floats or, if kinds changed, numbers and bools of all columns."""
        cells = self.with_cells()
        kinds_changed = cells.has_new_kinds(row)
        cells.is_stale[row] = 0
        names = cells.columns if kinds_changed else cells.floats[row]
        written = {name: number for name in names if (number := cells.number_at(row, name)) is not None}
        self._rows[row] = {**self._rows[row], **written}
        if kinds_changed:
            self._note_floats(row)

    # for kernels

    @property
    def nbytes(self) -> int:
        """Memory of the rows and of the map that finds them, without the cells."""
        whole = [self._rows, self._numbers, *self._rows]
        return sum(map(getsizeof, whole))

    def with_cells(self) -> Cells:
        """The cells, created by the first call."""
        if self.cells is None:
            from silbo.context.cells import Cells

            self.cells = Cells(len(self._rows))
        return self.cells

    def column(self, name: str) -> int | None:
        """The column of a variable's cells, added if it has none; None if all columns are in use."""
        cells = self.with_cells()
        if name not in cells.columns:
            if cells.is_full and not self._give_up_column():
                return None
            holders = self._holders(name)
            cells.add_column(name, {row: self._rows[row][name] for row in holders})
            for row in holders:
                self._note_floats(row)
        return cells.columns[name]

    def _holders(self, name: str) -> list[int]:
        """The rows that have a variable in the table itself; kernels may have written it into the cells of others."""
        return [row for row, context in enumerate(self._rows) if name in context]

    def _give_up_column(self) -> bool:
        """Drop an unused column; returns whether there was one. It reads every row, so only if no column is free."""
        cells = self.with_cells()
        unused = [name for name in cells.columns if name not in self._used]
        if not unused:
            return False
        if self._bulk.issuperset(unused):
            self._take_over()
        name = next(name for name in unused if name not in self._bulk)
        holders = self._holders(name)
        for row in holders:
            self.at(row)  # first update the row from its cells, which may hold newer values
        cells.drop_column(name)
        for row in holders:
            self._note_floats(row)
        return True

    def _take_over(self) -> None:
        """Update all rows from bulk writes, so that the columns of those writes can be dropped like any other."""
        for row in range(len(self._rows)):
            self._widest = max(self._widest, len(self.at(row)))
        self._bulk.clear()

    def take_writes(self) -> None:
        """Add the writes that kernels made to `writes`."""
        from silbo.context.cells import WRITES

        state = self.with_cells().state
        self._writes += int(state[WRITES])
        state[WRITES] = 0

    def use_column(self, name: str, by: int) -> None:
        """Change the number of functions that read a variable's cells."""
        self._used[name] = self._used.get(name, 0) + by
        if not self._used[name]:
            del self._used[name]
