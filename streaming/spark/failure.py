"""Failures of Spark as errors of silbo: the innermost cause in one line, in place of nested Java and Python traces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from silbo.errors import JobFailed, SilboError
from silbo.streaming.spark import jvm

ENDING = 2.0  # seconds that a process takes to end after its connections have
TRACEBACK = "Traceback (most recent call last):"
# the causes that a Java trace names, the innermost last
CAUSED = re.compile(r"(?:Caused by|most recent failure): (?:Lost task [^:]*: )?(.+)")
CALL_OF_JAVA = re.compile(r"An error occurred while calling \S+\.")
PREFIXES = re.compile(r"^(?:silbo\.errors\.\w+|pyspark\.errors\.[\w.]+|(?:java|org|py4j)\.[\w.$]+): ")


@contextmanager
def as_job_failure() -> Iterator[None]:
    """Raise Spark's errors as `JobFailed`; silbo's own errors pass unchanged."""
    try:
        from py4j.protocol import Py4JError, Py4JNetworkError
        from pyspark.errors import PySparkException
    except ImportError:  # without Spark there are no errors of Spark
        yield
        return
    try:
        yield
    except SilboError:
        raise
    except (PySparkException, Py4JError, ConnectionError) as error:
        jvm.check(ENDING if isinstance(error, Py4JNetworkError | ConnectionError) else 0.0)
        raise JobFailed("the job failed", root_cause(_innermost(error))) from error


def _innermost(error: Exception) -> str:
    """The message of the innermost Java cause. `str` of an error calls Java, which may have ended: `_desc` does not."""
    text = str(getattr(error, "_desc", None) or error)
    cause = getattr(error, "_cause", None)
    return text if cause is None else _innermost(cause) or text


def root_cause(text: str) -> str:
    """The line of a trace that names the innermost cause.

    A Python trace names it after its calls. If that line only says that a call of Java failed, or if there is no
    Python trace, the last cause in the Java trace is the one.
    """
    lines = text.rpartition(TRACEBACK)[2].splitlines() if TRACEBACK in text else text.splitlines()
    first = next((line for line in lines if line and not line[0].isspace()), text)
    named = CAUSED.findall(text) if TRACEBACK not in text or CALL_OF_JAVA.search(first) else []
    cause = named[-1] if named else first
    short = PREFIXES.sub("", cause.strip())
    return short or cause.strip()
