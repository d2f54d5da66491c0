"""The step without Spark: records of generated logs, in every batching and order, give the oracle's notifications."""

import random
from collections import Counter
from dataclasses import replace
from functools import partial

import msgpack
import pytest

import silbo
from silbo.errors import NotAcknowledged
from silbo.streaming.bulk.chunks import Chunk, ShardBatch
from silbo.streaming.bulk.order import NEVER
from silbo.streaming.bulk.routing import Router
from silbo.streaming.bulk.sender import sending
from silbo.streaming.bulk.snapshots import pack, pack_delta, restored
from silbo.streaming.bulk.step import Settings, State, step
from silbo.streaming.local.log import Writer, create, end_of, partition_file, partition_of, read_all
from silbo.streaming.spark.migration import redistributed
from silbo.streaming.topics import BEATS, CONTEXTS, INPUTS, PUBLICATIONS, SUBSCRIPTIONS
from silbo.testing import compare, generate_log
from silbo.testing.links import FakeKafka
from silbo.testing.own.notified import notification_records
from silbo.wire.records import (
    LAST,
    ContextRecord,
    PublicationRecord,
    SubscriptionRecord,
    TickRecord,
    UnsubscriptionRecord,
    decode,
    encode,
)

PARTITIONS = 3
ALL = tuple((topic, number) for topic in INPUTS for number in range(PARTITIONS))
LATENESS = 60  # microseconds; there is one event for each, so this is 4 % of a log


def recorded(events):
    """The records of a log by partition, one microsecond each."""
    partitions = {each: [] for each in ALL}
    times = iter(range(1, 10**9))

    def send(topic, key, record):
        partitions[topic, partition_of(key, PARTITIONS)].append(encode(record))

    sending(send, lambda: next(times)).apply(events, lambda *_: None)
    return partitions


def out_of_order(values, chance):
    """The same records out of order, none later than the lateness."""
    dated = [(decode(value).time + chance.uniform(0, LATENESS), value) for value in values]
    return [value for _, value in sorted(dated, key=lambda each: each[0])]


class Job:
    """Shards that get their batches through a router, as in Spark."""

    def __init__(self, shards=2, order="strict", lateness=LATENESS):
        settings = partial(Settings, order, lateness, ALL, shards=shards)
        self.settings = [settings(shard=shard) for shard in range(shards)]
        self.states = [State(each) for each in self.settings]
        self.stored = [([], []) for _ in range(shards)]
        self.notifications, self.rejected, self.offsets = [], [], Counter()

    def batch(self, parts):
        """Run one batch; `parts` has the values by partition."""
        router, chunks = Router(len(self.states)), [[] for _ in self.states]
        for (topic, partition), values in parts.items():
            first = self.offsets[topic, partition]
            self.offsets[topic, partition] += len(values)
            for shard, chunk in router.chunks(topic, partition, enumerate(values, first)):
                chunks[shard].append(Chunk.unpack(chunk.pack()))
        for shard, state in enumerate(self.states):
            outcome = step(state, ShardBatch(chunks[shard]))
            self.stored[shard][1].append(pack_delta(outcome.delta))
            self.notifications += notification_records(outcome.matches)
            self.rejected += outcome.rejected

    def drain(self):
        """End all partitions with a tick of the last time, so that nothing waits any longer."""
        self.batch({each: [encode(TickRecord(LAST))] for each in ALL})

    def fold(self, shard):
        """Replace the deltas by a snapshot."""
        self.stored[shard] = list(pack(self.states[shard])), []

    def migrate(self, shards, *more):
        """Continue with another number of shards, and with more partitions."""
        settings = replace(self.settings[0], shards=shards, partitions=(*ALL, *more))
        stored = zip(self.settings, self.stored, strict=True)
        spread = redistributed([restored(before, *parts) for before, parts in stored], settings)
        self.settings = [replace(settings, shard=shard) for shard in range(shards)]
        self.stored = [(list(pack(state)), []) for state in spread]
        self.states = [restored(each, *parts) for each, parts in zip(self.settings, self.stored, strict=True)]

    def forget(self, shard):
        """Discard the cache, and restore the state from the snapshot and the deltas."""
        self.states[shard] = restored(self.settings[shard], *self.stored[shard])


def assert_oracles(log, job):
    comparison = compare(log, job.notifications)
    assert comparison.agrees, str(comparison)
    assert not job.rejected


