"""`silbo explain`: why a subscriber of a log got a message, or did not."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO

from silbo.cli.commands import open_log
from silbo.engines.explaining import ExplainedPublish, Unaccepted, explain_log
from silbo.engines.survey import Survey, survey
from silbo.model.texts import time_text

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo explain log.jsonl --subscriber car-1
  silbo explain log.jsonl --subscriber car-1 --subscription s1 --publisher cam-1 --sequence 3
  silbo explain log.jsonl --missed            only messages that were not delivered

For each publish and each requested subscription it shows the three conditions (content filter, context function,
publisher's scope), each clause with its truth value and the values that it used at that publish. It also shows
refused lines that could be the reason, and subscriptions that ended and notifications that were dropped because a
queue was full. silbo.Broker(record="log.jsonl") writes such a log.
"""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explain",
        help="say why a subscriber got a message, or did not",
        description="Say, clause by clause, why the subscriptions of a log got each message or did not.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("log", metavar="LOG", help="a log file, or - for standard input")
    parser.add_argument("--subscriber", metavar="SESSION", help="only this session's subscriptions")
    parser.add_argument("--subscription", metavar="ID", help="only subscriptions with this id")
    parser.add_argument("--publisher", metavar="SESSION", help="only messages of this session")
    parser.add_argument("--sequence", type=int, metavar="N", help="only the Nth accepted message of its session")
    parser.add_argument("--missed", action="store_true", help="only messages that were not delivered")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print an explanation for each requested message and subscription; returns 1 if there is none."""
    printed = 0
    with open_log(options.log) as stream, _rereadable(stream) as log:
        found = survey(log)
        found.check(subscriber=options.subscriber, subscription=options.subscription, publisher=options.publisher)
        for each in explain_log(log, subscriber=options.subscriber, subscription=options.subscription):
            for text in _explanations(each, found, options):
                print(f"{options.log}:{each.line}: {text}\n")
                printed += 1
    if not printed:
        print("nothing to explain: no message in the log fits these options")
    return 0 if printed else 1


@contextmanager
def _rereadable(log: BinaryIO) -> Iterator[BinaryIO]:
    """The log itself, or a copy of it on disk if it can be read only once, such as a pipe."""
    if log.seekable():
        yield log
        return
    with TemporaryFile() as copy:
        shutil.copyfileobj(log, copy)
        copy.seek(0)
        yield copy


def _explanations(each: ExplainedPublish | Unaccepted, found: Survey, options: argparse.Namespace) -> Iterator[str]:
    if isinstance(each, Unaccepted):
        if _concerns(each, options):
            whose = "" if each.session is None else f" of {each.session}"
            yield f"the {each.event}{whose} was refused and changed nothing: {each.error.line}"
    elif _asked(each, options):
        time = each.publication.time
        when = "" if time is None else f"{time_text(time)}: "
        yield from (f"{when}{text}" for text in _of_publish(each, found, options))


def _of_publish(each: ExplainedPublish, found: Survey, options: argparse.Namespace) -> Iterator[str]:
    message = f"{each.publication.publisher}#{each.publication.sequence}"
    for end in each.ended:
        name = f"{end.subscriber}/{end.id}"
        yield f"{name} does not get {message}: it ended at line {end.line}, because its queue was full"
    for explanation in each.explanations:
        lost = found.dropped.get(explanation.dropped)
        if lost is not None:
            _, _, parts = str(explanation).partition("\n")  # all three are true
            why = f"its queue was full, and the notification was dropped at line {lost}"
            yield f"{explanation.subscription} lost {message}: {why}\n{parts}"
        elif not (options.missed and explanation.gets):
            yield str(explanation)
    if not each.explanations and not each.ended:
        which = "" if options.subscription is None else f" {options.subscription}"
        whose = "" if options.subscriber is None else f" of {options.subscriber}"
        yield f"{message}: no active subscription{which}{whose} at this publish"


def _concerns(each: Unaccepted, options: argparse.Namespace) -> bool:
    """Whether a refused line may be why a subscriber got nothing: a publish, or an event of the subscriber's own."""
    if options.sequence is not None:
        return False
    if each.session is None or each.event == "publish":
        return options.publisher in (None, each.session)
    return options.subscriber in (None, each.session)


def _asked(each: ExplainedPublish, options: argparse.Namespace) -> bool:
    return options.publisher in (None, each.publication.publisher) and options.sequence in (
        None,
        each.publication.sequence,
    )
