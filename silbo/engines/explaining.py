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
from silbo.model.events import Publish
from silbo.model.log import read_log
from silbo.model.notification import Publication


@dataclass(frozen=True, slots=True)
class Explained:
    """One publish of a log: its line, the explanations asked for, or why it was refused."""

    line: int
    publisher: str
    publication: Publication | None
    explanations: tuple[Explanation, ...]
    refused: SilboError | None


def explain_log(
    log: BinaryIO, *, subscriber: str | None = None, subscription: str | None = None
) -> Iterator[Explained]:
    """Each publish of a log, explained for the subscriptions asked for (None: all) that are active then."""
    fold = Fold()
    for line, event, error in read_log(log):
        if event is None:
            assert error is not None
            continue
        if not isinstance(event, Publish):
            fold.apply([event], lambda *_: None)
            continue
        yield _explained(fold, line, event, subscriber, subscription)


def _explained(fold: Fold, line: int, event: Publish, subscriber: str | None, subscription: str | None) -> Explained:
    try:
        publication = fold.publish(event)
    except SilboError as error:
        return Explained(line, event.session, None, (), error)
    explanations = tuple(
        explain(publication, row, fold.core.contexts[row.subscriber])
        for name, peer in sorted(fold.peers.items())
        for id, row in sorted(peer.subscriptions.items())
        if subscriber in (None, name) and subscription in (None, id)
    )
    return Explained(line, event.session, publication, explanations, None)


def explanation_of(log: str | PathLike[str], publisher: str, sequence: int, subscriber: str, subscription: str) -> str:
    """Why one subscription gets one publication of a log, as text for people."""
    with Path(log).open("rb") as file:
        for each in explain_log(file, subscriber=subscriber, subscription=subscription):
            if each.publication and (each.publisher, each.publication.sequence) == (publisher, sequence):
                found = "\n".join(map(str, each.explanations)) or f"{subscriber}/{subscription} is not active then."
                return f"  line {each.line}: " + found.replace("\n", "\n  ")
    return f"  the log has no publication {publisher}#{sequence}."
