"""The rows of `publish_many`: which of their columns are attributes, context or payload."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from silbo.errors import InvalidValue, known_names
from silbo.model.values import (
    Attributes,
    Context,
    check_message_size,
    checked_attributes,
    checked_context,
    checked_name,
    checked_names,
    checked_payload,
)


@dataclass(frozen=True, slots=True)
class MessageColumns:
    """The columns that are not attributes: the publisher's context (None: the session's own) and the payload."""

    context: tuple[str, ...] | None
    payload: str | None

    @classmethod
    def of(cls, there: Collection[str], context: Iterable[str] | None, payload: str | None) -> MessageColumns:
        """The columns with these names; raises if one of them is not among those that are there."""
        names = None if context is None else checked_names(context, "context")
        body = None if payload is None else checked_name(payload, "payload")
        for path, name in (*(("context", each) for each in names or ()), ("payload", body)):
            if there and name is not None and name not in there:
                raise InvalidValue(path, f"the rows have no column {name!r}. {known_names(name, there)}")
        return cls(names, body)

    def message(self, row: object, path: str) -> tuple[Attributes, Context | None, bytes | None]:
        """The validated attributes, context and payload of one row."""
        attributes, sent, body = row, None, None
        if isinstance(row, Mapping) and not (self.context is None and self.payload is None):
            apart = {*(self.context or ()), self.payload}
            attributes = {name: value for name, value in row.items() if name not in apart}
            body = checked_payload(row.get(self.payload), f"{path}.{self.payload}")
            sent = None if self.context is None else self._context(row, path)
        message = checked_attributes(attributes, path)
        check_message_size(message, body, path)
        return message, sent, body

    def _context(self, row: Mapping[Any, Any], path: str) -> Context:
        given = ((name, row.get(name)) for name in self.context or ())
        return checked_context({name: value for name, value in given if value is not None}, path)


def names_in(rows: object, mappings: Iterable[object]) -> Collection[str]:
    """The names of a table's columns, or those in all rows of a list."""
    names: Collection[str] | None = getattr(getattr(rows, "schema", None), "names", None)
    return {*chain.from_iterable(row for row in mappings if isinstance(row, Mapping))} if names is None else names


def listed(rows: object) -> list[Mapping[str, Any]]:
    """The rows of `publish_many` as mappings; the rows of a table without their nulls."""
    if hasattr(rows, "to_pylist"):
        return [_without_nulls(row) for row in rows.to_pylist()]
    if hasattr(rows, "iloc"):
        raise InvalidValue(
            "rows", f"a {type(rows).__name__} is not a list of rows. Give pyarrow.Table.from_pandas(frame)."
        )
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        raise InvalidValue("rows", f"mappings of attributes or an Arrow table are expected, not {type(rows).__name__}.")
    return list(rows)


def _without_nulls(row: object) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise InvalidValue("rows", f"each row must be a mapping, not {type(row).__name__}.")
    return {name: value for name, value in row.items() if value is not None}
