"""Every engine gives the oracle's notifications on generated logs, in every batching, from any thread."""

import random
import threading
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silbo
from silbo.core.fold import Fold
from silbo.engines.replay import OracleEngine
from silbo.model.events import Publish
from silbo.testing import Player, RecordingSession, assert_agrees, compare, generate_log
from silbo.testing.strategies import logs
from silbo.wire.jsonl import event_json, notification_json, parse_event

EVENTS = 1_000


def lines(notifications):
    return [notification_json(each) for each in notifications]


def cut_at_random(events, chance):
    """The events in batches of random sizes from 1 to 50."""
    while events:
        size = chance.randint(1, 50)
        yield events[:size]
        events = events[size:]


def oracle(events):
    return lines(silbo.replay(events, engine="oracle"))


@cache
def log_of(seed):
    return generate_log(seed, EVENTS)


@cache
def expected_of(seed):
    return oracle(log_of(seed))


@pytest.fixture(params=[1, 2, 3])
def seed(request):
    return request.param


@pytest.fixture
def log(seed):
    return log_of(seed)


@pytest.fixture
def expected(seed):
    return expected_of(seed)


def test_the_broker_gives_the_oracles_notifications_in_every_batching(log, expected, index):
    assert len(expected) > EVENTS / 10
    for batch in (None, 1, 7):
        assert lines(silbo.replay(log, engine=Fold(index), batch=batch)) == expected


def test_the_broker_gives_the_oracles_notifications_in_random_batches(log, expected, index):
    fold, got = Fold(index), []
    for batch in cut_at_random(log, random.Random(7)):
        got += lines(fold.apply(batch, lambda *_: None))
    assert got == expected


def test_the_same_events_are_refused(log):
    refusals = {}
    for name in ("oracle", "memory"):
        refused = refusals[name] = []
        list(silbo.replay(log, engine=name, refused=lambda line, _, refused=refused: refused.append(line)))
    assert refusals["oracle"] == refusals["memory"]
    assert len(refusals["oracle"]) > 10


def test_a_log_written_and_read_gives_the_same(log, expected):
    assert oracle([parse_event(event_json(event)) for event in log]) == expected


def test_the_public_api_from_one_thread(log, expected, index):
    recorded = []
    broker = silbo.Broker(record=recorded.append, index=index)
    player = Player(broker)
    player.play(log)
    received = player.received()
    assert sorted(lines(received)) == sorted(expected)
    assert_agrees(recorded, received)
    assert player.refused > 10


def test_the_public_api_from_four_threads(log):
    """The log is the order in which the broker accepted the events."""
    recorded = []
    broker = silbo.Broker(record=recorded.append)
    players = [Player(broker) for _ in range(4)]
    shares = [[event for event in log if hash_of(event.session) % 4 == n] for n in range(4)]
    threads = [
        threading.Thread(target=player.play, args=(share,)) for player, share in zip(players, shares, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    received = [each for player in players for each in player.received()]
    assert sum(isinstance(event, Publish) for event in recorded) > EVENTS / 10
    assert len(received) > 100
    assert_agrees(recorded, received)
    assert_in_order(received)


def hash_of(name):
    return sum(name.encode())


def assert_in_order(received):
    """Check that sequence numbers rise for each pair of publisher session and subscription: FIFO, and no repeats."""
    last = {}
    for each in received:
        key = each.publisher_uuid, each.subscriber, each.subscription
        assert each.sequence > last.get(key, 0)
        last[key] = each.sequence


@settings(max_examples=60)
@given(logs(max_events=60), st.integers(1, 10))
def test_any_log_in_any_batching(index, log, batch):
    assert lines(silbo.replay(log, engine=Fold(index), batch=batch)) == oracle(log)


def test_the_comparison_detects_a_missing_and_a_repeated_notification():
    log = generate_log(4, 300)
    received = list(silbo.replay(log, engine="memory"))
    assert compare(log, received).agrees
    assert len(compare(log, received[1:]).missing) == 1
    assert len(compare(log, [*received, received[0]]).unexpected) == 1
    with pytest.raises(AssertionError, match=r"1 missing, 0 unexpected\nmissing    \{"):
        assert_agrees(log, received[:-1])


def test_the_oracle_itself_does_not_depend_on_batching(log, expected):
    engine, got = OracleEngine(), []
    for batch in cut_at_random(log, random.Random(11)):
        got += lines(engine.apply(batch, lambda *_: None))
    assert got == expected


def test_a_recording_session_keeps_the_notifications_that_the_program_reads_or_gets_by_callback():
    events, called = [], []
    with silbo.Broker(record=events.append) as broker:
        car = RecordingSession(broker.connect("car"))
        read, _ = car.subscribe("true"), car.subscribe("n > 1", deliver=called.append)
        car.advertise("true")
        for n in range(4):
            car.publish({"n": n})
        assert [each["n"] for each in read.drain()] == [0, 1, 2, 3]
        assert len(car.received) == 6
        car.close()
    assert [each["n"] for each in called] == [2, 3]
    assert_agrees(events, car.received)
