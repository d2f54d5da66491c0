"""The progress of a job: a line for each batch, and a summary of all batches."""

import json
from datetime import datetime
from types import SimpleNamespace

import pytest
from pyspark.sql import Row

from silbo.streaming.bulk.order import NEVER
from silbo.streaming.local.log import LogWriter, append
from silbo.streaming.local.log_job import ends_of_log
from silbo.streaming.spark.progress import Totals, Watch, batch_of, line, time_text
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS
from silbo.wire.records import LAST, TickRecord, encode

# in the local time zone
NOON = int(datetime(2026, 11, 17, 12, 0, 0, 120_000).timestamp() * 1_000_000)  # noqa: DTZ001


def source(rows, end, latest):
    return {"numInputRows": rows, "endOffset": as_text(end), "latestOffset": as_text(latest)}


def as_text(offsets):
    return "None" if offsets is None else json.dumps(offsets)


def progress(number=12, rows=(4_000, 0, 3), **observed):
    """A batch as Spark reports it, over Kafka, with the clock's beats after the three topics."""
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


def test_a_line_describes_a_batch():
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
    nothing = dict.fromkeys(seen)  # the metrics of a batch in which no shard had records
    assert line(batch_of(progress(**nothing))).endswith("; 0 notifications; 1,200 behind")
    assert line(batch_of(progress(**{**seen, "waiting": 1}))).endswith("; frontier not known yet")


def test_without_metrics_of_the_matching_a_line_has_those_of_spark():
    assert line(batch_of(progress())) == "batch 12: 4,003 records in 310 ms, 12,913/s; 1,200 behind"


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (None, "not known yet"), (NEVER, "not known yet"), (LAST, "at the end"), (17, "17"), (-5, "-5"),
        (2**62, str(2**62)), (NOON, "2026-11-17 12:00:00.120"),
    ],
)  # fmt: skip
def test_a_time_is_shown_as_a_date_if_it_is_plausible(time, text):
    assert time_text(time) == text


def test_behind_counts_the_unread_bytes_of_a_log(tmp_path):
    LogWriter(tmp_path, 2).close()
    append(tmp_path, CONTEXTS, 1, [encode(TickRecord(1))])
    size = append(tmp_path, CONTEXTS, 1, [encode(TickRecord(2))])
    read = {PUBLICATIONS: {"0": 0, "1": 0}}, None, {CONTEXTS: {"0": 0, "1": size // 2}}
    sources = [source(1, each, None) for each in read]
    made = {"batchId": 0, "durationMs": {}, "sources": sources}
    assert batch_of(made, ends_of_log(tmp_path)).unread == f"{size // 2:,} bytes behind"


def test_a_job_warns_once_that_publications_wait_for_partitions_without_records():
    lines, warnings = [], []
    watch = Watch(lines.append, None, warnings.append)
    watch.onQueryStarted(SimpleNamespace(runId="r"))
    counts = {"frontier": NEVER, "waiting": 2, "notifications": 0, "rejected": 0, "partitions": 9}
    for held, silent in ((0, 6), (1, 6), (2, 5)):
        batch = progress(held=held, silent=silent, **counts)
        watch.onQueryProgress(SimpleNamespace(progress=Progress(batch)))
    assert warnings == ["1 publication waits: no records yet in 6 of 9 partitions (--tick, --idle, --order arrival)"]
    assert len(lines) == 3


class Progress(dict):
    """A report of Spark: a mapping with the run as its attribute."""

    runId = "r"  # noqa: N815  # Spark's name


def test_the_summary_has_all_batches():
    totals = Totals()
    for number in range(150):
        totals.add(batch_of(progress(number, (10, 1, 2), frontier=number, waiting=4, notifications=3, rejected=1)))
    assert totals.summary(13.0).splitlines() == [
        (
            "1,950 records in 150 batches and 13.0 s, 150/s; "
            "by topic, ticks included: publications 1,500, subscriptions 150, contexts 300"
        ),
        "450 notifications, 35/s; 150 rejected",
        "frontier 149; 4 waiting in the shards",
    ]
    assert (
        Totals().summary(1.0).startswith("0 records in 0 batches and 1.0 s; by topic, ticks included: publications 0")
    )


@pytest.mark.parametrize(
    ("held", "silent", "text"),
    [
        (1, 6, "1 publication waits: no records yet in 6 of 9 partitions (--tick, --idle, --order arrival)"),
        (2_000, 0, "2,000 publications wait for the slowest partition (--tick, --idle, --order arrival)"),
    ],
)
def test_the_line_and_the_summary_say_what_publications_wait_for(held, silent, text):
    seen = {"frontier": NEVER, "waiting": held + 1, "notifications": 0, "rejected": 0}
    batch = batch_of(progress(**seen, held=held, silent=silent, partitions=9))
    totals = Totals()
    totals.add(batch)
    assert line(batch).endswith(f"; frontier not known yet; {text}")
    assert totals.summary(1.0).endswith(f"\n{text}")
