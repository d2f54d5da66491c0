"""Code that the commands share: the type for their declaration, and common arguments."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]


def open_log(path: str) -> AbstractContextManager[BinaryIO]:
    """Open a file of lines, or standard input for `-`, which is left open."""
    return nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb")


def positive(text: str) -> int:
    """Parse an argument that is a number from 1 on."""
    number = int(text)
    if not 1 <= number <= sys.maxsize:
        raise argparse.ArgumentTypeError(f"a number from 1 on is expected, not {number}")
    return number


def say(text: str) -> None:
    """Print progress if stderr is a terminal."""
    if sys.stderr.isatty():
        print(f"… {text}", file=sys.stderr, flush=True)


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Declare the option that shows Spark's output."""
    parser.add_argument("--verbose", action="store_true", help="show Spark's own output on stderr")
