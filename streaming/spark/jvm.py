"""Spark's Java process: its output is held back, and its end is noticed.

The launcher, log4j and Spark's Python workers all write to the output of the Java process, even if nothing is
wrong. A thread reads it and keeps the last lines, which an error shows if the process does not start or dies.
`SILBO_VERBOSE=1` lets all of it through.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from contextlib import suppress
from subprocess import Popen, TimeoutExpired
from typing import TYPE_CHECKING

from silbo.errors import JobFailed, shortened

if TYPE_CHECKING:
    from pyspark import SparkConf

LINES = 200  # lines that are kept
WIDTH = 2_000  # bytes of a line that are kept
SHOWN = 3  # lines that an error shows
ERROR = re.compile(r"Error\b|Exception\b|ERROR |[Cc]ould not |[Cc]annot |[Uu]nrecognized ")
OURS = b"silbo "  # the beginning of the lines that silbo itself writes in a worker
VERBOSE = "SILBO_VERBOSE"


def is_verbose() -> bool:
    """Whether Spark's output goes to stderr as it comes."""
    return os.environ.get(VERBOSE, "") not in ("", "0")


class Output:
    """The last lines that a process wrote to a pipe."""

    def __init__(self, pipe: int) -> None:
        self._lines: deque[bytes] = deque(maxlen=LINES)
        self._thread = threading.Thread(target=self._read, args=(pipe,), name="silbo-jvm-output", daemon=True)
        self._thread.start()

    def _read(self, pipe: int) -> None:
        with open(pipe, "rb") as file:
            while line := file.readline(WIDTH):
                self._lines.append(line)
                if line.startswith(OURS) and sys.stderr.isatty():
                    sys.stderr.write(line.decode(errors="replace"))

    def last(self) -> str:
        """The last lines that name an error, of a process that has ended."""
        self._thread.join(1.0)  # second: a child of it may hold the pipe open
        lines = [line.decode(errors="replace").strip() for line in self._lines.copy()]
        return "\n".join([shortened(line) for line in lines if ERROR.search(line)][-SHOWN:])


_output: list[Output] = []  # of the process that this one has started


def launch(conf: SparkConf) -> None:
    """Start the Java process with its output held back, unless one is running."""
    from pyspark import SparkContext
    from pyspark.accumulators import AccumulatorTCPServer, AccumulatorUnixServer
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None or is_verbose():
        return
    reading, writing = os.pipe()
    output = Output(reading)
    try:
        gateway = launch_gateway(conf, {"stdout": writing, "stderr": writing})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError:
        os.close(writing)
        raise JobFailed("Spark's Java process did not start", output.last()) from None
    os.close(writing)
    _output[:] = [output]
    # pyspark's own server prints a trace when the connection to Java ends; the next call to Java raises the error
    for server in (AccumulatorTCPServer, AccumulatorUnixServer):
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def is_alive(seconds: float = 0.0) -> bool:
    """Whether the Java process runs; waits up to `seconds` for one that is about to end."""
    return _status(seconds) is None


def check(seconds: float = 0.0) -> None:
    """Raise `JobFailed` if the Java process has ended, or ends within `seconds`."""
    status = _status(seconds)
    if status is not None:
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        raise JobFailed(f"Spark's Java process {how}", _output[0].last() if _output else "")


def _status(seconds: float) -> int | None:
    """The exit status; None while the process runs, and for a process that spark-submit has started."""
    from pyspark import SparkContext

    process: Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return None
    with suppress(TimeoutExpired):
        process.wait(seconds)
    return process.returncode
