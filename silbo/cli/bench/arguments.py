"""The declaration of a bench, and the arguments that several benches have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from silbo.cli.commands import positive

if TYPE_CHECKING:
    from silbo.cli.commands import Commands


def declared(commands: Commands, name: str, help: str, epilog: str) -> argparse.ArgumentParser:
    """Declare a command whose help is also its description."""
    return commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Declare the sizes of a workload, and its seed."""
    parser.add_argument("--subscriptions", type=positive, default=80_000, metavar="N", help="default: 80,000")
    parser.add_argument("--events", type=positive, default=2_000, metavar="M", help="publications (default: 2,000)")
    add_seed(parser)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Declare the seed."""
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="the same seed gives the same workload (default: 1)"
    )


def add_subscribers(parser: argparse.ArgumentParser) -> None:
    """Declare the number of subscribers of the bench of context changes."""
    parser.add_argument("--subscribers", type=positive, default=8_000, metavar="N", help="default: 8,000")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare the option for JSON."""
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