@pytest.fixture(scope="module", params=[1, 2])
def log(request):
    return generate_log(request.param, 1_500)


@pytest.fixture(scope="module")
def records(log):
    return recorded(log)


@pytest.mark.parametrize("size", [1, 7, None])
def test_every_batching_gives_the_oracles_notifications(log, records, size):
    """Partitions lag each other by whole batches, and their records are out of order within the lateness."""
    chance = random.Random(5)
    left = {each: out_of_order(values, chance) for each, values in records.items()}
    job = Job()
    while any(left.values()):
        parts = {}
        for each, values in left.items():
            if size is None or chance.random() < 0.7:
                count = len(values) if size is None else size
                parts[each], left[each] = values[:count], values[count:]
        job.batch(parts)
    job.drain()
    assert_oracles(log, job)


def test_a_delta_keeps_only_the_last_context_of_a_batch():
    """The earlier contexts are not needed after the frontier has passed them, and must not be restored."""
    job = Job(shards=1, order="arrival")
    box = "abs(pub.x - this.x) <= 1"
    job.batch({(SUBSCRIPTIONS, 0): [encode(SubscriptionRecord(1, "u", "car", "s", "true", box, ()))]})
    places = [encode(ContextRecord(2 + i, "u", {"x": float(i)})) for i in range(100)]
    job.batch({(CONTEXTS, 0): places})
    assert len(job.stored[0][1][-1]) < 10 * len(places[0])
    job.forget(0)
    published = [
        PublicationRecord(200 + i, "p", "p", i + 1, {}, {"x": x}, {}, None, None) for i, x in enumerate((0.0, 99.0))
    ]
    job.batch({(PUBLICATIONS, 0): list(map(encode, published))})
    assert [each.sequence for each in job.notifications] == [2]


def test_a_restored_state_gives_the_oracles_notifications(log, records):
    chance = random.Random(6)
    left = {each: out_of_order(values, chance) for each, values in records.items()}
    job = Job(shards=3)
    while any(left.values()):
        parts = {each: values[:40] for each, values in left.items()}
        left = {each: values[40:] for each, values in left.items()}
        job.batch(parts)
        shard = chance.randrange(3)
        if chance.random() < 0.3:
            job.fold(shard)
        if chance.random() < 0.5:
            job.forget(shard)
    job.drain()
    assert_oracles(log, job)


def test_a_migrated_job_gives_the_oracles_notifications(log, records):
    """Migrate from 2 shards to 3, 1 and 4, each time with records that wait for the frontier."""
    chance = random.Random(7)
    left = {each: out_of_order(values, chance) for each, values in records.items()}
    job = Job(shards=2)
    for shards in (3, 1, 4):
        for _ in range(6):
            for each, values in left.items():
                if chance.random() < 0.7:
                    job.batch({each: values[:40]})
                    left[each] = values[40:]
        job.fold(0)
        waiting = [{type(each.record) for each in state.waiting} for state in job.states]
        assert all(PublicationRecord in kinds for kinds in waiting)
        assert any(kinds - {PublicationRecord} for kinds in waiting)
        job.migrate(shards)
        assert len(job.states) == shards
    job.batch(left)
    job.drain()
    assert_oracles(log, job)


def test_a_silent_topic_holds_the_frontier_until_it_has_records(log, records):
    """All records of two topics come first: nothing may be matched before those of the third."""
    job = Job()
    for topic in (PUBLICATIONS, SUBSCRIPTIONS):
        for each in ALL:
            if each[0] == topic:
                job.batch({each: records[each]})
    assert not job.notifications
    for each in ALL:
        if each[0] == CONTEXTS:
            job.batch({each: records[each]})
    job.drain()
    assert_oracles(log, job)


def test_in_the_order_of_arrival_a_batch_is_matched_at_once(log, records):
    job = Job(order="arrival")
    job.batch(records)
    assert_oracles(log, job)


# small cases


def record(topic, values, partition=0):
    return {(topic, partition): [encode(each) for each in values]}


