"""Explain a log: which subscriptions got a message and why, with the contexts at the time of its publish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from silbo.core.fold import Fold
from silbo.errors import SilboError
from silbo.matching.explanation import Explanation, explain
from silbo.model.events import Disconnect, Event, Publish, Subscribe, Unsubscribe
from silbo.model.notification import Publication
from silbo.wire.jsonl import EVENT_NAMES, read_log


@dataclass(frozen=True, slots=True)
class Ended:
    """A subscription that is no longer active because its queue was full, and the line at which it ended."""

    subscriber: str
    id: str
    line: int


@dataclass(frozen=True, slots=True)
class ExplainedPublish:
    """A publish of a log: its line, its publication, and an explanation for each requested subscription.

    `ended` has the requested subscriptions that had ended before because they were slow.
    """

    line: int
    publication: Publication
    explanations: tuple[Explanation, ...]
    ended: tuple[Ended, ...]


@dataclass(frozen=True, slots=True)
class Unaccepted:
    """A line of a log that changed nothing: its event, its session (None if it is not an event), and the error."""

    line: int
    event: str
    session: str | None
    error: SilboError


def explain_log(
    log: BinaryIO, *, subscriber: str | None = None, subscription: str | None = None
) -> Iterator[ExplainedPublish | Unaccepted]:
    """Each publish of a log, explained for the requested active subscriptions (None: all), and each refused line."""
    fold = Fold()
    slow: dict[tuple[str, str], Ended] = {}
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
        _note_end(slow, line, event)
        if published is not None:
            explanations = tuple(_explained(fold, published, subscriber, subscription))
            ended = (each for each in slow.values() if subscriber in (None, each.subscriber))
            yield ExplainedPublish(
                line, published, explanations, tuple(each for each in ended if subscription in (None, each.id))
            )


def _note_end(slow: dict[tuple[str, str], Ended], line: int, event: Event) -> None:
    """Keep the subscriptions that ended as slow, until their session ends or uses the id again."""
    match event:
        case Unsubscribe(session, id) if event.reason == "slow":
            slow[session, id] = Ended(session, id, line)
        case Subscribe(session, id):
            slow.pop((session, id), None)
        case Disconnect(session):
            for key in [key for key in slow if key[0] == session]:
                del slow[key]
        case _:
            return


def _apply(fold: Fold, event: Event) -> Publication | None:
    if isinstance(event, Publish):
        return fold.publish(event)
    fold.apply([event])
    return None


def _explained(
    fold: Fold, publication: Publication, subscriber: str | None, subscription: str | None
) -> Iterator[Explanation]:
    for name, client in sorted(fold.clients.items()):
        for id, row in sorted(client.subscriptions.items()):
            if subscriber in (None, name) and subscription in (None, id):
                yield explain(publication, row, fold.core.contexts[row.subscriber], now=False)


def explanation_of(log: str | PathLike[str], publisher: str, sequence: int, subscriber: str, subscription: str) -> str:
    """Why one subscription gets one publication of a log, as text for people."""
    with Path(log).open("rb") as file:
        for each in explain_log(file, subscriber=subscriber, subscription=subscription):
            if isinstance(each, ExplainedPublish) and _is(each.publication, publisher, sequence):
                inactive = f"{subscriber}/{subscription} was not active at that publish."
                found = "\n".join(map(str, each.explanations)) or inactive
                return f"  {log}:{each.line}: " + found.replace("\n", "\n  ")
    return f"  the log has no publication {publisher}#{sequence}."


def _is(publication: Publication, publisher: str, sequence: int) -> bool:
    return (publication.publisher, publication.sequence) == (publisher, sequence)
