"""`idle`: a partition that is silent for some seconds no longer holds the frontier. Tested without Spark."""

import json
import random
from itertools import count

import pytest

import silbo
from silbo.streaming.bulk.chunks import ShardBatch
from silbo.streaming.bulk.idle import BEAT
from silbo.streaming.bulk.routing import Router
from silbo.streaming.bulk.sender import sending
from silbo.streaming.bulk.snapshots import pack, pack_delta, restored
from silbo.streaming.bulk.step import Settings, State, step
from silbo.streaming.spark import checkpoint, job
from silbo.streaming.topics import CONTEXTS, INPUTS
from silbo.testing import generate_log
from silbo.wire.records import ContextRecord, PublicationRecord, SubscriptionRecord, TickRecord, encode

SECOND = 1_000_000
LATENESS = 10
EXPECTED = tuple((topic, 0) for topic in INPUTS)
SUBSCRIBED = SubscriptionRecord(100, "u", "car", "s", "true", None, ())


def published(time):
    return PublicationRecord(time, "p", "camera", time, {}, {}, {}, None, None)


class Shard:
    """One shard that waits three seconds. `forget` restores its state from the snapshot and the deltas."""

    def __init__(self, idle=3 * SECOND):
        self.settings = Settings("strict", LATENESS, EXPECTED, idle=idle)
        self.state = State(self.settings)
        self.chunks, self.deltas, self.offsets = [], [], {}

    def batch(self, **records):
        """Run a batch of records by topic, `beats` in seconds. Returns the times notified and the reasons rejected."""
        router, chunks = Router(1), []
        for name, values in records.items():
            partition = BEAT if name == "beats" else (f"silbo.{name}", 0)
            made = [TickRecord(beat * SECOND) for beat in values] if name == "beats" else values
            first = self.offsets.get(partition, 0)
            self.offsets[partition] = first + len(made)
            chunks += [chunk for _, chunk in router.chunks(*partition, enumerate(map(encode, made), first))]
        outcome = step(self.state, ShardBatch(chunks))
        self.deltas.append(pack_delta(outcome.delta))
        return [each.time for each, _ in outcome.matches], [each.reason for each in outcome.rejected]

    def fold(self):
        self.chunks, self.deltas = list(pack(self.state)), []

    def forget(self):
        self.state = restored(self.settings, self.chunks, self.deltas)


@pytest.mark.parametrize("kept", ["in the cache", "as deltas", "as a snapshot", "as both"])
def test_a_silent_topic_holds_publications_for_the_idle_seconds_and_no_longer(kept):
    """The topic of contexts is silent. The state is kept in the cache, as deltas, as a snapshot, or both."""
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
    assert batch(subscriptions=[TickRecord(500)], publications=[TickRecord(500)], beats=[1_001, 1_002]) == ([], [])
    assert batch(subscriptions=[TickRecord(600)], publications=[published(650)], beats=[1_003]) == ([200], [])
    assert batch(subscriptions=[TickRecord(700)], publications=[TickRecord(700)], beats=[1_004]) == ([650], [])


def test_without_idle_a_silent_topic_holds_publications_forever():
    shard = Shard(idle=None)
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200)])
    assert shard.batch(subscriptions=[TickRecord(10**9)], publications=[TickRecord(10**9)]) == ([], [])


def test_when_all_partitions_are_silent_all_waiting_records_are_matched():
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200), published(201)], beats=[1])
    assert shard.batch(beats=[2, 3]) == ([], [])
    assert shard.batch(beats=[4]) == ([200, 201], [])
    assert shard.batch(publications=[published(202)]) == ([], [])  # arrives at the fourth second
    assert shard.batch(beats=[5, 6]) == ([], [])
    assert shard.batch(beats=[7]) == ([202], [])


def test_silence_is_counted_from_the_first_beat():
    """Neither the start of the clock nor earlier records matter."""
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200)])
    assert shard.batch(beats=[10**6]) == ([], [])
    assert shard.batch(beats=[10**6 + 2]) == ([], [])
    assert shard.batch(beats=[10**6 + 3]) == ([200], [])