def test_an_unreadable_record_is_rejected_with_its_offset_and_the_job_continues():
    job = Job(order="arrival")
    good = SubscriptionRecord(1, "u", "car", "s", "a = 1", None, ())
    newer = bytes(encode(good)).replace(b"\x01", b"\x63", 1)
    bad = [b"", b"\xc1", b"\x93\x01\x02\x03", newer, encode(SubscriptionRecord(2, "u", "car", "t", "a >> 1", None, ())),
           encode(PublicationRecord(3, "p", "p", 1, {"a": 1}, {}, {}, "nonsense(", None))]  # fmt: skip
    job.batch({(SUBSCRIPTIONS, 1): [*bad, encode(good)]})
    job.batch(record(PUBLICATIONS, [PublicationRecord(4, "p", "camera", 1, {"a": 1}, {}, {}, None, b"x")]))
    assert [(each.topic, each.partition, each.offset) for each in job.rejected] == [
        (SUBSCRIPTIONS, 1, offset) for offset in sorted(range(6), key=lambda offset: offset % 2)
    ]
    assert [each.value for each in sorted(job.rejected, key=lambda each: each.offset)] == bad
    assert "newer" in sorted(job.rejected, key=lambda each: each.offset)[3].reason
    assert [each.subscription for each in job.notifications] == ["s"]


def test_another_encoding_of_a_record_means_the_same():
    """A plain list is converted to a set. Chunks contain checked values, so shards need not check them again."""
    job = Job(shards=1, order="arrival")
    job.batch(record(SUBSCRIPTIONS, [SubscriptionRecord(1, "u", "car", "s", "true", "pub.x in this.s", ()),
                                     SubscriptionRecord(1, "u", "car", "t", "true", "pub.l = this.s", ())]))  # fmt: skip
    job.batch({(CONTEXTS, 0): [msgpack.packb([1, "context", 2, "u", {"s": [1, 2, 3]}])]})
    published = [1, "publish", 3, "p", "p", 1, {}, {"x": 2, "l": [1, 2]}, {}, None, None]
    job.batch({(PUBLICATIONS, 0): [msgpack.packb(published)]})
    assert [each.subscription for each in job.notifications] == ["s"]
    job.batch({(CONTEXTS, 0): [msgpack.packb([0, "context", 2, "u", {}]), encode(ContextRecord(LAST, "u", {}))]})
    assert len(job.rejected) == 2


def test_a_large_record_is_rejected_with_only_its_beginning():
    job = Job(shards=1, order="arrival")
    job.batch({(CONTEXTS, 0): [b"x" * 10**6]})
    assert [len(each.value) for each in job.rejected] == [65_536]


def test_the_job_does_not_depend_on_silbo_index(monkeypatch):
    monkeypatch.setenv("SILBO_INDEX", "plain")
    job = Job(shards=1, order="arrival")
    job.batch(record(SUBSCRIPTIONS, [SubscriptionRecord(1, "u", "car", "s", "true", None, ())]))
    job.batch(record(PUBLICATIONS, [PublicationRecord(2, "p", "p", 1, {}, {}, {}, None, None)]))
    assert len(job.notifications) == 1


def test_a_verb_that_could_not_be_sent_changes_nothing():
    kafka = FakeKafka()
    kinds = {"set_context": ContextRecord, "close": UnsubscriptionRecord, "publish": PublicationRecord}
    with kafka.connection().connect("car") as session:
        session.advertise("true")
        session.set_context(x=1.0)
        subscription = session.subscribe("true")
        verbs = {
            "set_context": lambda: session.set_context(x=2.0),
            "close": subscription.close,
            "publish": lambda: session.publish({"a": 1}),
        }
        for name, verb in verbs.items():
            kafka.fails_at = (kinds[name],)
            with pytest.raises(NotAcknowledged):
                verb()
            kafka.fails_at = ()
        assert session.context == {"x": 1.0}
        session.set_context(x=2.0)
        # the message may have arrived without an acknowledgement: another one with its number would look like a repeat
        assert session.publish({"a": 1}).sequence == 2
        subscription.close()
    assert [type(each).__name__ for each in kafka.sent] == [
        "ContextRecord", "SubscriptionRecord", "ContextRecord", "PublicationRecord", "UnsubscriptionRecord", "ContextRecord",
    ]  # fmt: skip


