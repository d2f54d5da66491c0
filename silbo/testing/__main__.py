"""Generate a log, report how much it tests, and write it to a file on request."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from silbo.model.events import Event
from silbo.testing.generator import LogGenerator
from silbo.testing.measure import measure
from silbo.wire.jsonl import event_json

EXAMPLE = """example:
  python -m silbo.testing --seed 1 --events 5000 --write log.jsonl
  silbo replay log.jsonl --engine oracle
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0, or 1 if the log tests too little."""
    options = _parser().parse_args(arguments)
    generator = LogGenerator(options.seed, sessions=options.sessions)
    events = generator.take(options.events)
    if options.write:
        try:
            _write(options.write, events)
        except OSError as error:
            sys.stderr.write(f"cannot write {options.write}: {error.strerror}\n")
            return 2
    measured = measure(events)
    if options.json:
        sys.stdout.write(json.dumps(measured.as_json() | {"discarded": generator.discarded}) + "\n")
    else:
        sys.stdout.write(f"{measured}\n{'discarded: too near a threshold to judge':42}{generator.discarded:10,}\n")
    for reason in measured.reasons():
        sys.stderr.write(f"too poor: {reason}\n")
    return 1 if measured.reasons() else 0


def _write(path: Path, events: list[Event]) -> None:
    path.write_text("".join(event_json(event) + "\n" for event in events), encoding="utf-8", newline="")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m silbo.testing",
        description="Generate a log by its seed and measure it: what is delivered, what is nearly delivered.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same log (default: 1)")
    parser.add_argument("--events", type=_count, default=1000, help="how many events (default: 1000)")
    parser.add_argument("--sessions", type=_count, default=12, help="how many sessions' names (default: 12)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--write", type=Path, metavar="LOG.jsonl", help="also write the log to this file")
    return parser


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("expected 1 or more")
    return count


if __name__ == "__main__":
    sys.exit(main())
