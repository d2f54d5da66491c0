"""The names of the topics, and the size limits of their records."""

from __future__ import annotations

SUBSCRIPTIONS = "silbo.subscriptions"  # keyed by subscriber and subscription; compacted
CONTEXTS = "silbo.contexts"  # keyed by subscriber; compacted: a record carries the whole context
PUBLICATIONS = "silbo.publications"  # keyed by publisher
NOTIFICATIONS = "silbo.notifications"  # keyed by subscriber
REJECTED = "silbo.rejected"
BEATS = "silbo.beats"  # not a topic: the beats of the clock that a job with `idle` reads

LARGEST = 2**23  # bytes of a record in a topic: a message of 1 MiB with 64 context variables of 65,535 bytes fits
LARGEST_VALUE = LARGEST - 2**12  # bytes of its value; the rest is for the key, the headers and Kafka's own overhead

INPUTS = (SUBSCRIPTIONS, CONTEXTS, PUBLICATIONS)
COMPACTED = (SUBSCRIPTIONS, CONTEXTS)
