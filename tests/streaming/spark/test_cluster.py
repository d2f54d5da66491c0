"""The job on a standalone cluster, sent there by spark-submit: both executors match, and the result is the oracle's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kafka import TopicPartition

import silbo
from silbo.streaming.bulk.output import notifications_in_order
from silbo.streaming.kafka.client import KafkaWriter, consumer, create_topics, named
from silbo.streaming.local.package import package
from silbo.streaming.topics import NOTIFICATIONS
from silbo.testing import assert_agrees, generate_log
from silbo.testing.own.jobs import Feed, RunningProgram

PREFIX = "silbo-cluster"
# the job starts only when both executors are there
BOTH = ("--conf", "spark.cores.max=2", "--conf", "spark.scheduler.minRegisteredResourcesRatio=1")


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """silbo as a zip for spark-submit. Its kernels are compiled, so that executors find them in the user's cache."""
    archive, program = package(tmp_path_factory.mktemp("package"))
    done = subprocess.run(
        [sys.executable, "-m", "silbo", "warm"], cwd=archive.parent, env={**os.environ, "PYTHONPATH": str(archive)}
    )
    assert done.returncode == 0
    return archive, program


def notifications(address):
    """The records of the topic of notifications, with their headers."""
    reader = consumer(address)
    topic = named(NOTIFICATIONS, PREFIX)
    partitions = [TopicPartition(topic, number) for number in reader.partitions_for_topic(topic)]
    reader.assign(partitions)
    reader.seek_to_beginning(*partitions)
    found, ends = [], reader.end_offsets(partitions)
    while any(reader.position(each) < ends[each] for each in partitions):
        found += [record for records in reader.poll(timeout_ms=500).values() for record in records]
    reader.close()
    return found


def test_a_submitted_job_matches_on_both_executors(cluster, kafka, packed, tmp_path):
    log = generate_log(4, 300)
    create_topics(kafka.address, 3, PREFIX)
    writer = KafkaWriter(kafka.address, PREFIX)
    Feed(writer).write(log)
    writer.close()
    archive, program = packed
    jars = subprocess.run([sys.executable, "-m", "silbo.streaming.jars"], capture_output=True, text=True).stdout.strip()
    submit = Path(sys.executable).with_name("spark-submit")
    command = [
        submit, "--master", cluster.url, "--py-files", archive, "--jars", jars, *BOTH, program,
        "--kafka", kafka.address, "--prefix", PREFIX, "--checkpoint", tmp_path / "checkpoint", "--drain",
    ]  # fmt: skip
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with RunningProgram(command, tmp_path / "errors", environment) as submitted:
        assert submitted.wait() == 0, submitted.said
    found = notifications(kafka.address)
    assert_agrees(log, notifications_in_order(record.value for record in found))
    headers = [dict(record.headers) for record in found]
    assert {each["shard"] for each in headers} == {b"0", b"1"}
    assert len({each["executor"] for each in headers}) == 2


def test_the_zip_contains_silbo_and_is_reproducible(packed, tmp_path):
    archive, _ = packed
    again, _ = package(tmp_path)
    assert archive.read_bytes() == again.read_bytes()
    said = subprocess.run(
        [sys.executable, "-c", "import silbo; print(silbo.__file__, silbo.__version__)"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(archive)}, capture_output=True, text=True,
    )  # fmt: skip
    assert said.stdout.split() == [str(archive / "silbo" / "__init__.py"), silbo.__version__]


def test_the_cached_kernels_of_a_zip_are_found_from_any_folder(packed, tmp_path):
    """Spark copies the zip into a new folder for every application and uses a relative path."""
    shutil.copy(packed[0], tmp_path)
    said = subprocess.run(
        [sys.executable, "-c", "from silbo.matching.fast.kernels.entries import RUN; RUN.make(); print(RUN.cached)"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": "./silbo.zip"}, capture_output=True, text=True,
    )  # fmt: skip
    assert said.stdout == "True\n", said.stderr
