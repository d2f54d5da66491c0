"""The topics by their names, and what each is for."""

from __future__ import annotations

SUBSCRIPTIONS = "silbo.subscriptions"  # keyed by subscriber and subscription; compacted
CONTEXTS = "silbo.contexts"  # keyed by subscriber; compacted: a record carries the whole context
PUBLICATIONS = "silbo.publications"  # keyed by publisher
NOTIFICATIONS = "silbo.notifications"  # keyed by subscriber
REJECTED = "silbo.rejected"
BEATS = "silbo.beats"  # no topic: the clock of a job that waits for no silent partition

INPUTS = (SUBSCRIPTIONS, CONTEXTS, PUBLICATIONS)
COMPACTED = (SUBSCRIPTIONS, CONTEXTS)