def generated(seed):
    """Batches of a generated log with one partition per topic. Each partition is silent at times, and then late."""
    chance, times, topics = random.Random(seed), count(1), {topic: [] for topic in INPUTS}
    fold = sending(lambda topic, _, record: topics[topic].append(record), lambda: next(times))
    fold.apply(generate_log(seed, 600), lambda *_: None)
    for beat in range(1, 10**6):
        if not any(topics.values()):
            return
        speaking = [topic for topic in INPUTS if chance.random() < 0.4]
        batch = {topic.partition(".")[2]: topics[topic][:15] for topic in speaking}
        for topic in speaking:
            del topics[topic][:15]
        yield {**batch, "beats": [beat]} if chance.random() < 0.8 else batch


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_restored_state_has_the_same_silence_and_finds_the_same_late_records(seed):
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
def test_a_record_before_the_frontier_is_rejected_and_changes_nothing(forgotten):
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200)], beats=[1])
    shard.batch(subscriptions=[TickRecord(500)], publications=[TickRecord(500)], beats=[4])
    if forgotten:
        shard.fold()
        shard.forget()
    late = ContextRecord(300, "u", {"x": 1.0})
    notified, (reason,) = shard.batch(contexts=[late])
    assert not notified
    assert reason == ("its time 300 is older than the frontier, 490: the frontier no longer waited for its partition.")
    assert not shard.state.core.contexts.at(shard.state.core.clients["u"].row)
    in_time = ContextRecord(495, "u", {"x": 2.0})
    assert shard.batch(contexts=[in_time], publications=[published(510)]) == ([], [])
    assert shard.batch(**{name: [TickRecord(900)] for name in ("contexts", "subscriptions", "publications")}) == (
        [510],
        [],
    )
    assert shard.state.core.contexts.at(shard.state.core.clients["u"].row) == {"x": 2.0}


def test_a_partition_that_is_active_again_holds_the_frontier_and_does_not_move_it_back():
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[TickRecord(500)], beats=[1])
    shard.batch(subscriptions=[TickRecord(500)], publications=[TickRecord(500)], beats=[4])
    assert shard.state.frontier.time == 490
    shard.batch(contexts=[TickRecord(300)])
    assert shard.state.frontier.time == 490
    assert shard.batch(subscriptions=[TickRecord(800)], publications=[published(600), TickRecord(800)], beats=[5]) == (
        [],
        [],
    )
    assert shard.batch(contexts=[TickRecord(700)]) == ([600], [])


def test_an_unreadable_record_does_not_end_the_silence():
    shard = Shard()
    shard.batch(subscriptions=[SUBSCRIBED], publications=[published(200)], beats=[1])
    shard.batch(beats=[3])
    ((_, chunk),) = Router(1).chunks(CONTEXTS, 0, [(0, b"nonsense")])
    step(shard.state, ShardBatch([chunk]))
    assert shard.batch(subscriptions=[TickRecord(500)], publications=[TickRecord(500)], beats=[4]) == ([200], [])


def test_idle_is_refused_in_the_order_of_arrival():
    with pytest.raises(silbo.SilboError, match="does not wait"):
        silbo.streaming.match(None, None, None, order="arrival", idle=1.0)


def test_a_checkpoint_keeps_the_idle_setting(tmp_path):
    partitions = dict.fromkeys(INPUTS, 1)
    job.check(job.Options(tmp_path), partitions, "log")
    with pytest.raises(silbo.SilboError, match=r"idle: .* was made with None, not 2.0"):
        job.check(job.Options(tmp_path, idle=2.0), partitions, "log")
    made = json.loads((tmp_path / checkpoint.FILE).read_text())
    del made["idle"]  # as in a checkpoint from before this setting existed
    (tmp_path / checkpoint.FILE).write_text(json.dumps(made))
    job.check(job.Options(tmp_path), partitions, "log")
