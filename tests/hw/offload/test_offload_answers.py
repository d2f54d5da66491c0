"""With a device the notifications are the oracle's, in every batching."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silbo
from silbo.core.fold import Fold
from silbo.hw.offload import opening
from silbo.testing import Player, assert_agrees, generate_log
from silbo.testing.comparison import lines, oracle_lines
from silbo.testing.own.matching_unit import ModelUnit, over
from silbo.testing.strategies import logs

EVENTS = 2_000


@pytest.fixture(scope="module", params=[1, 2, 3])
def log(request):
    return generate_log(request.param, EVENTS)


@pytest.fixture(scope="module")
def expected(log):
    return oracle_lines(log)


@pytest.mark.parametrize("index", ["fast", "plain"])
@pytest.mark.parametrize("sizes", [{}, {"sids": 7, "filters": 9, "subscribers": 2}], ids=["whole", "small"])
def test_generated_logs_give_the_oracles_notifications_in_every_batching(log, expected, index, sizes):
    for batch in (None, 1, 7):
        fold = Fold(index, offload=over(ModelUnit(**sizes)))
        assert lines(silbo.replay(log, engine=fold, batch=batch)) == expected
        assert fold.core.index.stats()["offload"]["matches"] > 100


def test_generated_logs_through_the_public_api(log, expected):
    recorded = []
    with silbo.Broker(record=recorded.append, offload=over(ModelUnit())) as broker:
        player = Player(broker)
        player.play(log)
        received = player.received()
    assert sorted(lines(received)) == sorted(expected)
    assert_agrees(recorded, received)


@settings(max_examples=60)
@given(logs(max_events=60), st.integers(1, 10))
def test_any_log_in_any_batching(log, batch):
    fold = Fold("fast", offload=over(ModelUnit(sids=6, filters=6, subscribers=2)))
    assert lines(silbo.replay(log, engine=fold, batch=batch)) == oracle_lines(log)


@pytest.mark.parametrize("read", [None, 1], ids=["whole", "in part"])
def test_the_engine_hw_lets_its_device_go_when_its_reader_stops(monkeypatch, log, read):
    unit = ModelUnit()
    monkeypatch.setattr(opening, "opened", lambda _, *given: over(unit)(*given))
    notifications = silbo.replay(log, engine="hw", batch=100)
    next(notifications)
    assert not unit.closed
    if read is None:
        list(notifications)
    else:
        notifications.close()
    assert unit.closed
