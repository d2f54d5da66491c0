"""A stopped job's state in a new checkpoint, on real Spark: other shards, more partitions, the oracle's notifications."""

import json
import os
import shlex
from itertools import count

import pytest
from kafka.admin import KafkaAdminClient

import silbo
from silbo.broker.fold import Fold
from silbo.cli import main
from silbo.streaming import checkpoint, job, kafka_job, migration
from silbo.streaming.kafka import KafkaWriter, create_topics, named, values
from silbo.streaming.log import create, partition_file, read_all
from silbo.streaming.records import ContextIs, Tick, decode, encode
from silbo.streaming.sending import Sender
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS, PUBLICATIONS, REJECTED
from silbo.testing import assert_agrees, generate_log

PARTITIONS = dict.fromkeys(INPUTS, 3)


def run(query):
    try:
        query.processAllAvailable()
    finally:
        query.stop()


def grow(address, topic, partitions):
    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_partitions({topic: partitions})
    admin.close()


def refused(options, folder):
    """The command that the refusal names."""
    with pytest.raises(silbo.SilboError, match="migrate it: silbo ") as error:
        job.check(options, *job.source_of(folder))
    return shlex.split(error.value.line.partition("migrate it: silbo ")[2])


@pytest.mark.spark
def test_a_job_that_was_migrated_by_the_commands_gives_the_oracles_notifications(spark, tmp_path, capfd):
    """Half of a log with 2 shards; the refusal's command; the command that this prints, to the end with 3 shards."""
    log, folder, old = generate_log(11, 1_000), tmp_path / "log", tmp_path / "checkpoint"
    writer, times = job.LogWriter(folder, 3), count(1)
    fold = Fold(Sender(writer.send, lambda: next(times)))
    fold.apply(log[:500], lambda *_: None)
    writer.flush()
    run(job.start(spark, folder, job.Options(old, batch=60)))
    fold.apply(log[500:], lambda *_: None)
    writer.close()
    before = len(list(read_all(folder, NOTIFICATIONS, 0)))
    assert before
    assert main(refused(job.Options(old, shards=3), folder)) == 0
    program, *command = shlex.split(capfd.readouterr().out.splitlines()[-1])
    assert program == "silbo"
    assert main([*command, "--drain", "--batch", "60"]) == 0
    assert_agrees(log, job.notifications(folder))
    # what was matched before is not matched again: the new job went on where the old one was
    assert len(list(read_all(folder, NOTIFICATIONS, 0))) == len(job.notifications(folder)) > before


@pytest.mark.spark
def test_a_partition_that_came_with_the_migration_is_read_from_its_beginning(spark, tmp_path):
    folder, old, new, third = (tmp_path / name for name in ("log", "old", "new", "third"))
    job.LogWriter(folder, 1).close()
    for topic in INPUTS:
        job.append(folder, topic, 0, [encode(Tick(100))])
    run(job.start(spark, folder, job.Options(old)))
    create(folder, CONTEXTS, 2)
    job.append(folder, CONTEXTS, 1, [encode(ContextIs(time, "u", {"x": 1.0})) for time in (99, 100)])
    with pytest.raises(silbo.SilboError, match="was made with 1, not 2"):
        job.start(spark, folder, job.Options(old))
    migration.migrate(spark, old, new, job.wanted(job.Options(new), *job.source_of(folder)))
    # a migrated checkpoint can be migrated, also before its first batch
    migration.migrate(spark, new, third, job.wanted(job.Options(third, shards=1), *job.source_of(folder)))
    run(job.start(spark, folder, job.Options(third, shards=1)))
    rejected = [decode(value) for value in read_all(folder, REJECTED, 0)]
    assert [(each.partition, each.offset) for each in rejected] == [(1, 0)]


