"""The paper's contextManager: a table from a session's UUID to its context values.

(No relation to Python's context managers: nothing here is used in a `with` statement.) A change is
one write of one row. The content index is never told: a context is read when a publication comes,
so what stands in the table at that moment is what counts. What kernels read of it is kept in `cells`,
once there is somebody who needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from sys import getsizeof
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from silbo.model.values import MAX_VARIABLES, Context, ContextValue, checked_changes, same_value, whole_context

if TYPE_CHECKING:
    import numpy as np

    from silbo.context.cells import Cells

EMPTY: Context = MappingProxyType({})
NOTHING: frozenset[str] = frozenset()
MANY = 1_024  # sets of names that are kept once
VALUES = 1  # as `cells` has it, which is imported where it is needed: numpy comes with it


class ContextTable:
    """Rows are replaced, never changed in place: who holds one has a snapshot."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # UUID to row
        self._rows: list[Context] = []
        self._floats: list[frozenset[str]] = []  # by row: the names whose cells hold plain floats
        self._free: list[int] = []
        self._widest = 0  # variables of any row, ever, and those that were written in bulk
        self._bulk: set[str] = set()
        self._same: dict[frozenset[str], frozenset[str]] = {}  # of equal sets one: rows are alike, and so stay near
        self._used: dict[str, int] = {}  # functions that read a variable's cells
        self.cells: Cells | None = None
        self.writes = 0

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
        """The row of a session; it is its own until `remove`."""
        row = self._numbers.get(uuid)
        if row is None:
            row = self._numbers[uuid] = self._free.pop() if self._free else len(self._rows)
            if row == len(self._rows):
                self._rows.append(EMPTY)
                self._floats.append(NOTHING)
                if self.cells is not None:
                    self.cells.make_room(row)
        return row

    def set(self, uuid: str, changes: Mapping[str, ContextValue | None]) -> bool:
        """Merge changes into a session's row, all or none; None removes. Whether anything changed."""
        return self.write(self.row(uuid), changes)

    def write_floats(self, row: int, changes: Mapping[str, float]) -> bool | None:
        """`write` of plain, finite floats over plain floats: things that move do little else, so this is short.

        It writes the cells alone, which lie close together; the row is taken over from them when somebody reads it.
        None, and nothing is done, if that is not what it is: then the kinds or the number of variables may change,
        and names must be checked.
        """
        cells = self.cells
        if cells is None or not self._floats[row].issuperset(changes):
            return None
        stale = cells.is_stale[row]
        if stale > VALUES:
            return None
        doubles, offsets, at, changed, zero = cells.doubles, cells.offsets, row * cells.stride, False, False
        for name, value in changes.items():
            cell = at + offsets[name]
            if doubles[cell] != value:
                doubles[cell] = value
                changed = True
            elif value == 0.0:
                zero = True
        if changed:
            if zero:  # 0.0 and -0.0 are equal, but whoever sees the row sees which of them it is
                for name, value in changes.items():
                    doubles[at + offsets[name]] = value
            self.writes += 1
            if not stale:
                cells.is_stale[row] = VALUES
            if cells.is_tracked and not cells.is_moved[row]:
                cells.note_move(row)
        return changed

    def holds_floats(self, row: int, names: AbstractSet[str]) -> bool:
        """Whether these variables of a row are plain floats, in cells of their own."""
        # where kernels wrote floats over floats nothing has changed but the values
        return names <= self._floats[row]

    def is_of_floats(self, row: int, names: AbstractSet[str]) -> bool:
        """Whether a row has these variables and no others, all of them plain floats in cells of their own."""
        if self.cells is not None and self.cells.is_stale[row] > VALUES:
            self._refresh(row)  # kernels may have written values of other kinds, or new variables
        return names == self._floats[row] and len(self._rows[row]) == len(names)

    def write(self, row: int, changes: Mapping[str, ContextValue | None]) -> bool:
        """Merge changes into a row, all or none; None removes. Whether anything changed."""
        old = self.at(row)
        for name, value in changes.items():
            if not same_value(old.get(name), value):
                break
        else:
            return False
        merged = whole_context(old, changes)
        self._rows[row] = merged
        self._widest = max(self._widest, len(merged))
        self.writes += 1
        if self.cells is not None:
            for name, value in changes.items():
                self.cells.write(row, name, value)
            self.cells.note_move(row)
            self._floats[row] = self._plain_floats(row)
        return True

    def _plain_floats(self, row: int) -> frozenset[str]:
        columns = self.with_cells().columns
        names = frozenset(name for name, value in self._rows[row].items() if type(value) is float and name in columns)
        if len(self._same) > MANY:
            self._same.clear()
        return self._same.setdefault(names, names)

    def remove(self, uuid: str) -> None:
        """Forget a session's row."""
        row = self._numbers.pop(uuid, None)
        if row is not None:
            self._rows[row] = EMPTY
            self._floats[row] = NOTHING
            self._free.append(row)
            if self.cells is not None:
                self.cells.is_stale[row] = 0
                self.cells.clear(row)

    # many contexts

    def write_columns(self, rows: Sequence[int] | np.ndarray[Any, Any], columns: Mapping[str, Any]) -> None:
        """Write arrays of floats, integers or bools into many rows, all or none; the last of a row counts."""
        import numpy as np

        if self.cells is None or self._widest + len(self._bulk | columns.keys()) > MAX_VARIABLES:
            self._write_one_by_one(rows, columns)
            return
        encoded = {name: self.cells.encoded(name, column) for name, column in columns.items()}
        for name in columns:
            self.column(name)
        if not columns.keys() <= self.cells.columns.keys():  # one may have had to make room for the next
            self._write_one_by_one(rows, columns)
            return
        self._bulk |= columns.keys()
        self.cells.write_columns(np.asarray(rows, np.int64), encoded)
        self.writes += len(rows)

    def _write_one_by_one(self, rows: Iterable[Any], columns: Mapping[str, Any]) -> None:
        """The slow way, for what has no cells or may be too much."""
        lines = zip(*columns.values(), strict=True)
        changes = [checked_changes(dict(zip(columns, line, strict=True))) for line in lines]
        numbers = [int(row) for row in rows]
        self.check_all(numbers, changes)
        for row, change in zip(numbers, changes, strict=True):
            self.write(row, change)

    def check_all(self, rows: Sequence[int], changes: Sequence[Mapping[str, ContextValue | None]]) -> None:
        """Raise if one of these changes, made one after the other, would be refused."""
        seen: dict[int, Context] = {}
        for row, change in zip(rows, changes, strict=True):
            seen[row] = whole_context(seen.get(row, self.at(row)), change)

    def _refresh(self, row: int) -> None:
        """Take over what was written into a row's cells: other floats, or numbers and bools of any kind."""
        cells = self.with_cells()
        kinds_changed = cells.is_stale[row] > VALUES
        cells.is_stale[row] = 0
        names = cells.columns if kinds_changed else self._floats[row]
        written = {name: number for name in names if (number := cells.number_at(row, name)) is not None}
        self._rows[row] = {**self._rows[row], **written}
        if kinds_changed:
            self._floats[row] = self._plain_floats(row)

    # for kernels

    @property
    def nbytes(self) -> int:
        """Memory of the rows and of what finds them; that of the cells is counted there."""
        whole = [self._rows, self._floats, self._numbers, *self._rows]
        return sum(map(getsizeof, whole))

    def with_cells(self) -> Cells:
        """The cells, made now if nobody needed them yet."""
        if self.cells is None:
            from silbo.context.cells import Cells

            self.cells = Cells(len(self._rows))
        return self.cells

    def column(self, name: str) -> int | None:
        """The column of a variable's cells, for one more user; None if all columns are in use."""
        cells = self.with_cells()
        if name not in cells.columns:
            if cells.is_full and not self._give_up_column():
                return None
            holders = self._holders(name)
            cells.add_column(name, {row: self._rows[row][name] for row in holders})
            for row in holders:
                self._floats[row] = self._plain_floats(row)
        return cells.columns[name]

    def _holders(self, name: str) -> list[int]:
        """The rows that have a variable, as far as the table itself knows: kernels may have written others."""
        return [row for row, context in enumerate(self._rows) if name in context]

    def _give_up_column(self) -> bool:
        """Drop a column that nobody uses; whether there was one. Only when all are taken: it looks at every row."""
        cells = self.with_cells()
        unused = [name for name in cells.columns if name not in self._used]
        if not unused:
            return False
        if self._bulk.issuperset(unused):
            self._take_over()
        name = next(name for name in unused if name not in self._bulk)
        holders = self._holders(name)
        for row in holders:
            self.at(row)  # what stands in the cells alone is taken over first
        cells.drop_column(name)
        for row in holders:
            self._floats[row] = self._plain_floats(row)
        return True

    def _take_over(self) -> None:
        """Bring all that was written in bulk into the rows, so that its columns are as any other."""
        for row in range(len(self._rows)):
            self._widest = max(self._widest, len(self.at(row)))
        self._bulk.clear()

    def take_writes(self) -> None:
        """Count the writes that kernels made."""
        from silbo.context.cells import WRITES

        state = self.with_cells().state
        self.writes += int(state[WRITES])
        state[WRITES] = 0

    def use_column(self, name: str, by: int) -> None:
        """Count who reads a variable's cells."""
        self._used[name] = self._used.get(name, 0) + by
        if not self._used[name]:
            del self._used[name]
