"""Workers of one executor: one holds a shard's state, the others pass their batches on to it."""

import os
import pickle
import select
import subprocess
import sys

import pytest

from silbo.streaming import holding
from silbo.streaming.records import Published, Subscribed, decode, encode
from silbo.streaming.routing import Router
from silbo.streaming.shard import Sizes
from silbo.streaming.step import Settings, State
from silbo.streaming.topics import PUBLICATIONS, SUBSCRIPTIONS

SECONDS = 120  # that a process may take to start on a busy machine
KEY = "job", 0


def work(batches, answers):
    """A worker: batches come with the token of Spark's state, as Spark would give them."""
    while True:
        token, chunks = pickle.load(batches)
        restored = []

        def restore(made=restored):
            made.append(True)
            return State(Settings(order="arrival"))

        answer, new_token, is_hit = holding.advanced(KEY, token, chunks, Sizes(), restore)
        pickle.dump((new_token, is_hit, bool(restored), [value for _, _, value in answer.output]), answers)
        answers.flush()


class Worker:
    """A process like those that Spark starts: all of them have one parent."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, token, chunk):
        """A chunk, and what is answered."""
        pickle.dump((token, [chunk]), self.process.stdin)
        self.process.stdin.flush()
        assert select.select([self.process.stdout], [], [], SECONDS)[0]
        return pickle.load(self.process.stdout)

    def end(self):
        self.process.kill()
        self.process.communicate()

    def batch(self, token, topic, record):
        """The new token, whether the state was held, whether it was made anew, and the sequences notified."""
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
    return PUBLICATIONS, Published(sequence, "p", "p", sequence, {}, {}, {}, None, None)


SUBSCRIBED = SUBSCRIPTIONS, Subscribed(1, "u", "car", "s", "true", None, ())


def test_a_batch_is_passed_on_to_the_worker_that_holds_the_state(workers):
    one, other = workers
    token, *first = one.batch("", *SUBSCRIBED)
    assert first == [False, True, []]
    token, *passed_on = other.batch(token, *published(2))
    assert passed_on == [True, False, [2]]
    _, *at_home = one.batch(token, *published(3))
    assert at_home == [True, False, [3]]


def test_a_state_whose_token_is_not_the_last_is_thrown_away(workers):
    """An attempt that failed moved the state on; what Spark has is older, and counts."""
    one, other = workers
    token, *_ = one.batch("", *SUBSCRIBED)
    one.batch(token, *published(2))
    _, *again = other.batch(token, *published(2))
    assert again == [False, True, []]  # made anew: here from nothing, so nobody is subscribed


def test_who_holds_a_state_may_die(workers):
    one, other = workers
    token, *_ = one.batch("", *SUBSCRIBED)
    one.end()
    _, *found = other.batch(token, *published(2))
    assert found == [False, True, []]


def test_a_batch_that_cannot_be_matched_stops_nobody_who_asks_later(workers):
    one, other = workers
    token, *_ = one.batch("", *SUBSCRIBED)
    with pytest.raises(EOFError):  # it is passed on, fails there, is tried here, and ends the worker as Spark's would
        other.send(token, b"nonsense")
    token, *_ = one.batch(token, *published(2))  # made anew: what failed is thrown away
    third = Worker()
    try:
        _, *found = third.batch(token, *published(3))
    finally:
        third.end()
    assert found == [True, False, []]


def test_what_dead_executors_left_behind_is_swept_away(tmp_path, monkeypatch):
    monkeypatch.setattr(holding.tempfile, "gettempdir", lambda: str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, alive = (tmp_path / f"silbo-{os.getuid()}-{pid}" for pid in (ended.pid, os.getpid()))
    for folder in (dead, alive):
        folder.mkdir()
    holding._sweep()
    assert alive.exists()
    assert not dead.exists()


if __name__ == "__main__":
    work(sys.stdin.buffer, sys.stdout.buffer)
