"""The stderr of silbo's commands on real Spark: empty if all is well, one cause if a job fails."""

import json

from silbo.cli import main
from silbo.streaming.local.log import LogWriter, partition_file
from silbo.streaming.topics import SUBSCRIPTIONS

LOG = [
    {"event": "advertise", "session": "cam", "id": "a", "filter": "true"},
    {"event": "subscribe", "session": "car", "id": "s", "filter": "n > 1"},
    {"event": "publish", "session": "cam", "attributes": {"n": 1}},
    {"event": "publish", "session": "cam", "attributes": {"n": 2}},
]


def test_a_replay_on_spark_without_refusals_writes_nothing_to_stderr(spark, tmp_path, capfd):
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(event) + "\n" for event in LOG))
    capfd.readouterr()
    assert main(["replay", str(log), "--engine", "stream"]) == 0
    written = capfd.readouterr()
    assert [json.loads(line)["sequence"] for line in written.out.splitlines()] == [2]
    assert written.err == ""


def test_a_job_that_fails_prints_its_cause_in_one_line_and_exits_with_status_1(spark, tmp_path, capfd):
    folder = tmp_path / "log"
    LogWriter(folder, 1).close()
    partition_file(folder, SUBSCRIPTIONS, 0).write_bytes(b"\xff" * 8)
    capfd.readouterr()
    assert main(["stream", "--log", str(folder), "--checkpoint", str(tmp_path / "c"), "--once"]) == 1
    ready, cause, advice = capfd.readouterr().err.splitlines()
    assert ready.startswith("ready: ")
    assert cause.startswith("silbo: the job failed: log: ")
    assert cause.endswith("no record begins at 0. The file is damaged, or no log of silbo.")
    assert "SILBO_VERBOSE=1" in advice
