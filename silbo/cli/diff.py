"""`silbo diff`: compare two outputs of `silbo replay`, and say why they differ."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from silbo.cli.commands import open_log, positive
from silbo.engines.explaining import explanation_of
from silbo.errors import InvalidEvent
from silbo.wire.jsonl import parse_json

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo diff oracle.jsonl memory.jsonl
  silbo diff oracle.jsonl memory.jsonl --log log.jsonl --most 3
  silbo replay log.jsonl | silbo diff oracle.jsonl -

With --log each difference is explained clause by clause, with the state of the log at that publish.
Exit status 0 if the outputs hold the same notifications, 1 if not.
"""


class Key(NamedTuple):
    """The fields that identify a notification."""

    publisher: str
    sequence: int
    subscriber: str
    subscription: str

    def __str__(self) -> str:
        return f"{self.publisher}#{self.sequence} to {self.subscriber}/{self.subscription}"


class NotificationLines:
    """The notifications of one output, with their counts. The order of keys does not matter; 1 and 1.0 differ."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        with open_log(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    self.counts[self._canonical(line, number)] += 1

    def _canonical(self, line: bytes, number: int) -> str:
        try:
            value = parse_json(line)
        except InvalidEvent as error:
            raise InvalidEvent(f"{self.path}:{number}: {error}") from None
        if not isinstance(value, dict) or not _names_one(value):
            raise InvalidEvent(f"{self.path}:{number}: this is not a notification. Give outputs of silbo replay.")
        return json.dumps(value, sort_keys=True, ensure_ascii=False)

    def only_here(self, other: NotificationLines) -> list[tuple[Key, str, NotificationLines]]:
        """The notifications that the other output does not have, or has fewer times."""
        return [(_key(line), line, self) for line in (self.counts - other.counts).elements()]


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "diff",
        help="compare two outputs as multisets, and explain the first differences",
        description="Compare two outputs of silbo replay as multisets of notifications.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("a", metavar="A", help="an output of silbo replay, or - for standard input")
    parser.add_argument("b", metavar="B", help="another one")
    parser.add_argument("--log", type=Path, metavar="LOG", help="the log both came from, to explain differences")
    parser.add_argument("--most", type=positive, default=10, metavar="N", help="differences to show (default: 10)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the differences; returns 1 if there are any."""
    a, b = NotificationLines(options.a), NotificationLines(options.b)
    only_a, only_b = a.only_here(b), b.only_here(a)
    if not only_a and not only_b:
        print(f"no difference: {a.counts.total():,} notifications")
        return 0
    in_both = (a.counts & b.counts).total()
    print(f"{len(only_a):,} only in {a.path}, {len(only_b):,} only in {b.path}, {in_both:,} in both")
    differences = sorted(only_a + only_b, key=lambda difference: (difference[0], difference[2] is b))
    for key, line, where in differences[: options.most]:
        print(f"\nonly in {where.path}: {key}\n  {line}")
        print(_why(key, line, where, b if where is a else a, options.log))
    if len(differences) > options.most:
        print(f"\n(+{len(differences) - options.most:,} more; --most shows more)")
    return 1


def _names_one(value: dict[str, Any]) -> bool:
    wanted = {"publisher": str, "sequence": int, "subscriber": str, "subscription": str}
    return all(type(value.get(field)) is kind for field, kind in wanted.items())


def _key(line: str) -> Key:
    value: dict[str, Any] = json.loads(line)
    return Key(value["publisher"], value["sequence"], value["subscriber"], value["subscription"])


def _why(key: Key, line: str, where: NotificationLines, other: NotificationLines, log: Path | None) -> str:
    if other.counts[line]:
        more = where.counts[line] - other.counts[line]
        return f"  {where.path} has it {more} time{'' if more == 1 else 's'} more: it is a repeat."
    twin = next((each for each in other.counts if _key(each) == key), None)
    if twin is not None:
        return f"  {other.path} has it with another {_differing(line, twin)}."
    if log is None:
        return f"  {other.path} has no such notification. --log LOG shows why {key.subscriber} should get it or not."
    return explanation_of(log, *key)


def _differing(line: str, twin: str) -> str:
    a, b = json.loads(line), json.loads(twin)
    fields = [name for name in {**a, **b} if json.dumps(a.get(name)) != json.dumps(b.get(name))]
    return ", ".join(f"{name} ({json.dumps(b.get(name), ensure_ascii=False)})" for name in fields)
