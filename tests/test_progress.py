"""What a job tells of itself: a line for each batch, a summary of all, complete however many batches there were."""

import json
import os
import re
import signal
import subprocess
import sys
from datetime import datetime

import pytest
from pyspark.sql import Row

from silbo.streaming import job
from silbo.streaming.order import NEVER
from silbo.streaming.progress import Totals, batch_of, ends_of_log, line, time_text, watching
from silbo.streaming.records import LAST, Published, Subscribed, Tick, encode
from silbo.streaming.topics import CONTEXTS, INPUTS, PUBLICATIONS, SUBSCRIPTIONS

# as the clock on the wall here shows it
NOON = int(datetime(2026, 11, 17, 12, 0, 0, 120_000).timestamp() * 1_000_000)  # noqa: DTZ001


def source(rows, end, latest):
    return {"numInputRows": rows, "endOffset": told(end), "latestOffset": told(latest)}


def told(offsets):
    return "None" if offsets is None else json.dumps(offsets)


def progress(number=12, rows=(4_000, 0, 3), **observed):
    """A batch as Spark tells it, over Kafka, with a clock's beats behind the three topics."""
    ends = [
        {"silbo.publications": {"0": 5_000, "1": 10}},
        {"silbo.subscriptions": {"0": 0}},
        {"silbo.contexts": {"0": 7}},
    ]
    latest = [
        {"silbo.publications": {"0": 6_000, "1": 210}},
        {"silbo.subscriptions": {"0": 0}},
        {"silbo.contexts": {"0": 7}},
    ]
    sources = [source(*each) for each in zip(rows, ends, latest, strict=True)]
    metrics = {"silbo": Row(**observed)} if observed else {}
    return {
        "batchId": number, "durationMs": {"triggerExecution": 310}, "sources": [*sources, source(9, 3, None)],
        "observedMetrics": metrics,
    }  # fmt: skip


def test_a_line_tells_a_batch():
    seen = {"frontier": NOON, "waiting": 5, "notifications": 38, "rejected": 0}
    assert line(batch_of(progress(**seen))) == (
        "batch 12: 4,003 records in 310 ms, 12,913/s; 38 notifications; 1,200 behind; frontier 2026-11-17 12:00:00.120"
    )
    one = {**seen, "notifications": 1, "rejected": 2, "frontier": 17}
    assert line(batch_of(progress(rows=(1, 0, 0), **one))) == (
        "batch 12: 1 record in 310 ms, 3/s; 1 notification; 2 rejected; 1,200 behind; frontier 17"
    )


def test_the_order_of_arrival_has_no_frontier():
    seen = {"frontier": NEVER, "waiting": 0, "notifications": 38, "rejected": 0}
    assert (
        line(batch_of(progress(**seen)))
        == "batch 12: 4,003 records in 310 ms, 12,913/s; 38 notifications; 1,200 behind"
    )
    nothing = dict.fromkeys(seen)  # of a batch in which no shard had anything to do
    assert line(batch_of(progress(**nothing))).endswith("; 0 notifications; 1,200 behind")
    assert line(batch_of(progress(**{**seen, "waiting": 1}))).endswith("; frontier not known yet")


def test_without_what_the_matching_tells_a_line_has_what_spark_tells():
    assert line(batch_of(progress())) == "batch 12: 4,003 records in 310 ms, 12,913/s; 1,200 behind"


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (None, "not known yet"), (NEVER, "not known yet"), (LAST, "at the end"), (17, "17"), (-5, "-5"),
        (2**62, str(2**62)), (NOON, "2026-11-17 12:00:00.120"),
    ],
)  # fmt: skip
def test_times_are_of_day_where_they_are_such(time, text):
    assert time_text(time) == text


