"""The progress of a running job on real Spark: a line for each batch, and a summary."""

import json
import os
import re
import signal
import subprocess
import sys

from silbo.streaming.local import log_job, log_records
from silbo.streaming.local.log import LogWriter, append
from silbo.streaming.local.log_job import ends_of_log
from silbo.streaming.spark import job
from silbo.streaming.spark.progress import watching
from silbo.streaming.topics import CONTEXTS, INPUTS, PUBLICATIONS, SUBSCRIPTIONS
from silbo.wire.records import PublicationRecord, SubscriptionRecord, TickRecord, encode


def json_text(offsets):
    return "None" if offsets is None else json.dumps(offsets)


def written(folder, publications):
    LogWriter(folder, 1).close()
    append(folder, SUBSCRIPTIONS, 0, [encode(SubscriptionRecord(1, "u", "car", "s", "true", None, ()))])
    append(
        folder, PUBLICATIONS, 0,
        [encode(PublicationRecord(2 + i, "p", "p", 1 + i, {}, {}, {}, None, None)) for i in range(publications)],
    )  # fmt: skip


def test_every_batch_of_a_query_is_reported_by_topic(spark, tmp_path):
    written(tmp_path / "log", 5)
    log_records.drain(tmp_path / "log")
    lines = []
    with watching(spark, lines.append, ends_of_log(tmp_path / "log")) as watch:
        query = log_job.start(spark, tmp_path / "log", job.Options(tmp_path / "checkpoint", batch=2))
        try:
            query.processAllAvailable()
        finally:
            query.stop()
    assert watch.totals.batches == len(lines) == 3
    assert watch.totals.records == {PUBLICATIONS: 6, SUBSCRIPTIONS: 2, CONTEXTS: 1}
    assert watch.totals.observed == {"notifications": 5, "rejected": 0}
    assert watch.summary().splitlines()[2] == "frontier at the end; 0 waiting in the shards"
    assert [int(re.search(r"([\d,]+) bytes behind", each)[1]) > 0 for each in lines] == [True, True, False]


def test_an_interrupted_job_ends_with_its_summary_and_without_errors(tmp_path):
    """As with Ctrl-C in a terminal, all processes of the job get SIGINT."""
    folder = tmp_path / "log"
    written(folder, 3)
    for topic in INPUTS:
        append(folder, topic, 0, [encode(TickRecord(100))])
    command = [sys.executable, "-m", "silbo", "stream", "--log", str(folder), "--checkpoint", str(tmp_path / "c")]
    with subprocess.Popen(
        [*command, "--progress"], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        lines = iter(running.stderr)
        first = next(lines)
        has_batch = any(each.startswith("batch 0: 7 records") for each in lines)
        os.killpg(running.pid, signal.SIGINT)
        rest = "".join(lines)
    assert first == f"ready: the log {folder}; strict order; checkpoint {tmp_path / 'c'}; waiting for records\n"
    assert has_batch
    assert running.returncode == 0
    assert re.match(
        r"7 records in 1 batch and [\d.]+ s; by topic, ticks included: publications 4, subscriptions 2, contexts 1\n",
        rest,
    )
    assert rest.endswith("\nfrontier 100; 0 waiting in the shards\n")
    assert not re.search("error|traceback", rest, re.IGNORECASE)
    assert len(log_records.notifications(folder)) == 3
