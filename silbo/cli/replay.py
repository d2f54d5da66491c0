"""`silbo replay`: run a log through an engine, and print its notifications."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from silbo.cli.commands import add_verbose, open_log, positive
from silbo.engines.replay import NAMES, replay
from silbo.errors import SilboError
from silbo.wire.jsonl import notification_json

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo replay log.jsonl > notifications.jsonl
  silbo replay log.jsonl --engine oracle --batch 100
  cat log.jsonl | silbo replay -

A refused event changes nothing and prints one line on stderr, FILE:LINE: reason; the exit status stays 0.
docs/log.md describes the format of a log.
"""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "replay",
        help="run a log through an engine and print its notifications",
        description="Run a log of events through an engine, and print its notifications, one JSON object per line.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("log", metavar="LOG", help="a log file, or - for standard input")
    parser.add_argument(
        "--engine", default="memory", metavar="NAME", help=f"one of: {', '.join(NAMES)} (default: memory)"
    )
    parser.add_argument(
        "--batch",
        type=positive,
        default=1_000,
        metavar="N",
        help="events that the engine gets at a time (default: 1,000)",
    )
    add_verbose(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print every notification, and every refusal on stderr."""

    def refused(line: int, error: SilboError) -> None:
        print(f"{options.log}:{line}: {error.line}", file=sys.stderr)

    with open_log(options.log) as log:
        for notification in replay(log, options.engine, batch=options.batch, refused=refused):
            sys.stdout.write(notification_json(notification) + "\n")
    sys.stdout.flush()
    return 0
