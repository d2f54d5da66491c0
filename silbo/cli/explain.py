"""`silbo explain`: why a subscriber of a log got a message, or did not."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from silbo.cli.commands import open_log
from silbo.engines.explaining import Published, Unaccepted, explain_log

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo explain log.jsonl --subscriber car-1
  silbo explain log.jsonl --subscriber car-1 --subscription s1 --publisher cam-1 --sequence 3
  silbo explain log.jsonl --missed            only what was not delivered

For each publish: every subscription asked for, the three questions (content filter, context function,
publisher's scope), each clause with its truth and the values it used, as they were at that publish.
Refused lines that could be the reason are told too.
silbo.Broker(record="log.jsonl") writes such a log.
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
    parser.add_argument("--missed", action="store_true", help="only what was not delivered")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print an explanation for each message and subscription asked for; 1 if there is none."""
    printed = 0
    with open_log(options.log) as log:
        for each in explain_log(log, subscriber=options.subscriber, subscription=options.subscription):
            for text in _told(each, options):
                print(f"{options.log}:{each.line}: {text}\n")
                printed += 1
    if not printed:
        print("nothing to explain: the log has no publish and no active subscription of that description")
    return 0 if printed else 1


def _told(each: Published | Unaccepted, options: argparse.Namespace) -> Iterator[str]:
    if isinstance(each, Unaccepted):
        if _concerns(each, options):
            whose = "" if each.session is None else f" of {each.session}"
            yield f"the {each.event}{whose} was refused and changed nothing: {each.error.line}"
    elif _asked(each, options):
        if not each.explanations:
            name = f"{each.publication.publisher}#{each.publication.sequence}"
            yield f"{name}: no active subscription of {options.subscriber or 'anybody'} at this publish"
        yield from (str(told) for told in each.explanations if not (options.missed and told.gets))


def _concerns(each: Unaccepted, options: argparse.Namespace) -> bool:
    """A refused publish may be why a subscriber got nothing, and so may a refused event of its own."""
    if options.sequence is not None:
        return False
    if each.session is None or each.event == "publish":
        return options.publisher in (None, each.session)
    return options.subscriber in (None, each.session)


def _asked(each: Published, options: argparse.Namespace) -> bool:
    return options.publisher in (None, each.publication.publisher) and options.sequence in (
        None,
        each.publication.sequence,
    )
