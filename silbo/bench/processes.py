"""The tree of processes on this machine, read from /proc."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

PARENT = 1  # position after the command's name: state, parent, …


def descendants(pid: int) -> list[int]:
    """The pids of all processes that a process has started, directly or indirectly."""
    children = _children()
    found = [pid]
    for each in found:
        found += children[each]
    return found[1:]


def parent(pid: int) -> int | None:
    """The parent of a process; None if the process has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # the command's name is in parentheses and may contain any character
    return int(stat.rpartition(")")[2].split()[PARENT])


def _children() -> defaultdict[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        started_by = parent(int(folder.name)) if folder.name.isdigit() else None
        if started_by is not None:
            found[started_by].append(int(folder.name))
    return found
