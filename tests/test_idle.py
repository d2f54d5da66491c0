"""Partitions that are silent for some seconds of beats do not hold the frontier: the step alone, and on Spark."""

import json
import random
from itertools import count

import pytest

import silbo
from silbo.broker.fold import Fold
from silbo.streaming import checkpoint, job
from silbo.streaming.columns import Columns
from silbo.streaming.idle import BEAT
from silbo.streaming.log import read_all
from silbo.streaming.records import ContextIs, Published, Subscribed, Tick, decode, encode
from silbo.streaming.routing import Router
from silbo.streaming.sending import Sender
from silbo.streaming.snapshots import pack, pack_delta, restored
from silbo.streaming.step import Settings, State, step
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS, PUBLICATIONS, REJECTED, SUBSCRIPTIONS
from silbo.testing import generate_log

SECOND = 1_000_000
LATENESS = 10
EXPECTED = tuple((topic, 0) for topic in INPUTS)
SUBSCRIBED = Subscribed(100, "u", "car", "s", "true", None, ())


def published(time):
    return Published(time, "p", "camera", time, {}, {}, {}, None, None)


class Shard:
    """One shard that waits three seconds; `forget` makes its state anew from what was kept of it."""

    def __init__(self, idle=3 * SECOND):
        self.settings = Settings("strict", LATENESS, EXPECTED, idle=idle)
        self.state = State(self.settings)
        self.chunks, self.deltas, self.offsets = [], [], {}

    def batch(self, **records):
        """Records by topic's last name, `beats` in seconds; the times notified, and the reasons of what was rejected."""
        router, chunks = Router(1), []
        for name, values in records.items():
            partition = BEAT if name == "beats" else (f"silbo.{name}", 0)
            made = [Tick(beat * SECOND) for beat in values] if name == "beats" else values
            first = self.offsets.get(partition, 0)
            self.offsets[partition] = first + len(made)
            chunks += [chunk for _, chunk in router.chunks(*partition, enumerate(map(encode, made), first))]
        outcome = step(self.state, Columns(chunks))
        self.deltas.append(pack_delta(outcome.delta))
        return [each.time for each in outcome.notifications], [each.reason for each in outcome.rejected]

    def fold(self):
        self.chunks, self.deltas = list(pack(self.state)), []

    def forget(self):
        self.state = restored(self.settings, self.chunks, self.deltas)


@pytest.mark.parametrize("kept", ["in the cache", "as deltas", "as a snapshot", "as both"])
def test_a_silent_topic_holds_publications_for_the_idle_seconds_and_no_longer(kept):
    """The contexts say nothing at all; the state is kept in every way that there is."""
    shard = Shard()

    def batch(**records):
        found = shard.batch(**records)
        if kept in ("as a snapshot", "as both") and (
            kept != "as both" or random.Random(len(shard.deltas)).random() < 0.5
        ):
            shard.fold()
        if kept != "in the cache":
            shard.forget()
        return found

    batch(subscriptions=[SUBSCRIBED], publications=[published(200)], beats=[1_000])
    assert batch(subscriptions=[Tick(500)], publications=[Tick(500)], beats=[1_001, 1_002]) == ([], [])
    assert batch(subscriptions=[Tick(600)], publications=[published(650)], beats=[1_003]) == ([200], [])
    assert batch(subscriptions=[Tick(700)], publications=[Tick(700)], beats=[1_004]) == ([650], [])


def test_without_idle_a_silent_topic_holds_publications_for_ever():
    shard = Shard(idle=None)
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200)])
    assert shard.batch(subscriptions=[Tick(10**9)], publications=[Tick(10**9)]) == ([], [])


def test_when_all_are_silent_everything_that_waits_goes():
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200), published(201)], beats=[1])
    assert shard.batch(beats=[2, 3]) == ([], [])
    assert shard.batch(beats=[4]) == ([200, 201], [])
    assert shard.batch(publications=[published(202)]) == ([], [])  # heard at the fourth second
    assert shard.batch(beats=[5, 6]) == ([], [])
    assert shard.batch(beats=[7]) == ([202], [])


def test_silence_is_counted_from_the_first_beat():
    """However long the clock had been running, and whatever came before it."""
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200)])
    assert shard.batch(beats=[10**6]) == ([], [])
    assert shard.batch(beats=[10**6 + 2]) == ([], [])
    assert shard.batch(beats=[10**6 + 3]) == ([200], [])


