"""The workload that is measured: most of it sits on the device, and finds little more than it must."""

import pytest

from silbo.bench import hw_workload
from silbo.core.fold import Fold
from silbo.model.events import Subscribe
from silbo.testing.comparison import lines, oracle_lines
from silbo.testing.own.matching_unit import ModelUnit, over


@pytest.fixture(scope="module")
def roads():
    return hw_workload.log(seed=1, publications=200)


def test_the_workload_is_the_same_for_the_same_seed(roads):
    assert hw_workload.log(seed=1, publications=200) == roads
    assert hw_workload.log(seed=2, publications=200) != roads


def test_nine_of_ten_subscriptions_of_the_workload_sit_on_the_device(roads):
    unit = ModelUnit()
    assert 0.9 <= hw_workload.device_share(over(unit), roads) < 1.0
    assert unit.closed


def test_the_workload_on_a_device_gives_the_oracles_notifications_and_few_candidates_more(roads):
    fold = Fold(offload=over(ModelUnit()))
    got = fold.apply(roads)
    assert lines(got) == oracle_lines(roads)
    on_device = [each for each in got if "prefix" not in filter_of(roads, each.subscriber)]
    stats = fold.core.index.stats()["offload"]
    assert len(on_device) <= stats["matches"] < 2 * len(on_device)


def filter_of(events, subscriber):
    return next(each.filter for each in events if isinstance(each, Subscribe) and each.session == subscriber)
