"""The output of an experiment: its progress while it runs, then a table, a report with pictures, and results.json."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Progress:
    """Prints the current step to stderr, with the time since the start."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    def __call__(self, text: str) -> None:
        """Print a step."""
        minutes, seconds = divmod(round(time.monotonic() - self._since), 60)
        print(f"{minutes}:{seconds:02} {text}", file=sys.stderr, flush=True)


def written(
    results: dict[str, Any], out: Path, report: Callable[[dict[str, Any], Path], None], table: str, say: Progress
) -> int:
    """Draw, write and print the results, and return the exit status."""
    say("drawing, writing")
    report(results, out)
    (out / "results.json").write_text(json.dumps(results, indent=1, allow_nan=False), encoding="utf-8")
    print(table)
    say(f"written: {out / 'report.html'}")
    return 0 if results["agrees"] else 1
