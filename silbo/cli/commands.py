"""What commands share: how they are declared, and how they take a file or a number."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]


def open_log(path: str) -> AbstractContextManager[BinaryIO]:
    """A file of lines, or standard input for -, which is left open."""
    return nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb")


def positive(text: str) -> int:
    """A number from 1 on, as an argument."""
    number = int(text)
    if not 1 <= number <= sys.maxsize:
        raise argparse.ArgumentTypeError(f"a number from 1 on is expected, not {number}")
    return number
