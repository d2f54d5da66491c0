"""The program `silbo`: one command a module, joined here.

Exit status 0, 1 (failed) or 2 (wrong use).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from silbo import __version__
from silbo.cli import bench, diff, experiment, explain, hw, replay, stream, warm
from silbo.errors import SilboError

EPILOG = """examples:
  silbo replay log.jsonl                       notifications of a log, by the broker in the process
  silbo replay log.jsonl --engine oracle       the same by the oracle
  silbo diff a.jsonl b.jsonl --log log.jsonl   where two outputs differ, and why
  silbo explain log.jsonl --subscriber car-1   why car-1 got what it got, and nothing else
  silbo stream --log city --checkpoint state   match a log of records in bulk, on Spark
  silbo bench matching                         what matching takes on this machine
  silbo experiment siena --quick               the paper's experiment against SIENA, within two minutes
  silbo hw sim                                 publications through the simulated matcher in hardware
  silbo warm                                   compile the kernels ahead of their first use
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    parser = argparse.ArgumentParser(
        prog="silbo",
        description="Context-aware publish/subscribe for things and people that move.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"silbo {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (replay, diff, explain, stream, bench, experiment, hw, warm):
        command.add_to(commands)
    options = parser.parse_args(arguments)
    # logs are UTF-8 with LF, whatever the terminal's locale says
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]  # a text file, not a test's
    try:
        return int(options.run(options))
    except BrokenPipeError:
        # the reader (head, say) has enough; Python's own flush at exit must not complain again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SilboError as error:
        print(f"silbo: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"silbo: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        return 2
