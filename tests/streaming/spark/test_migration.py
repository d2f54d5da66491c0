"""Migration of a stopped job to a new checkpoint, on real Spark, with other shards and more partitions."""

import os
import shlex
from itertools import count

import pytest
from kafka.admin import KafkaAdminClient

import silbo
from silbo.cli import main
from silbo.streaming.bulk.output import notifications_in_order
from silbo.streaming.bulk.sender import sending
from silbo.streaming.kafka import kafka_job
from silbo.streaming.kafka.client import KafkaWriter, create_topics, named, values
from silbo.streaming.local import log_job, log_records
from silbo.streaming.local.log import LogWriter, append, create, partition_file, partition_of, read_all
from silbo.streaming.spark import job, migration
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS, PUBLICATIONS, REJECTED
from silbo.testing import assert_agrees, generate_log
from silbo.wire.records import ContextRecord, TickRecord, decode, encode


def run(query):
    try:
        query.processAllAvailable()
    finally:
        query.stop()


def grow(address, topic, partitions):
    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_partitions({topic: partitions})
    admin.close()


def tick(writer, time, partitions):
    """Send a tick to every partition, so that the frontier passes `time` whichever partitions the sessions are in."""
    for number in range(partitions):
        key = next(key for key in map(str, count()) if partition_of(key, partitions) == number)
        for topic in INPUTS:
            writer.send(topic, key, TickRecord(time))


def refused(options, folder):
    """The arguments of the command that the refusal names."""
    with pytest.raises(silbo.SilboError, match="migrate it: silbo ") as error:
        job.check(options, *log_job.source_of(folder))
    return shlex.split(error.value.line.partition("migrate it: silbo ")[2])


def test_a_job_migrated_with_the_printed_commands_gives_the_oracles_notifications(spark, tmp_path, capfd):
    """Match half of a log with 2 shards, migrate with the refusal's command, and run the command that it prints."""
    log, folder, old = generate_log(11, 400), tmp_path / "log", tmp_path / "checkpoint"
    writer, times = LogWriter(folder, 3), count(1)
    fold = sending(writer.send, lambda: next(times))
    fold.apply(log[:150], lambda *_: None)
    tick(writer, next(times), 3)
    fold.apply(log[150:200], lambda *_: None)
    writer.flush()
    run(log_job.start(spark, folder, job.Options(old, batch=60)))
    fold.apply(log[200:], lambda *_: None)
    writer.close()
    before = len(list(read_all(folder, NOTIFICATIONS, 0)))
    assert before
    assert main(refused(job.Options(old, shards=3), folder)) == 0
    program, *command = shlex.split(capfd.readouterr().out.splitlines()[-1])
    assert program == "silbo"
    assert main([*command, "--drain", "--batch", "60"]) == 0
    assert_agrees(log, log_records.notifications(folder))
    # nothing is matched twice: the new job continued where the old one stopped
    assert len(list(read_all(folder, NOTIFICATIONS, 0))) == len(log_records.notifications(folder)) > before


def test_a_new_partition_is_read_from_its_beginning_after_the_migration(spark, tmp_path):
    folder, old, new, third = (tmp_path / name for name in ("log", "old", "new", "third"))
    LogWriter(folder, 1).close()
    for topic in INPUTS:
        append(folder, topic, 0, [encode(TickRecord(100))])
    run(log_job.start(spark, folder, job.Options(old)))
    create(folder, CONTEXTS, 2)
    append(folder, CONTEXTS, 1, [encode(ContextRecord(time, "u", {"x": 1.0})) for time in (99, 100)])
    with pytest.raises(silbo.SilboError, match="was made with 1, not 2"):
        log_job.start(spark, folder, job.Options(old))
    migration.migrate(spark, old, new, job.job_settings(job.Options(new), *log_job.source_of(folder)))
    # a migrated checkpoint can be migrated again, even before its first batch
    migration.migrate(spark, new, third, job.job_settings(job.Options(third, shards=1), *log_job.source_of(folder)))
    run(log_job.start(spark, folder, job.Options(third, shards=1)))
    rejected = [decode(value) for value in read_all(folder, REJECTED, 0)]
    assert [(each.partition, each.offset) for each in rejected] == [(1, 0)]


def test_a_batch_without_a_commit_is_matched_by_the_new_job(spark, tmp_path):
    """The old job died while it wrote its last output: repeats are equal, and nothing is lost."""
    log, folder, old, new = generate_log(12, 400), *(tmp_path / name for name in ("log", "old", "new"))
    writer, times = LogWriter(folder, 3), count(1)
    fold = sending(writer.send, lambda: next(times))
    fold.apply(log[:200], lambda *_: None)
    writer.flush()
    run(log_job.start(spark, folder, job.Options(old)))
    output = partition_file(folder, NOTIFICATIONS, 0)
    before = output.stat().st_size
    fold.apply(log[200:], lambda *_: None)
    writer.close()
    log_records.drain(folder)
    run(log_job.start(spark, folder, job.Options(old)))
    os.truncate(output, (before + output.stat().st_size) // 2)
    last = max((old / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)
    migration.migrate(spark, old, new, job.job_settings(job.Options(new, shards=3), *log_job.source_of(folder)))
    run(log_job.start(spark, folder, job.Options(new, shards=3, batch=30)))
    made = list(read_all(folder, NOTIFICATIONS, 0))
    assert len(made) > len(set(made)) == len(log_records.notifications(folder))
    assert_agrees(log, log_records.notifications(folder))


def test_a_job_over_kafka_continues_with_other_shards_and_more_partitions(spark, kafka, tmp_path):
    log, prefix, old, new = generate_log(13, 300), "silbo-migration", tmp_path / "old", tmp_path / "new"
    create_topics(kafka.address, 2, prefix)
    writer, times = KafkaWriter(kafka.address, prefix), count(1)
    fold = sending(lambda *sent: writer.send(*sent), lambda: next(times))  # noqa: PLW0108  # `writer` changes
    fold.apply(log[:150], lambda *_: None)
    writer.close()
    run(kafka_job.start(spark, kafka.address, job.Options(old), prefix))
    grow(kafka.address, named(PUBLICATIONS, prefix), 4)
    writer = KafkaWriter(kafka.address, prefix)
    fold.apply(log[150:], lambda *_: None)
    writer.drain()
    writer.close()
    source = kafka_job.source_of(kafka.address, prefix)
    migration.migrate(spark, old, new, job.job_settings(job.Options(new, shards=1), *source))
    run(kafka_job.start(spark, kafka.address, job.Options(new, shards=1), prefix))
    found = list(values(kafka.address, NOTIFICATIONS, prefix))
    assert len(found) == len(notifications_in_order(found))
    assert_agrees(log, notifications_in_order(found))