def test_a_rejected_record_does_not_move_the_frontier():
    job = Job(shards=1)
    for topic in INPUTS:
        for number in range(PARTITIONS):
            job.batch(record(topic, [TickRecord(100)], number))
    job.batch({(SUBSCRIPTIONS, 0): [encode(SubscriptionRecord(10**6, "u", "car", "t", "a >> 1", None, ()))]})
    job.batch(record(SUBSCRIPTIONS, [SubscriptionRecord(101, "u", "car", "s", "true", None, ())]))
    assert len(job.rejected) == 1
    job.batch(record(PUBLICATIONS, [PublicationRecord(102, "p", "camera", 1, {"a": 1}, {}, {}, None, None)]))
    job.drain()
    assert [each.subscription for each in job.notifications] == ["s"]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_record_that_is_older_than_the_lateness_is_rejected_in_every_batching(at_once):
    job = Job(shards=2)
    values = [ContextRecord(1_000, "u", {"x": 1.0}), ContextRecord(1_000 - LATENESS, "u", {"x": 2.0}),
              ContextRecord(999 - LATENESS, "u", {"x": 3.0})]  # fmt: skip
    if at_once:
        job.batch(record(CONTEXTS, values))
    else:
        for each in values:
            job.batch(record(CONTEXTS, [each]))
    assert [(each.topic, each.offset) for each in job.rejected] == [(CONTEXTS, 2)]
    late = PublicationRecord(5, "p", "p", 1, {}, {}, {}, None, None)
    job.batch(record(PUBLICATIONS, [TickRecord(1_000), late]))
    assert len(job.rejected) == 2  # the late publication is rejected once, although it goes to both shards


def test_a_new_partition_does_not_move_the_frontier_back_and_holds_it_from_then_on():
    new = (CONTEXTS, PARTITIONS)
    job = Job(shards=2)
    job.batch({each: [encode(TickRecord(1_000))] for each in ALL})
    job.migrate(3, new)
    assert {state.frontier.time for state in job.states} == {1_000 - LATENESS}
    behind, ahead = (ContextRecord(time, "u", {}) for time in (999 - LATENESS, 1_000 - LATENESS))
    job.batch(record(CONTEXTS, [ahead, behind], PARTITIONS))
    assert [(each.partition, each.offset) for each in job.rejected] == [(PARTITIONS, 1)]
    job.drain()
    assert {state.frontier.time for state in job.states} == {1_000 - LATENESS}


def test_the_silence_of_partitions_is_migrated():
    new, second = (CONTEXTS, PARTITIONS), 1_000_000  # microseconds
    job = Job(shards=2)
    job.settings = [replace(each, idle=5 * second) for each in job.settings]
    job.states = [State(each) for each in job.settings]
    job.batch({(BEATS, 0): [encode(TickRecord(0))]} | {each: [encode(TickRecord(100))] for each in ALL})
    job.batch({(BEATS, 0): [encode(TickRecord(4 * second))]} | record(CONTEXTS, [TickRecord(1_000)]))
    job.batch({(BEATS, 0): [encode(TickRecord(6 * second))]})
    job.migrate(3, new)
    assert {state.frontier.time for state in job.states} == {1_000 - LATENESS}
    job.batch(record(CONTEXTS, [ContextRecord(999 - LATENESS, "u", {})], PARTITIONS))
    assert len(job.rejected) == 1
    job.batch({(BEATS, 0): [encode(TickRecord(12 * second))]})
    assert {state.frontier.time for state in job.states} == {1_001}  # all are silent, so nothing waits


def test_a_job_in_the_order_of_arrival_can_be_migrated():
    job = Job(shards=3, order="arrival")
    job.batch(
        record(SUBSCRIPTIONS, [SubscriptionRecord(1, f"u{i}", "car", "s", "true", "this.x = 1", ()) for i in range(20)])
    )
    job.batch(record(CONTEXTS, [ContextRecord(2, f"u{i}", {"x": i % 2}) for i in range(20)]))
    job.migrate(2)
    job.batch(record(PUBLICATIONS, [PublicationRecord(1, "p", "p", 1, {}, {}, {}, None, None)]))
    assert sorted(each.subscriber_uuid for each in job.notifications) == sorted(f"u{i}" for i in range(1, 20, 2))


@pytest.mark.parametrize("mark", [NEVER, LAST])
def test_a_new_partition_starts_at_the_beginning_or_at_the_end_as_the_others(mark):
    new = (CONTEXTS, PARTITIONS)
    job = Job(shards=1)
    if mark == LAST:
        job.drain()
    else:
        job.batch({})
    job.migrate(2, new)
    assert {state.frontier.marks[new] for state in job.states} == {mark}


