"""What the oracle says of the road scenario, whichever way it was matched."""

from __future__ import annotations

from collections.abc import Iterable

from silbo.model.events import Event
from silbo.model.notification import Notified
from silbo.testing import compare


def disagrees(events: list[Event], got: Iterable[Notified]) -> bool:
    """Whether a notification is missing, wrong or too many; print how many the oracle expects and how many differ."""
    found = compare(events, got)
    wrong = len(found.missing) + len(found.unexpected)
    print(f"  the oracle expects {found.expected:,} notifications, {wrong:,} differ: {'FAILED' if wrong else 'agreed'}")
    return wrong > 0
