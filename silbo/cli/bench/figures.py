"""Print the figures of a bench, as lines with labels or as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from silbo.cli.bench.labels import label


def show(found: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the figures."""
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    lines = list(_lines(found))
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print(f"{name:{width}}  {value}")


def _lines(found: Mapping[str, Any], *before: str) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of every figure."""
    for name, value in found.items():
        if isinstance(value, dict) and value:
            yield from _lines(value, *before, name)
        else:
            yield label((*before, name)), _shown(value)


def _shown(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:,}"
        case list() | dict():
            return "; ".join(map(str, value)) or "none"
        case _:
            return str(value)
