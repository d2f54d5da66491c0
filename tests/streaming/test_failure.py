"""The error of a failed job: one line with the innermost cause, even if the Java process has died."""

import os
import subprocess
import sys

import pytest
from pyspark import SparkContext
from pyspark.errors import StreamingQueryException

from silbo.errors import InvalidValue, JobFailed
from silbo.streaming.spark import jvm
from silbo.streaming.spark.failure import as_job_failure, root_cause

PYTHON = """Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: Lost task 0.3 in
stage 1.0 (TID 9) (127.0.0.1 executor driver): org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
silbo.errors.InvalidValue: log: city/00000.log: no record begins at 5.
\tat org.apache.spark.api.python.BasePythonRunner
"""
JAVA = """org.apache.spark.SparkException: Writing job aborted
\tat org.apache.spark.sql.Write.run(Write.scala:1)
Caused by: org.apache.kafka.common.errors.TimeoutException: Topic city not present in metadata after 60000 ms.
\t... 3 more
"""
PYTHON_OVER_JAVA = """An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
py4j.protocol.Py4JJavaError: An error occurred while calling o195.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult
\tat org.apache.spark.util.ThreadUtils$.awaitResult(ThreadUtils.scala:1)
Caused by: org.apache.spark.SparkException: [CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state.
\t... 9 more
Caused by: java.nio.file.NoSuchFileException: /tmp/c/state/0/1/2.zip: there is no such file
\t... 12 more
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (PYTHON, "log: city/00000.log: no record begins at 5."),
        (JAVA, "Topic city not present in metadata after 60000 ms."),
        (PYTHON_OVER_JAVA, "/tmp/c/state/0/1/2.zip: there is no such file"),
        ("nothing but this", "nothing but this"),
    ],
)
def test_the_cause_is_the_innermost_line_of_a_trace(text, cause):
    assert root_cause(text) == cause


def test_an_error_of_spark_becomes_a_job_failure_and_an_error_of_silbo_does_not():
    with (
        pytest.raises(JobFailed, match=r"the job failed: log: city/00000\.log: no record begins at 5"),
        as_job_failure(),
    ):
        raise StreamingQueryException(PYTHON)
    with pytest.raises(InvalidValue), as_job_failure():
        raise InvalidValue("order", "wrong.")


def test_a_java_process_that_died_is_reported_with_its_last_errors(monkeypatch):
    reading, writing = os.pipe()
    program = "import os; print('INFO all is well\\nERROR out of memory', flush=True); os.kill(os.getpid(), 9)"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=writing)
    os.close(writing)
    process.wait()
    monkeypatch.setattr(SparkContext, "_gateway", type("Gateway", (), {"proc": process}))
    monkeypatch.setattr(jvm, "_output", [jvm.Output(reading)])
    with pytest.raises(JobFailed, match="was killed by signal 9: ERROR out of memory"):
        jvm.check()
    assert not jvm.is_alive()
