"""Processes that tests kill, one of many: those in which Spark runs tasks.

A process is named by its pid, found from one that the test itself started; never by a pattern over all of them.
"""

from __future__ import annotations

from pathlib import Path

from silbo.bench.processes import descendants, parent

DAEMON = "pyspark.daemon pyspark.worker"  # those beside a driver run other modules


def command(pid: int) -> str:
    """What a process runs; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def task_workers(pid: int) -> list[int]:
    """The Python processes in which tasks run, among a process's descendants: the forks of Spark's daemons."""
    found = [each for each in descendants(pid) if DAEMON in command(each)]
    return [each for each in found if parent(each) in found]
