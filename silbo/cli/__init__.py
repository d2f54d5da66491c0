"""The program `silbo`: each command is a module, and this module joins them.

Exit status 0, 1 (failed), 2 (wrong use) or 130 (interrupted by Ctrl-C).
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from silbo import __version__
from silbo.cli import bench, diff, experiment, explain, hw, notifications, replay, stream, warm
from silbo.errors import JobFailed, MissingPart, SilboError

EPILOG = """examples:
  silbo replay log.jsonl                       notifications of a log, by the broker in the process
  silbo replay log.jsonl --engine oracle       the same by the oracle
  silbo diff a.jsonl b.jsonl --log log.jsonl   where two outputs differ, and why
  silbo explain log.jsonl --subscriber car-1   why car-1 got each message, or did not
  silbo stream --log city --checkpoint state   match a log of records in bulk, on Spark
  silbo bench matching                         how long matching takes on this machine
  silbo experiment siena --quick               the paper's experiment against SIENA, within two minutes
  silbo hw sim                                 run publications through the simulated hardware matcher
  silbo warm                                   compile the kernels ahead of their first use
"""

LIBRARIES = ("kafka", "py4j", "pyspark")  # the names of their loggers; py4j also logs under the root's name
INTERRUPTED = 130  # the exit status that shells report for a program ended by Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="silbo",
        description="Context-aware publish/subscribe for things and people that move.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"silbo {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (replay, diff, explain, stream, notifications, bench, experiment, hw, warm):
        command.add_to(commands)
    options = parser.parse_args(arguments)
    if getattr(options, "verbose", False):
        os.environ["SILBO_VERBOSE"] = "1"
    else:
        _silence_libraries()
    # logs are UTF-8 with LF, whatever the terminal's locale says
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]  # a text file, not a test's
    try:
        return int(options.run(options))
    except BrokenPipeError:
        # the reader, such as head, has closed the pipe; Python's own flush at exit must not raise again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except ModuleNotFoundError as error:
        part = MissingPart.of(error)
        if part is None:
            raise
        print(f"silbo: {part}", file=sys.stderr)
        return 2
    except SilboError as error:
        print(f"silbo: {error}", file=sys.stderr)
        return 1 if isinstance(error, JobFailed) else 2
    except OSError as error:
        print(f"silbo: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        return 2


def _silence_libraries() -> None:
    """Keep the log of py4j and kafka-python about lost connections off stderr: silbo's own errors say what failed."""
    handler = logging.StreamHandler()
    handler.addFilter(lambda record: record.name.partition(".")[0] not in LIBRARIES and "/py4j/" not in record.pathname)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[handler])
