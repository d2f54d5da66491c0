"""`silbo diff`: compare two outputs of `silbo replay`, and say why they differ."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from silbo.engines.explaining import explanation_of
from silbo.errors import InvalidEvent
from silbo.model.log import parse_json

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo diff oracle.jsonl memory.jsonl
  silbo diff oracle.jsonl memory.jsonl --log log.jsonl --most 3

With --log each difference is explained clause by clause, as the log's state was at that publish.
Exit status 0 if the outputs hold the same notifications, 1 if not.
"""


class Key(NamedTuple):
    """What names a notification."""

    publisher: str
    sequence: int
    subscriber: str
    subscription: str


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "diff",
        help="compare two outputs as multisets, and explain the first differences",
        description="Compare two outputs of silbo replay as multisets of notifications.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("a", metavar="A", help="an output of silbo replay")
    parser.add_argument("b", metavar="B", help="another one")
    parser.add_argument("--log", metavar="LOG", help="the log both came from, to explain differences")
    parser.add_argument("--most", type=int, default=10, metavar="N", help="differences to show (default: 10)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the differences; 1 if there are any."""
    a, b = _read(options.a), _read(options.b)
    only_a, only_b = a - b, b - a
    if not only_a and not only_b:
        print(f"no difference: {a.total():,} notifications")
        return 0
    print(
        f"{only_a.total():,} only in {options.a}, {only_b.total():,} only in {options.b}, {(a & b).total():,} in both"
    )
    differences = [(line, options.a) for line in only_a.elements()] + [(line, options.b) for line in only_b.elements()]
    twins = {_key(line) for line in only_a} & {_key(line) for line in only_b}
    differences.sort(key=lambda difference: (_key(difference[0]), difference[1] != options.a))
    for line, where in differences[: options.most]:
        print(f"\nonly in {where}: {line}")
        print(_why(line, twins, a, b, options))
    if len(differences) > options.most:
        print(f"\n(+{len(differences) - options.most:,} more; --most shows more)")
    return 1


def _read(path: str) -> Counter[str]:
    """The notifications of an output, each as canonical JSON: the order of keys does not count, numbers do."""
    found: Counter[str] = Counter()
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            value = parse_json(line)
            if not isinstance(value, dict) or not set(Key._fields) <= value.keys():
                raise InvalidEvent(f"{path}:{number}: this is no notification. Give outputs of silbo replay.")
            found[json.dumps(value, sort_keys=True, ensure_ascii=False)] += 1
    return found


def _key(line: str) -> Key:
    value: Mapping[str, Any] = json.loads(line)
    return Key(*(value[field] for field in Key._fields))


def _why(line: str, twins: set[Key], a: Counter[str], b: Counter[str], options: argparse.Namespace) -> str:
    key = _key(line)
    if a[line] and b[line]:
        return f"  it stands there {abs(a[line] - b[line])} time(s) more often: a repeat."
    if key in twins:
        return "  the other output has this notification with other attributes, context or payload."
    if options.log is None:
        return (
            f"  the other output has no such notification. --log LOG tells why {key.subscriber} should get it or not."
        )
    return explanation_of(options.log, *key)
