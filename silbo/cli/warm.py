"""`silbo warm`: compile the kernels once, so that nobody waits for them later."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

from silbo.compiled import Kernel

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo warm            compile what is not in the cache yet; the first time takes some twenty seconds
  silbo warm --json     the same as one JSON object

The cache stands beside the installed sources, or in a folder of yours where that one is read-only;
NUMBA_CACHE_DIR names another. Every process of this installation shares it.
"""


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "warm",
        help="compile the matching kernels once",
        description="Compile the matching kernels, or load them from the cache, and say how long it took.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make every kernel, and tell of each."""
    since = time.process_time()
    made = []
    for kernel in _kernels():
        kernel.make()
        made.append({"name": kernel.name, "seconds": round(kernel.seconds, 3), "cached": kernel.cached})
        if not options.json:
            print(
                f"{kernel.name:8} {'from the cache' if kernel.cached else 'compiled':15} {kernel.seconds:6.2f} s",
                flush=True,
            )
    total = round(time.process_time() - since, 3)
    folder = next((kernel.folder for kernel in _kernels() if kernel.folder), None)
    if options.json:
        print(json.dumps({"kernels": made, "cpu_s": total, "cache": folder}))
    else:
        print(f"{total:.2f} s of CPU; the cache is {folder or 'nowhere: no folder for it could be written to'}")
    return 0


def _kernels() -> list[Kernel]:
    from silbo.matching.kernels.entries import KERNELS

    return list(KERNELS)
