"""`silbo explain`: why a subscriber of a log got a message, or did not."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.engines.explaining import Explained, explain_log

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo explain log.jsonl --subscriber car-1
  silbo explain log.jsonl --subscriber car-1 --subscription s1 --publisher cam-1 --sequence 3
  silbo explain log.jsonl --missed            only what was not delivered

For each publish: every subscription asked for, the three questions (content filter, context function,
publisher's scope), each clause with its truth and the values it used, as they were at that publish.
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
    log = sys.stdin.buffer if options.log == "-" else Path(options.log).open("rb")  # noqa: SIM115  # closed below
    with log:
        for each in explain_log(log, subscriber=options.subscriber, subscription=options.subscription):
            if _asked(each, options):
                printed += _print(each, options)
    if not printed:
        print("nothing to explain: no publish and active subscription of that description in the log")
    return 0 if printed else 1


def _asked(each: Explained, options: argparse.Namespace) -> bool:
    if options.publisher not in (None, each.publisher):
        return False
    return options.sequence is None or (each.publication is not None and each.publication.sequence == options.sequence)


def _print(each: Explained, options: argparse.Namespace) -> int:
    place = f"{options.log}:{each.line}"
    if each.refused is not None:
        print(f"{place}: nobody gets it, the publish of {each.publisher} was refused: {each.refused.line}\n")
        return 1
    if not each.explanations:
        who = options.subscriber or "anybody"
        print(f"{place}: {each.publisher}#{_sequence(each)}: no active subscription of {who} at this publish\n")
        return 1
    shown = [explanation for explanation in each.explanations if not (options.missed and explanation.gets)]
    for explanation in shown:
        print(f"{place}: {explanation}\n")
    return len(shown)


def _sequence(each: Explained) -> int:
    return 0 if each.publication is None else each.publication.sequence
