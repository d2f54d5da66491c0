"""Drop repeats: which notifications a connection has heard already, by subscription, publisher and sequence."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeAlias

from silbo.wire.records import NotificationRecord, SubscriptionRecord

PUBLISHERS = 65_536  # publishers of a subscription whose repeats are detected; a repeated batch has fewer
ENDED = 65_536  # ended subscriptions that are remembered; the notifications of older ones have all arrived

Place: TypeAlias = tuple[str, str]  # a session's UUID and the id of one of its subscriptions


class Heard:
    """The highest sequence number that a subscription got from each publisher, for the most recent publishers."""

    __slots__ = ("_highest", "_since")

    def __init__(self, since: int | None) -> None:
        self._since = since  # microseconds; earlier publications are for an older subscription with the same id
        self._highest: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._highest)

    def is_new(self, record: NotificationRecord) -> bool:
        """Whether a notification is for this subscription and comes for the first time."""
        if self._since is not None and record.time < self._since:
            return False
        if record.sequence <= self._highest.get(record.publisher_uuid, 0):
            return False
        self._highest[record.publisher_uuid] = record.sequence
        self._highest.move_to_end(record.publisher_uuid)
        if len(self._highest) > PUBLISHERS:
            self._highest.popitem(last=False)
        return True


class Hearing:
    """What the subscriptions of a connection have heard."""

    def __init__(self) -> None:
        self.heard: dict[Place, Heard] = {}
        self.used: OrderedDict[Place, None] = OrderedDict()  # subscriptions that ended

    def begin(self, record: SubscriptionRecord) -> None:
        """Hear for a subscription; one whose id was used before gets nothing of the older one."""
        place = record.subscriber, record.id
        self.heard[place] = Heard(record.time if place in self.used else None)

    def end(self, subscriber: str, id: str) -> None:
        """Stop hearing for a subscription."""
        place = subscriber, id
        self.heard.pop(place, None)
        self.used[place] = None
        if len(self.used) > ENDED:
            self.used.popitem(last=False)

    def is_new(self, record: NotificationRecord) -> bool:
        """Whether a notification is for an active subscription and comes for the first time."""
        heard = self.heard.get((record.subscriber_uuid, record.subscription))
        return heard is not None and heard.is_new(record)
