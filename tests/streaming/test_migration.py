"""Refusals of checkpoints and of migrations, which need no Spark."""

import json

import pytest

import silbo
from silbo.streaming.spark import checkpoint, job, migration
from silbo.streaming.topics import CONTEXTS, INPUTS

PARTITIONS = dict.fromkeys(INPUTS, 3)


def test_a_refusal_names_the_command_with_all_settings_of_the_checkpoint(tmp_path):
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
def test_settings_that_cannot_be_migrated_are_refused_without_a_command(tmp_path, changed, partitions, source):
    old, new = tmp_path / "old", tmp_path / "new"
    job.check(job.Options(old), PARTITIONS, "log")
    counts = {**PARTITIONS, CONTEXTS: partitions}
    wanted = job.job_settings(job.Options(old, shards=3, **changed), counts, source)
    for refusing in (lambda: checkpoint.check(old, wanted), lambda: migration.migrate(None, old, new, wanted)):
        with pytest.raises(silbo.SilboError, match="from its beginning with a new checkpoint"):
            refusing()
    assert not new.exists()


@pytest.mark.parametrize("content", ["", "{", "[1, 2]"])
def test_a_checkpoint_whose_settings_are_damaged_is_refused_with_the_file(tmp_path, content):
    checkpoint.check(tmp_path, job.job_settings(job.Options(tmp_path), PARTITIONS, "log"))
    (tmp_path / checkpoint.FILE).write_text(content)
    with pytest.raises(silbo.InvalidValue, match=r"checkpoint: .*silbo\.json is damaged"):
        job.check(job.Options(tmp_path), PARTITIONS, "log")


def test_offsets_are_read_from_the_last_committed_batch_and_not_from_a_damaged_one(tmp_path):
    for name in ("offsets", "commits"):
        (tmp_path / name).mkdir()
    for batch, end in enumerate((5, 12, 30)):
        (tmp_path / "offsets" / str(batch)).write_text(f'v1\n{{}}\n{{"city.contexts":{{"0":{end}}}}}\n7\n-\n')
    for batch in (0, 1):
        (tmp_path / "commits" / str(batch)).write_text("v1\n{}")
    assert migration.read_to(tmp_path) == {"city.contexts": {"0": 12}}
    (tmp_path / "offsets" / "1").write_text("v1\n{}\n{garbage\n")
    assert migration.read_to(tmp_path) == {}


def test_only_a_used_checkpoint_is_migrated_and_only_to_a_new_folder(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    wanted = job.job_settings(job.Options(old, shards=3), PARTITIONS, "log")
    with pytest.raises(silbo.SilboError, match="is not a checkpoint of silbo"):
        migration.migrate(None, old, new, wanted)
    job.check(job.Options(old), PARTITIONS, "log")
    with pytest.raises(silbo.SilboError, match="no batch was ever completed"):
        migration.migrate(None, old, new, wanted)
    assert not new.exists()
    new.mkdir()
    with pytest.raises(silbo.SilboError, match=r"exists\. Name a folder"):
        migration.migrate(None, old, new, wanted)


def test_a_state_in_another_format_is_refused(tmp_path):
    job.check(job.Options(tmp_path), PARTITIONS, "log")
    path = tmp_path / checkpoint.FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "state": 2}))
    with pytest.raises(silbo.SilboError, match="has a state of format 2, and this silbo reads format 1"):
        job.check(job.Options(tmp_path), PARTITIONS, "log")