def test_contexts_and_subscriptions_come_before_a_publication_of_the_same_time():
    job = Job(shards=1)
    job.batch(record(PUBLICATIONS, [PublicationRecord(5, "p", "p", 1, {}, {"x": 1.0}, {}, None, None)]))
    job.batch(record(CONTEXTS, [ContextRecord(5, "u", {"x": 1.0})]))
    job.batch(record(SUBSCRIPTIONS, [SubscriptionRecord(5, "u", "car", "s", "true", "pub.x = this.x", ())]))
    job.drain()
    assert len(job.notifications) == 1


def test_a_record_has_the_whole_context_and_an_empty_one_removes_it():
    job = Job(shards=1, order="arrival")
    job.batch(record(SUBSCRIPTIONS, [SubscriptionRecord(1, "u", "car", "s", "true", "exists this.x", ())]))
    publications = iter(range(1, 100))

    def notified(context):
        number = next(publications)
        job.batch(record(CONTEXTS, [ContextRecord(10 * number, "u", context)]))
        before = len(job.notifications)
        job.batch(record(PUBLICATIONS, [PublicationRecord(10 * number + 1, "p", "p", number, {}, {}, {}, None, None)]))
        return len(job.notifications) - before

    assert [notified(each) for each in ({"x": 1.0}, {"y": 2.0}, {"x": 1, "y": "a"}, {}, {"x": 2.0})] == [1, 0, 1, 0, 1]


def test_churn_leaves_a_state_that_does_not_grow():
    job = Job(shards=1, order="arrival")
    sizes = []
    for turn in range(30):
        uuids = [f"{turn}-{i}" for i in range(50)]
        job.batch(
            record(
                SUBSCRIPTIONS, [SubscriptionRecord(1, uuid, "car", "s", "a = 1", "this.x > 1", ()) for uuid in uuids]
            )
        )
        job.batch(record(CONTEXTS, [ContextRecord(2, uuid, {"x": 1.0, "tag": "t"}) for uuid in uuids]))
        job.batch(record(SUBSCRIPTIONS, [UnsubscriptionRecord(3, uuid, "s") for uuid in uuids]))
        job.batch(record(CONTEXTS, [ContextRecord(4, uuid, {}) for uuid in uuids]))
        job.fold(0)
        sizes.append(
            (sum(map(len, job.stored[0][0])), len(job.states[0].core.clients), job.states[0].core.contexts.cells.rows)
        )
    assert len(set(sizes)) == 1
    assert sizes[0][:2] == (sizes[0][0], 0)


def test_subscribers_are_spread_over_the_shards_and_each_is_notified_once():
    job = Job(shards=4, order="arrival")
    job.batch(record(SUBSCRIPTIONS, [SubscriptionRecord(1, f"u{i}", "car", "s", "true", None, ()) for i in range(40)]))
    assert all(0 < len(state.core.clients) < 40 for state in job.states)
    job.batch(record(PUBLICATIONS, [PublicationRecord(2, "p", "p", 1, {}, {}, {}, None, None)]))
    assert sorted(each.subscriber_uuid for each in job.notifications) == sorted(f"u{i}" for i in range(40))


def test_the_first_mark_is_before_every_time():
    assert NEVER < -LAST


def test_a_damaged_log_is_read_up_to_the_damage(tmp_path):
    create(tmp_path, CONTEXTS, 1)
    path = partition_file(tmp_path, CONTEXTS, 0)
    writer = Writer(tmp_path, CONTEXTS, 0)
    for value in (b"one", b"two"):
        writer.append(value)
    for value in (b"", b"x" * (2**24 + 1)):
        with pytest.raises(silbo.SilboError, match="a record has"):
            writer.append(value)
    writer.close()
    whole = path.read_bytes()
    for tail in (b"\0" * 40, b"\0\0\0\7half"):
        path.write_bytes(whole + tail)
        assert list(read_all(tmp_path, CONTEXTS, 0)) == [b"one", b"two"]
        Writer(tmp_path, CONTEXTS, 0).close()
        assert path.read_bytes() == whole
    with pytest.raises(silbo.SilboError, match="another log, or damaged"):
        end_of(path, len(whole) + 1)