def generated(seed):
    """Batches of a generated log, each topic a partition: all of them are silent now and then, and late after that."""
    chance, times, topics = random.Random(seed), count(1), {topic: [] for topic in INPUTS}
    sender = Sender(lambda topic, _, record: topics[topic].append(record), lambda: next(times))
    Fold(sender).apply(generate_log(seed, 600), lambda *_: None)
    for beat in range(1, 10**6):
        if not any(topics.values()):
            return
        speaking = [topic for topic in INPUTS if chance.random() < 0.4]
        batch = {topic.partition(".")[2]: topics[topic][:15] for topic in speaking}
        for topic in speaking:
            del topics[topic][:15]
        yield {**batch, "beats": [beat]} if chance.random() < 0.8 else batch


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_state_made_anew_finds_the_same_silence_and_the_same_late_records(seed):
    cached, forgetful, chance = Shard(), Shard(), random.Random(seed)
    rejected = 0
    for batch in generated(seed):
        found = cached.batch(**batch)
        assert forgetful.batch(**batch) == found
        rejected += len(found[1])
        if chance.random() < 0.3:
            forgetful.fold()
        forgetful.forget()
        assert forgetful.state.frontier.silence() == cached.state.frontier.silence()
        assert forgetful.state.frontier.marks == cached.state.frontier.marks
    assert rejected


@pytest.mark.parametrize("forgotten", [False, True])
def test_a_record_behind_the_frontier_is_rejected_and_changes_nothing(forgotten):
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200)], beats=[1])
    shard.batch(subscriptions=[Tick(500)], publications=[Tick(500)], beats=[4])
    if forgotten:
        shard.fold()
        shard.forget()
    late = ContextIs(300, "u", {"x": 1.0})
    notified, (reason,) = shard.batch(contexts=[late])
    assert not notified
    assert reason == (
        "its time 300 lies behind the frontier, which has passed 490: nobody waited for its partition any longer."
    )
    assert not shard.state.core.contexts.at(shard.state.peers["u"].row)
    in_time = ContextIs(495, "u", {"x": 2.0})
    assert shard.batch(contexts=[in_time], publications=[published(510)]) == ([], [])
    assert shard.batch(**{name: [Tick(900)] for name in ("contexts", "subscriptions", "publications")}) == ([510], [])
    assert shard.state.core.contexts.at(shard.state.peers["u"].row) == {"x": 2.0}


def test_a_partition_that_speaks_again_holds_the_frontier_and_does_not_turn_it_back():
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[Tick(500)], beats=[1])
    shard.batch(subscriptions=[Tick(500)], publications=[Tick(500)], beats=[4])
    assert shard.state.frontier.time == 490
    shard.batch(contexts=[Tick(300)])
    assert shard.state.frontier.time == 490
    assert shard.batch(subscriptions=[Tick(800)], publications=[published(600), Tick(800)], beats=[5]) == ([], [])
    assert shard.batch(contexts=[Tick(700)]) == ([600], [])


def test_what_is_no_record_is_no_sign_of_life():
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200)], beats=[1])
    shard.batch(beats=[3])
    ((_, chunk),) = Router(1).chunks(CONTEXTS, 0, [(0, b"nonsense")])
    step(shard.state, Columns([chunk]))
    assert shard.batch(subscriptions=[Tick(500)], publications=[Tick(500)], beats=[4]) == ([200], [])


def test_the_order_of_arrival_waits_for_nobody():
    with pytest.raises(silbo.SilboError, match="waits for nobody"):
        silbo.streaming.match(None, None, None, order="arrival", idle=1.0)


def test_a_checkpoint_keeps_whether_silent_partitions_are_waited_for(tmp_path):
    partitions = dict.fromkeys(INPUTS, 1)
    job.check(job.Options(tmp_path), partitions, "log")
    with pytest.raises(silbo.SilboError, match=r"idle: .* was made with None, not 2.0"):
        job.check(job.Options(tmp_path, idle=2.0), partitions, "log")
    made = json.loads((tmp_path / checkpoint.FILE).read_text())
    del made["idle"]  # as one that was made before there was a choice
    (tmp_path / checkpoint.FILE).write_text(json.dumps(made))
    job.check(job.Options(tmp_path), partitions, "log")


@pytest.mark.spark
def test_on_spark_a_silent_topic_lets_publications_pass_and_a_late_record_is_rejected(spark, tmp_path):
    folder = tmp_path / "log"
    job.LogWriter(folder, 1).close()
    job.append(folder, SUBSCRIPTIONS, 0, [encode(SUBSCRIBED)])
    job.append(folder, PUBLICATIONS, 0, [encode(published(200))])
    options = job.Options(tmp_path / "checkpoint", idle=2.0)
    for _ in range(2):  # the second time from the checkpoint, which holds the silence
        query = job.start(spark, folder, options)
        try:
            wait_for(query, folder, NOTIFICATIONS)
        finally:
            query.stop()
    job.append(folder, CONTEXTS, 0, [encode(ContextIs(150, "u", {"x": 1.0}))])
    query = job.start(spark, folder, options)
    try:
        wait_for(query, folder, REJECTED)
        job.work_off(query, options)
    finally:
        query.stop()
    (rejected,) = map(decode, read_all(folder, REJECTED, 0))
    assert (rejected.topic, rejected.offset) == (CONTEXTS, 0)
    assert [each.time for each in job.notifications(folder)] == [200]


def wait_for(query, folder, topic):
    """Until the job has written something to a topic."""
    for _ in range(600):
        if list(read_all(folder, topic, 0)):
            return
        assert not query.awaitTermination(0.1)
    raise AssertionError(f"nothing came to {topic}: {query.lastProgress}")
