"""Values as JSON has them, and JSON on one line: what log files and `Notification.to_json` share.

Texts for people are in `texts`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from silbo.model.geometry import Geometry
from silbo.model.values import ContextValue, ValueSet


def plain(value: ContextValue | None) -> object:
    """A context value as JSON: sets are arrays, a geometry has the form in which it was given."""
    if isinstance(value, ValueSet):
        return list(value.given)
    if isinstance(value, Geometry):
        form, given = value.given
        return {form: given}
    return value


def plain_context(values: Mapping[str, ContextValue | None]) -> dict[str, object]:
    """A context, or changes of one, as a JSON object."""
    return {name: plain(value) for name, value in values.items()}


def plain_payload(payload: bytes | None) -> dict[str, str] | None:
    """A payload as a JSON object with its bytes in base64."""
    return None if payload is None else {"base64": base64.b64encode(payload).decode("ascii")}


def json_text(value: object) -> str:
    """A JSON value on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
