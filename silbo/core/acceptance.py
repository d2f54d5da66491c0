"""Accept or refuse a publish: the advertisements that contain it, what they offer, and what its scope may read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from silbo.context.function import Scope
from silbo.core.client import AdvertisementRow, Client
from silbo.errors import NotAdvertised, Refused, ScopeBeyondReads
from silbo.matching.filter import NO_CONTEXT
from silbo.model.events import Publish
from silbo.model.notification import Publication
from silbo.model.readonly import ReadOnlyDict
from silbo.model.values import Context


def accepted(client: Client, event: Publish) -> Publication:
    """The publication of a publish, with the next sequence number; raises `Refused`, and then takes no number."""
    return _publication(client, event, _offered(client, event))


def accepted_all(client: Client, events: Sequence[Publish]) -> list[Publication]:
    """Accept all, or none; a refusal names its row."""
    offered = []
    for i, event in enumerate(events):
        try:
            offered.append(_offered(client, event))
        except Refused as error:
            raise error.at(f"rows[{i}]") from None
    return [_publication(client, event, shown) for event, shown in zip(events, offered, strict=True)]


def _publication(client: Client, event: Publish, offered: Context) -> Publication:
    """The publication with the next sequence number."""
    client.sequence += 1
    return Publication(
        client.name, client.uuid, client.sequence, ReadOnlyDict(event.attributes), event.context, offered,
        event.scope, event.payload, event.time,
    )  # fmt: skip


def _offered(client: Client, event: Publish) -> Context:
    """The part of the publisher's context that the advertisements of the message offer."""
    attributes, context = event.attributes, event.context
    message = attributes, NO_CONTEXT, NO_CONTEXT
    containing = [row for row in client.advertisements.values() if row.selects(message) is True]
    if not containing:
        known = [str(row.filter) for row in client.advertisements.values()]
        raise NotAdvertised(client.name, attributes, known)
    if event.scope is not None:
        _check_reads(Scope.of(event.scope), containing)
    if len(containing) == 1 and containing[0].offers is None:
        return context  # the common case: one advertisement that offers the whole context
    offers = _united([row.offers for row in containing])
    if offers is None:
        return context
    return {name: value for name, value in context.items() if name in offers}


def _check_reads(scope: Scope, containing: Iterable[AdvertisementRow]) -> None:
    reads = _united([row.reads for row in containing])
    if reads is not None and not scope.variables("sub") <= reads:
        raise ScopeBeyondReads(scope.variables("sub") - reads, reads)


def _united(names: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """The union of the names; None stands for all names."""
    union: frozenset[str] = frozenset()
    for each in names:
        if each is None:
            return None
        union |= each
    return union
