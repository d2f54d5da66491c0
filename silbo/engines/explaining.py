"""Explain a log: who got what and why, with every context as it was at that publish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from silbo.broker.fold import Fold
from silbo.errors import SilboError
from silbo.matching.explanation import Explanation, explain
from silbo.model.events import Event, Publish
from silbo.model.log import EVENT_NAMES, read_log
from silbo.model.notification import Publication


@dataclass(frozen=True, slots=True)
class Published:
    """A publish of a log: its line, what it became, and an explanation for each subscription asked for."""

    line: int
    publication: Publication
    explanations: tuple[Explanation, ...]


@dataclass(frozen=True, slots=True)
class Unaccepted:
    """A line of a log that changed nothing: what it was, whose (None where it is no event), and why."""

    line: int
    event: str
    session: str | None
    error: SilboError


def explain_log(
    log: BinaryIO, *, subscriber: str | None = None, subscription: str | None = None
) -> Iterator[Published | Unaccepted]:
    """Each publish of a log, explained for the active subscriptions asked for (None: all), and each refused line."""
    fold = Fold()
    for line, event, error in read_log(log):
        if event is None:
            assert error is not None
            yield Unaccepted(line, "line", None, error)
            continue
        try:
            published = _apply(fold, event)
        except SilboError as refusal:
            yield Unaccepted(line, EVENT_NAMES[type(event)], event.session, refusal)
            continue
        if published is not None:
            yield Published(line, published, tuple(_explained(fold, published, subscriber, subscription)))


def _apply(fold: Fold, event: Event) -> Publication | None:
    if isinstance(event, Publish):
        return fold.publish(event)
    fold.apply([event])
    return None


def _explained(
    fold: Fold, publication: Publication, subscriber: str | None, subscription: str | None
) -> Iterator[Explanation]:
    for name, peer in sorted(fold.peers.items()):
        for id, row in sorted(peer.subscriptions.items()):
            if subscriber in (None, name) and subscription in (None, id):
                yield explain(publication, row, fold.core.contexts[row.subscriber], now=False)


def explanation_of(log: str | PathLike[str], publisher: str, sequence: int, subscriber: str, subscription: str) -> str:
    """Why one subscription gets one publication of a log, as text for people."""
    with Path(log).open("rb") as file:
        for each in explain_log(file, subscriber=subscriber, subscription=subscription):
            if isinstance(each, Published) and _is(each.publication, publisher, sequence):
                found = "\n".join(map(str, each.explanations)) or f"{subscriber}/{subscription} is not active then."
                return f"  {log}:{each.line}: " + found.replace("\n", "\n  ")
    return f"  the log has no publication {publisher}#{sequence}."


def _is(publication: Publication, publisher: str, sequence: int) -> bool:
    return (publication.publisher, publication.sequence) == (publisher, sequence)