def test_behind_in_a_log_are_the_bytes_that_nobody_read(tmp_path):
    job.LogWriter(tmp_path, 2).close()
    job.append(tmp_path, CONTEXTS, 1, [encode(Tick(1))])
    size = job.append(tmp_path, CONTEXTS, 1, [encode(Tick(2))])
    read = {PUBLICATIONS: {"0": 0, "1": 0}}, None, {CONTEXTS: {"0": 0, "1": size // 2}}
    sources = [source(1, each, None) for each in read]
    made = {"batchId": 0, "durationMs": {}, "sources": sources}
    assert batch_of(made, ends_of_log(tmp_path)).behind == f"{size // 2:,} bytes behind"


def test_the_summary_has_all_batches():
    totals = Totals()
    for number in range(150):
        totals.add(batch_of(progress(number, (10, 1, 2), frontier=number, waiting=4, notifications=3, rejected=1)))
    assert totals.summary(13.0).splitlines() == [
        "1,950 records in 150 batches and 13.0 s, 150/s: 1,500 publications, 150 subscriptions, 300 contexts",
        "450 notifications, 35/s; 150 rejected",
        "frontier 149; 4 waiting in the shards",
    ]
    assert Totals().summary(1.0) == "0 records in 0 batches and 1.0 s, 0/s: 0 publications, 0 subscriptions, 0 contexts"


def written(folder, publications):
    job.LogWriter(folder, 1).close()
    job.append(folder, SUBSCRIPTIONS, 0, [encode(Subscribed(1, "u", "car", "s", "true", None, ()))])
    job.append(
        folder, PUBLICATIONS, 0,
        [encode(Published(2 + i, "p", "p", 1 + i, {}, {}, {}, None, None)) for i in range(publications)],
    )  # fmt: skip


@pytest.mark.spark
def test_every_batch_of_a_query_is_told_by_its_topics(spark, tmp_path):
    written(tmp_path / "log", 5)
    job.drain(tmp_path / "log")
    lines = []
    with watching(spark, lines.append, ends_of_log(tmp_path / "log")) as watch:
        query = job.start(spark, tmp_path / "log", job.Options(tmp_path / "checkpoint", batch=2))
        try:
            query.processAllAvailable()
        finally:
            query.stop()
    assert watch.totals.batches == len(lines) == 3
    assert watch.totals.records == {PUBLICATIONS: 6, SUBSCRIPTIONS: 2, CONTEXTS: 1}
    assert watch.totals.observed == {"notifications": 5, "rejected": 0}
    assert watch.summary().splitlines()[2] == "frontier at the end; 0 waiting in the shards"
    assert [int(re.search(r"([\d,]+) bytes behind", each)[1]) > 0 for each in lines] == [True, True, False]


@pytest.mark.spark
def test_the_command_tells_a_summary_and_lines_if_asked(tmp_path):
    written(tmp_path / "log", 3)
    command = [sys.executable, "-m", "silbo", "stream", "--log", str(tmp_path / "log"), "--checkpoint",
               str(tmp_path / "c"), "--drain", "--progress"]  # fmt: skip
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert re.search(rf"^batch 0: {4 + len(INPUTS)} records in [\d,]+ ms", told, re.MULTILINE)
    assert re.search(
        r"^7 records in 1 batch and [\d.]+ s, .*: 4 publications, 2 subscriptions, 1 contexts$", told, re.MULTILINE
    )


@pytest.mark.spark
def test_an_interrupted_job_ends_with_its_summary_and_without_complaints(tmp_path):
    """Ctrl-C goes to all processes of a terminal's job, as here."""
    folder = tmp_path / "log"
    written(folder, 3)
    for topic in INPUTS:
        job.append(folder, topic, 0, [encode(Tick(100))])
    command = [sys.executable, "-m", "silbo", "stream", "--log", str(folder), "--checkpoint", str(tmp_path / "c")]
    with subprocess.Popen(
        [*command, "--progress"], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        told = iter(running.stderr)
        is_told = any(each.startswith("batch 0: 7 records") for each in told)
        os.killpg(running.pid, signal.SIGINT)
        rest = "".join(told)
    assert is_told
    assert running.returncode == 0
    assert rest.startswith("7 records in 1 batch and ")
    assert rest.endswith("\nfrontier 100; 0 waiting in the shards\n")
    assert not re.search("error|traceback", rest, re.IGNORECASE)
    assert len(job.notifications(folder)) == 3
