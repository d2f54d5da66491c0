"""The paper's contextManager: a table from a session's UUID to its context values.

(No relation to Python's context managers: nothing here is used in a `with` statement.) A change is
one write of one row. The content index is never told: a context is read when a publication comes,
so what stands in the table at that moment is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from silbo.model.values import Context, ContextValue, same_value, whole_context

EMPTY: Context = MappingProxyType({})


class ContextTable:
    """Rows are replaced, never changed in place: who holds one has a snapshot."""

    def __init__(self) -> None:
        self._rows: dict[str, Context] = {}
        self.writes = 0

    def __getitem__(self, uuid: str) -> Context:
        """The context of a session as it is now; empty if it never set one."""
        return self._rows.get(uuid, EMPTY)

    def __iter__(self) -> Iterator[tuple[str, Context]]:
        return iter(self._rows.items())

    def __len__(self) -> int:
        return len(self._rows)

    def set(self, uuid: str, changes: Mapping[str, ContextValue | None]) -> bool:
        """Merge changes into a row, all or none; None removes. Whether anything changed."""
        old = self[uuid]
        if all(same_value(old.get(name), value) for name, value in changes.items()):
            return False
        merged = whole_context(old, changes)
        if merged:
            self._rows[uuid] = MappingProxyType(merged)
        else:
            self.remove(uuid)
        self.writes += 1
        return True

    def remove(self, uuid: str) -> None:
        """Forget a session's row."""
        self._rows.pop(uuid, None)
