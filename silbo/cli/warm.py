"""`silbo warm`: compile the kernels once, so that later processes do not wait for them."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

from silbo.compiled import Kernel, check_compiler

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo warm            compile the kernels that are not in the cache; about twenty seconds the first time
  silbo warm --json     the same as one JSON object

The cache is next to the installed sources, or in a folder of the user if that one is read-only;
NUMBA_CACHE_DIR names another. All processes of this installation share it.
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
    """Compile or load every kernel, and print a line for each."""
    check_compiler()
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
        print(f"{total:.2f} s of CPU; the cache is {folder or 'not used: no folder for it is writable'}")
    return 0


def _kernels() -> list[Kernel]:
    from silbo.matching.fast.kernels.entries import KERNELS

    return list(KERNELS)
