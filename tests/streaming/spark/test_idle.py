"""`--idle` on real Spark: after a time, publications no longer wait for silent partitions."""

from silbo.streaming.local import log_job, log_records
from silbo.streaming.local.log import LogWriter, append, read_all
from silbo.streaming.spark import job
from silbo.streaming.topics import CONTEXTS, NOTIFICATIONS, PUBLICATIONS, REJECTED, SUBSCRIPTIONS
from silbo.wire.records import ContextRecord, PublicationRecord, SubscriptionRecord, decode, encode

SUBSCRIBED = SubscriptionRecord(100, "u", "car", "s", "true", None, ())


def published(time):
    return PublicationRecord(time, "p", "camera", time, {}, {}, {}, None, None)


def test_publications_pass_a_silent_topic_and_a_late_record_is_rejected(spark, tmp_path):
    folder = tmp_path / "log"
    LogWriter(folder, 1).close()
    append(folder, SUBSCRIPTIONS, 0, [encode(SUBSCRIBED)])
    append(folder, PUBLICATIONS, 0, [encode(published(200))])
    options = job.Options(tmp_path / "checkpoint", idle=2.0)
    for _ in range(2):  # the second run restores the silence from the checkpoint
        query = log_job.start(spark, folder, options)
        try:
            wait_for(query, folder, NOTIFICATIONS)
        finally:
            query.stop()
    append(folder, CONTEXTS, 0, [encode(ContextRecord(150, "u", {"x": 1.0}))])
    query = log_job.start(spark, folder, options)
    try:
        wait_for(query, folder, REJECTED)
        job.wait_until_matched(query, options)
    finally:
        query.stop()
    (rejected,) = map(decode, read_all(folder, REJECTED, 0))
    assert (rejected.topic, rejected.offset) == (CONTEXTS, 0)
    assert [each.time for each in log_records.notifications(folder)] == [200]


def wait_for(query, folder, topic):
    """Wait until the job has written something to a topic."""
    for _ in range(600):
        if list(read_all(folder, topic, 0)):
            return
        assert not query.awaitTermination(0.1)
    raise AssertionError(f"the job wrote nothing to {topic}: {query.lastProgress}")
