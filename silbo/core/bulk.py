"""Columns of context values as users pass them: numpy arrays, lists, Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from silbo.errors import InvalidValue
from silbo.model.values import ContextValue, checked_changes, checked_name


class ArrowColumns(Protocol):
    """The part of an Arrow table that `set_contexts` needs."""

    column_names: Sequence[str]

    def column(self, i: int) -> Any:
        """A column by its number."""


Columns: TypeAlias = Mapping[str, Sequence[Any]]


def columns_of(values: Columns | ArrowColumns) -> Columns:
    """Columns by variable, each an array or a list."""
    if isinstance(values, Mapping):
        given: list[tuple[Any, Any]] = list(values.items())
    elif hasattr(values, "column_names") and hasattr(values, "column"):
        given = [(name, values.column(i)) for i, name in enumerate(values.column_names)]
    else:
        advice = " Of a DataFrame give its columns: dict(frame)." if hasattr(values, "iloc") else ""
        raise InvalidValue(
            "values", f"columns by name or an Arrow table are expected, not {type(values).__name__}.{advice}"
        )
    columns = {checked_name(name, f"context key {name!r}"): _column(name, column) for name, column in given}
    if len(columns) < len(given):
        raise InvalidValue("values", "a variable has two columns.")
    return columns


def _column(name: str, column: Any) -> Sequence[Any]:
    if hasattr(column, "null_count"):
        return _arrow(column)  # type: ignore[no-any-return]
    if hasattr(column, "harden_mask"):
        return column.tolist()  # type: ignore[no-any-return]  # numpy's masked values are None there
    if hasattr(column, "to_numpy"):
        column = _pandas(column)
    if getattr(column, "ndim", 1) != 1 or isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
        raise InvalidValue(f"context.{name}", "a column is a list, or an array of one dimension.")
    return column  # type: ignore[no-any-return]


def _pandas(column: Any) -> Any:
    """A column of pandas: an array, or a list with None for each missing value of one of pandas' own types."""
    import numpy as np

    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return [None if is_missing else value for value, is_missing in zip(column.tolist(), column.isna(), strict=True)]


def _arrow(column: Any) -> Any:
    """An Arrow column: an array where it holds numbers or bools and no null, else a list."""
    import numpy as np

    array = np.asarray(column) if column.null_count == 0 else None
    return array if array is not None and array.dtype.kind in "fib" else column.to_pylist()


def check_lengths(count: int, columns: Columns) -> None:
    """Raise unless every column has a value for each session."""
    for name, column in columns.items():
        if len(column) != count:
            needed = "1 session needs 1 value" if count == 1 else f"{count} sessions need {count} values"
            raise InvalidValue(f"values.{name}", f"{needed}; the column has {len(column)}.")


def are_numbers(columns: Columns) -> bool:
    """Whether all columns are arrays of floats, integers or bools, which a kernel can write."""
    return all(getattr(getattr(column, "dtype", None), "kind", "") in ("f", "i", "b") for column in columns.values())


def rows_of(columns: Columns) -> Iterator[dict[str, ContextValue | None]]:
    """The columns as validated changes, one for each session."""
    for i, row in enumerate(zip(*columns.values(), strict=True)):
        yield checked_changes(dict(zip(columns, row, strict=True)), f"values[{i}]")