@pytest.mark.spark
def test_a_batch_that_was_begun_and_not_committed_is_matched_by_the_new_job(spark, tmp_path):
    """The old job died in the middle of its last output: repeats are equal, nothing is lost."""
    log, folder, old, new = generate_log(12, 400), *(tmp_path / name for name in ("log", "old", "new"))
    writer, times = job.LogWriter(folder, 3), count(1)
    fold = Fold(Sender(writer.send, lambda: next(times)))
    fold.apply(log[:200], lambda *_: None)
    writer.flush()
    run(job.start(spark, folder, job.Options(old)))
    output = partition_file(folder, NOTIFICATIONS, 0)
    before = output.stat().st_size
    fold.apply(log[200:], lambda *_: None)
    writer.close()
    job.drain(folder)
    run(job.start(spark, folder, job.Options(old)))
    os.truncate(output, (before + output.stat().st_size) // 2)
    last = max((old / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)
    migration.migrate(spark, old, new, job.wanted(job.Options(new, shards=3), *job.source_of(folder)))
    run(job.start(spark, folder, job.Options(new, shards=3, batch=30)))
    made = list(read_all(folder, NOTIFICATIONS, 0))
    assert len(made) > len(set(made)) == len(job.notifications(folder))
    assert_agrees(log, job.notifications(folder))


@pytest.mark.spark
def test_a_job_over_kafka_goes_on_with_other_shards_and_more_partitions(spark, kafka, tmp_path):
    log, prefix, old, new = generate_log(13, 600), "silbo-migration", tmp_path / "old", tmp_path / "new"
    create_topics(kafka.address, 2, prefix)
    writer, times = KafkaWriter(kafka.address, prefix), count(1)
    fold = Fold(Sender(lambda *sent: writer.send(*sent), lambda: next(times)))  # noqa: PLW0108  # another writer follows
    fold.apply(log[:300], lambda *_: None)
    writer.close()
    run(kafka_job.start(spark, kafka.address, job.Options(old), prefix))
    grow(kafka.address, named(PUBLICATIONS, prefix), 4)
    writer = KafkaWriter(kafka.address, prefix)
    fold.apply(log[300:], lambda *_: None)
    writer.drain()
    writer.close()
    source = kafka_job.source_of(kafka.address, prefix)
    migration.migrate(spark, old, new, job.wanted(job.Options(new, shards=1), *source))
    run(kafka_job.start(spark, kafka.address, job.Options(new, shards=1), prefix))
    found = list(values(kafka.address, NOTIFICATIONS, prefix))
    assert len(found) == len(job.in_order(found))
    assert_agrees(log, job.in_order(found))


# what is refused, without Spark


def test_a_refusal_names_the_command_with_all_that_the_checkpoint_was_made_with(tmp_path):
    old = tmp_path / "old"
    options = job.Options(old, order="arrival", lateness=1.5)
    job.check(options, PARTITIONS, "kafka://localhost:9092/city")
    more = {**PARTITIONS, CONTEXTS: 4}
    with pytest.raises(silbo.SilboError) as error:
        job.check(options, more, "kafka://localhost:9092/city")
    assert error.value.line.endswith(
        "silbo stream --kafka localhost:9092 --prefix city --order arrival --lateness 1.5 --shards 2"
        f" --checkpoint {old} --migrate {old}.migrated"
    )


@pytest.mark.parametrize(
    ("changed", "partitions", "source"),
    [({"order": "arrival"}, 3, "log"), ({"lateness": 1.0}, 3, "log"), ({}, 2, "log"), ({}, 3, "another")],
)
def test_what_cannot_be_migrated_is_refused_without_that_command(tmp_path, changed, partitions, source):
    old, new = tmp_path / "old", tmp_path / "new"
    job.check(job.Options(old), PARTITIONS, "log")
    counts = {**PARTITIONS, CONTEXTS: partitions}
    wanted = job.wanted(job.Options(old, shards=3, **changed), counts, source)
    for refusing in (lambda: checkpoint.check(old, wanted), lambda: migration.migrate(None, old, new, wanted)):
        with pytest.raises(silbo.SilboError, match="from its beginning with a new checkpoint"):
            refusing()
    assert not new.exists()


def test_only_a_checkpoint_with_something_in_it_is_migrated_and_only_to_a_new_folder(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    wanted = job.wanted(job.Options(old, shards=3), PARTITIONS, "log")
    with pytest.raises(silbo.SilboError, match="is no checkpoint of silbo's"):
        migration.migrate(None, old, new, wanted)
    job.check(job.Options(old), PARTITIONS, "log")
    with pytest.raises(silbo.SilboError, match="no batch was ever done"):
        migration.migrate(None, old, new, wanted)
    assert not new.exists()
    new.mkdir()
    with pytest.raises(silbo.SilboError, match="is there already"):
        migration.migrate(None, old, new, wanted)


def test_a_state_of_another_form_is_refused(tmp_path):
    job.check(job.Options(tmp_path), PARTITIONS, "log")
    path = tmp_path / checkpoint.FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "state": 2}))
    with pytest.raises(silbo.SilboError, match="in the form 2, and this silbo reads 1"):
        job.check(job.Options(tmp_path), PARTITIONS, "log")
