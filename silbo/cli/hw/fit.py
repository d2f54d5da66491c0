"""`silbo hw fit`: which part of a subscription the hardware matcher can take, and why not the rest."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from silbo.context.function import ContextFunction
from silbo.matching.filter import Filter

if TYPE_CHECKING:
    from silbo.cli.commands import Commands
    from silbo.hw.offload.fit import Fit

EPILOG = """examples:
  silbo hw fit 'msg = "ice" and road = "A7" and severity >= 3'
  silbo hw fit 'msg = "ice" or msg = "fog"' --context 'abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20'
  silbo hw fit 'severity >= 3' --json

A subscription that fits is on the device while there is room: 255 conjunctions, 256 different equalities. The
device finds candidates; the expressions as written decide, always in software.
"""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "fit",
        help="say which part of a subscription the device can take, and why",
        description="Say which part of a subscription the hardware matcher can take, and why not the rest.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("filter", metavar="FILTER", help="a content filter")
    parser.add_argument("--context", metavar="F", help="a context function")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print where each part runs."""
    from silbo.hw.offload.fit import fit

    function = None if options.context is None else ContextFunction.of(options.context)
    found = fit(Filter.of(options.filter), function)
    print(json.dumps(_as_data(found), ensure_ascii=False) if options.json else _as_text(found))
    return 0


def _as_data(found: Fit) -> dict[str, Any]:
    parts = [{"what": part.what, "text": part.text, "where": part.where, "why": part.why} for part in found.parts()]
    return {"where": found.where, "tsids": len(found.conjunctions) if found.is_on_device else 0, "parts": parts}


def _as_text(found: Fit) -> str:
    parts = list(found.parts())
    lines = [f"{part.where:8}  {part.what:11}  {part.text}\n{'':23}{part.why}" for part in parts]
    return "\n".join([f"candidates are found {WHERE[found.where]}", *lines])


WHERE = {"device": "on the device", "software": "in software"}
