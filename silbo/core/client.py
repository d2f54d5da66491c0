"""The rows of the core's tables: clients, with their advertisements and subscriptions."""

from __future__ import annotations

from dataclasses import dataclass, field

from silbo.language.evaluation import Evaluate
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter


@dataclass(frozen=True, slots=True)
class AdvertisementRow:
    """A row of the advertisement table; None stands for all variables."""

    filter: Filter
    selects: Evaluate  # the filter's truth for a message
    offers: frozenset[str] | None
    reads: frozenset[str] | None


@dataclass(slots=True, eq=False)
class Client:
    """A connected session in the core's tables."""

    uuid: str
    name: str
    row: int  # of the context table
    advertisements: dict[str, AdvertisementRow] = field(default_factory=dict)
    subscriptions: dict[str, SubscriptionRow] = field(default_factory=dict)
    sequence: int = 0
