"""`silbo notifications`: print the notifications that `silbo stream --log` has written."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.wire.jsonl import notification_json

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo notifications city
  silbo notifications city | jq .subscriber
"""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "notifications",
        help="print the notifications in a local log of silbo stream",
        description="Print the notifications that `silbo stream --log DIR` has written, without repeats, in the order "
        "of their publications, one JSON object per line.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("log", type=Path, metavar="DIR", help="the folder of a local log")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print every notification of the log."""
    from silbo.errors import InvalidValue
    from silbo.streaming.local.log import partitions_of
    from silbo.streaming.local.log_records import notifications
    from silbo.streaming.topics import NOTIFICATIONS

    if not partitions_of(options.log, NOTIFICATIONS):
        raise InvalidValue(
            "DIR", f"{options.log} has no topic {NOTIFICATIONS}. Run silbo stream --log {options.log} first."
        )
    for notification in notifications(options.log):
        sys.stdout.write(notification_json(notification) + "\n")
    sys.stdout.flush()
    return 0
