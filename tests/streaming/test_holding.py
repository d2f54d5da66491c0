"""Workers of one executor: one holds the state of a shard, and the others pass their batches to it."""

import os
import pickle
import select
import subprocess
import sys

import pytest

from silbo.streaming.bulk.packed_step import Sizes
from silbo.streaming.bulk.routing import Router
from silbo.streaming.bulk.step import Settings, State
from silbo.streaming.spark import holding
from silbo.streaming.topics import PUBLICATIONS, SUBSCRIPTIONS
from silbo.wire.records import PublicationRecord, SubscriptionRecord, decode, encode

SECONDS = 120  # the longest time that a process may take to start on a busy machine
KEY = "job", 0


def work(batches, answers):
    """Run a worker. Each batch comes with the token of the state that Spark has."""
    while True:
        token, chunks = pickle.load(batches)
        restored = []

        def restore(made=restored):
            made.append(True)
            return State(Settings(order="arrival"))

        answer, new_token, is_hit = holding.match_batch(KEY, token, chunks, Sizes(), restore)
        values = [head + tail for _, recipients, tail in answer.output for _, head in recipients]
        pickle.dump((new_token, is_hit, bool(restored), values), answers)
        answers.flush()


class Worker:
    """A process like a worker of Spark: all of them have the same parent process."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, token, chunk):
        """Send a chunk to the worker and return the answer."""
        pickle.dump((token, [chunk]), self.process.stdin)
        self.process.stdin.flush()
        assert select.select([self.process.stdout], [], [], SECONDS)[0]
        return pickle.load(self.process.stdout)

    def end(self):
        self.process.kill()
        self.process.communicate()

    def batch(self, token, topic, record):
        """The new token, whether the state was held, whether it was restored, and the sequence numbers notified."""
        ((_, chunk),) = Router(1).chunks(topic, 0, [(0, encode(record))])
        new_token, is_hit, is_made, values = self.send(token, chunk.pack())
        return new_token, is_hit, is_made, [decode(value).sequence for value in values]


@pytest.fixture
def workers():
    made = [Worker(), Worker()]
    yield made
    for each in made:
        each.end()


def published(sequence):
    return PUBLICATIONS, PublicationRecord(sequence, "p", "p", sequence, {}, {}, {}, None, None)


SUBSCRIBED = SUBSCRIPTIONS, SubscriptionRecord(1, "u", "car", "s", "true", None, ())


def test_a_batch_is_passed_to_the_worker_that_holds_the_state(workers):
    one, other = workers
    token, *first = one.batch("", *SUBSCRIBED)
    assert first == [False, True, []]
    token, *passed_on = other.batch(token, *published(2))
    assert passed_on == [True, False, [2]]
    _, *at_home = one.batch(token, *published(3))
    assert at_home == [True, False, [3]]


def test_a_state_with_another_token_than_sparks_is_discarded(workers):
    """A failed attempt has changed the held state; the older state of Spark is the valid one."""
    one, other = workers
    token, *_ = one.batch("", *SUBSCRIBED)
    one.batch(token, *published(2))
    _, *again = other.batch(token, *published(2))
    assert again == [False, True, []]  # restored: here from nothing, so nobody is subscribed


def test_a_worker_that_holds_a_state_may_die(workers):
    one, other = workers
    token, *_ = one.batch("", *SUBSCRIBED)
    one.end()
    _, *found = other.batch(token, *published(2))
    assert found == [False, True, []]


def test_a_batch_that_fails_does_not_disturb_later_batches(workers):
    one, other = workers
    token, *_ = one.batch("", *SUBSCRIBED)
    with pytest.raises(EOFError):  # it fails in the holder, then here, and ends this worker, as in Spark
        other.send(token, b"nonsense")
    token, *_ = one.batch(token, *published(2))  # restored, since the failed state was discarded
    third = Worker()
    try:
        _, *found = third.batch(token, *published(3))
    finally:
        third.end()
    assert found == [True, False, []]


def test_only_folders_of_ended_executors_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(holding.tempfile, "tempdir", str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    uid, pid = os.getuid(), ended.stdout.strip()
    names = "x", "99999999999", f"{pid}9"  # the last one looks like silbo's but has no marker
    foreign = [f"silbo-{uid}-x", *(f"silbo-workers-{uid}-{name}" for name in names)]
    for name in foreign:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    alive = f"silbo-workers-{uid}-{os.getpid()}"
    for name in (*foreign[1:3], alive, f"silbo-workers-{uid}-{pid}"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / holding.MARKER).touch()
    (tmp_path / f"silbo-workers-{uid}-{pid}" / "identity-0").symlink_to("12.socket")
    holding._sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*foreign, alive])
    assert all((tmp_path / name / "file").exists() for name in foreign)


if __name__ == "__main__":
    work(sys.stdin.buffer, sys.stdout.buffer)
