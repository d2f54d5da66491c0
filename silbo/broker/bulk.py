"""Columns of context values as users have them: numpy arrays, lists, Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from silbo.errors import InvalidValue
from silbo.model.values import ContextValue, checked_changes, checked_name

if TYPE_CHECKING:
    from silbo.broker.session import ArrowTable

Columns: TypeAlias = Mapping[str, Sequence[Any]]


def columns_of(values: Columns | ArrowTable) -> Columns:
    """Columns by variable. Arrow's columns of numbers and bools without nulls become arrays, others lists."""
    if isinstance(values, Mapping):
        return {checked_name(name, f"context key {name!r}"): column for name, column in values.items()}
    if not hasattr(values, "column_names"):
        raise InvalidValue("values", f"columns by name or an Arrow table are expected, not {type(values).__name__}.")
    table: Any = values
    return {checked_name(name, f"context key {name!r}"): _arrow(table[name]) for name in table.column_names}


def _arrow(column: Any) -> Sequence[Any]:
    return column.to_numpy() if column.null_count == 0 else column.to_pylist()  # type: ignore[no-any-return]


def check_lengths(count: int, columns: Columns) -> None:
    """Every column has a value for each session."""
    for name, column in columns.items():
        if len(column) != count:
            raise InvalidValue(f"context.{name}", f"{count} sessions need {count} values, here are {len(column)}.")


def are_numbers(columns: Columns) -> bool:
    """Whether all are arrays of floats, integers or bools, which kernels write."""
    return all(getattr(getattr(column, "dtype", None), "kind", "") in ("f", "i", "b") for column in columns.values())


def rows_of(columns: Columns) -> Iterator[dict[str, ContextValue | None]]:
    """The columns as changes, one for each session, each past the door."""
    for i, row in enumerate(zip(*columns.values(), strict=True)):
        yield checked_changes(dict(zip(columns, row, strict=True)), f"values[{i}]")
