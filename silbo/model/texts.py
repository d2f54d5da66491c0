"""Values and times as short texts for people, in tables and explanations. Nothing reads them back."""

from __future__ import annotations

from silbo.model.geometry import Geometry
from silbo.model.plain import json_text
from silbo.model.values import ContextValue, ValueSet

# longer values are cut in text for people
SHOWN = 80  # characters

TODAY = range(10**15, 10**17)  # microseconds since 1970 that are a date between 2001 and 5138


def value_text(value: ContextValue | None) -> str:
    """A value on one short line."""
    if value is None:
        return "absent"
    if isinstance(value, ValueSet):
        return "{" + ", ".join(map(value_text, value)) + "}"
    text = value.wkt if isinstance(value, Geometry) else json_text(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def time_text(microseconds: int) -> str:
    """The local date and time, or the number itself if it is not a plausible date."""
    if microseconds not in TODAY:
        return f"time {microseconds}"
    from datetime import datetime

    return datetime.fromtimestamp(microseconds / 1e6).isoformat(" ", "milliseconds")  # noqa: DTZ006  # as the clock here
