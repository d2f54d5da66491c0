"""What fits the matcher in hardware sits there, and nobody can tell by the notifications.

It runs over a model of the device, at sizes so small that it is full all the time; what the RTL itself must answer
stands in tests/hw/rtl/test_offload.py.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silbo
from silbo.context.function import ContextFunction
from silbo.context.table import ContextTable
from silbo.core.fold import Fold
from silbo.hw.offload.offload import Offload
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter
from silbo.matching.plain import PlainIndex
from silbo.model.events import Advertise, Disconnect, Publish, SetContext, Subscribe, Unsubscribe
from silbo.model.notification import Publication
from silbo.model.values import checked_context
from silbo.testing.comparison import lines, oracle_lines
from silbo.testing.own.matching_unit import ModelUnit, over

NEAR = "abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20"


def row(filter, function=None, subscriber="car", id="s"):
    read = None if function is None else ContextFunction.of(function)
    return SubscriptionRow(subscriber, subscriber, id, Filter.of(filter), read, (), None)


def publication(attributes, offered):
    return Publication("cam", "cam", 1, attributes, offered, offered, None, None)


class Alone:
    """An offload without a broker, over a model and a plain index; contexts are set by hand."""

    def __init__(self, **sizes):
        self.unit = ModelUnit(**sizes)
        self.contexts = ContextTable()
        self.offload = Offload(self.unit, self.contexts, PlainIndex)

    def add(self, *given, **named):
        made = row(*given, **named)
        self.offload.add(made)
        return made

    def set_context(self, subscriber, **values):
        self.contexts.set(subscriber, values)
        self.offload.set_context(subscriber, self.contexts[subscriber])

    def found(self, attributes, **offered):
        (found,) = self.offload.candidates([publication(attributes, offered)])
        return found

    @property
    def stats(self):
        return self.offload.stats()["offload"]


@pytest.fixture
def alone():
    return Alone()


# where subscriptions sit


def test_what_fits_is_found_by_the_device_and_the_rest_beside_it(alone):
    on_device, in_software = alone.add("a = 1"), alone.add("a > 0", id="t")
    assert alone.found({"a": 1}) == [in_software, on_device]
    assert alone.found({"a": 2}) == [in_software]
    assert alone.stats == {"device": 1, "software": 1, "tsids": 1, "words": 1, "rows": 0, "matches": 1}


def test_a_row_is_a_candidate_once_whichever_of_its_conjunctions_match(alone):
    both = alone.add("a = 1 or b = 2")
    assert alone.stats["tsids"] == 2
    assert alone.found({"a": 1, "b": 2}) == [both]
    assert alone.stats["matches"] == 2


def test_a_message_of_which_nobody_on_the_device_asked_anything_is_not_sent(alone):
    alone.add("a = 1")
    alone.found({"a": 2, "b": 1})
    assert alone.unit.calls["match"] == 0


def test_without_room_a_subscription_goes_to_software_and_later_ones_use_the_room_that_comes_back():
    alone = Alone(sids=2)
    first, second = alone.add("a = 1"), alone.add("a = 2", id="t")
    third = alone.add("a = 1", id="u")
    assert (alone.stats["device"], alone.stats["software"]) == (2, 1)
    alone.offload.remove(first)
    assert alone.found({"a": 1}) == [third]
    assert (alone.stats["device"], alone.stats["software"]) == (1, 1)  # who is in software stays there
    fourth = alone.add("a = 2", id="v")
    assert set(alone.found({"a": 2})) == {second, fourth}
    assert (alone.stats["device"], alone.stats["software"]) == (2, 1)


@pytest.mark.parametrize("sizes", [{"sids": 2}, {"filters": 2}])
def test_a_subscription_for_which_the_room_ends_half_way_leaves_the_device_as_it_was(sizes):
    alone = Alone(**sizes)
    alone.set_context("car", x=1, y=1)
    alone.add("a = 1")
    before, stats = dict(alone.unit.registered), alone.stats
    whole = alone.add("b = 1 or c = 1", NEAR, id="t")
    assert alone.unit.registered == before
    assert alone.stats == {**stats, "software": 1}
    assert alone.found({"c": 1}) == [whole]


def test_without_a_row_a_subscription_sits_on_the_device_without_context():
    alone = Alone(subscribers=1)
    near = alone.add("a = 1", NEAR)
    anywhere = alone.add("a = 1", NEAR, subscriber="van")
    assert alone.stats["rows"] == 1
    assert alone.found({"a": 1}, x=0, y=0) == [anywhere]
    alone.set_context("car", x=0, y=0)
    assert alone.found({"a": 1}, x=0, y=0) == [near, anywhere]


def test_a_box_over_other_variables_than_the_devices_sits_there_without_context_until_they_are_free(alone):
    first = alone.add("a = 1", NEAR)
    other = alone.add("a = 1", "abs(pub.u - this.u) <= 1", id="t")
    assert alone.found({"a": 1}) == [other]
    alone.offload.remove(first)
    assert alone.stats["rows"] == 0
    later = alone.add("a = 1", "abs(pub.u - this.u) <= 1", id="u")
    assert alone.stats["rows"] == 1
    assert alone.found({"a": 1}, u=0) == [other]
    alone.set_context("car", u=0)
    assert set(alone.found({"a": 1}, u=0)) == {other, later}


# contexts


def test_a_context_set_before_the_first_subscription_counts(alone):
    alone.set_context("car", x=100, y=100)
    assert alone.unit.calls["set_context"] == 0
    near = alone.add("a = 1", NEAR)
    assert alone.found({"a": 1}, x=90, y=110) == [near]
    assert alone.found({"a": 1}, x=90, y=130) == []


def test_a_context_change_is_one_write_of_one_row_and_none_if_the_box_stays(alone):
    for id in "stuv":
        alone.add("a = 1", NEAR, id=id)
    alone.set_context("car", x=1, y=2)
    assert alone.unit.calls["set_context"] == 1
    alone.set_context("car", x=1.0, colour="red")
    assert alone.unit.calls["set_context"] == 1
    alone.set_context("car", x=2)
    assert alone.unit.calls["set_context"] == 2


def test_who_has_no_subscription_in_context_on_the_device_costs_no_write(alone):
    alone.add("a = 1")
    alone.add("a > 1", NEAR, id="t")
    alone.set_context("car", x=1, y=2)
    assert alone.unit.calls["set_context"] == 0


def test_a_row_holds_the_hull_of_all_boxes_of_its_subscriber(alone):
    alone.set_context("car", x=0, y=0, far=100)
    small, large = alone.add("a = 1", NEAR), alone.add("a = 1", "abs(pub.x - this.far) <= 1", id="t")
    assert set(alone.found({"a": 1}, x=101, y=5_000)) == {small, large}
    assert alone.found({"a": 1}, x=102, y=0) == []


def test_who_loses_its_position_is_found_no_more(alone):
    alone.set_context("car", x=0, y=0)
    near = alone.add("a = 1", NEAR)
    assert alone.found({"a": 1}, x=0, y=0) == [near]
    for nowhere in (None, "here", True):
        alone.set_context("car", x=nowhere)
        assert alone.found({"a": 1}, x=0, y=0) == []
        alone.set_context("car", x=0)
        assert alone.found({"a": 1}, x=0, y=0) == [near]


@pytest.mark.parametrize("offered", [{}, {"x": "0", "y": True}, {"z": 0}])
def test_a_publisher_without_a_position_matches_nobody_in_context(alone, offered):
    alone.set_context("car", x=0, y=0)
    alone.add("a = 1", NEAR)
    anywhere = alone.add("a = 1", id="t")
    assert alone.found({"a": 1}, **offered) == [anywhere]


def test_a_box_of_one_axis_needs_no_other_coordinate(alone):
    alone.set_context("car", x=0, y=0)
    alone.add("a = 1", NEAR)
    one = alone.add("a = 1", "abs(pub.y - this.y) <= 1", id="t", subscriber="van")
    alone.set_context("van", y=1_000)
    assert alone.found({"a": 1}, y=1_001) == [one]
    assert alone.found({"a": 1}, y=1_002) == []


def test_a_row_that_was_given_back_holds_nothing_of_its_last_subscriber():
    alone = Alone(subscribers=1)
    alone.set_context("car", x=0, y=0)
    alone.offload.remove(alone.add("a = 1", NEAR))
    alone.add("a = 1", NEAR, subscriber="van")
    assert alone.found({"a": 1}, x=0, y=0) == []


PLACES = [0, 0.0, -0.0, 1, 20, 20.000001, -19.5, 1e17, 1e17 + 32, 2**53 + 1, 2**63 - 1, -(2**63), 1.7e308, -1.7e308,
          1e-170, -1e-170, 8_388_607, 8_388_608.5, "0", True, [0], None]  # fmt: skip
FUNCTIONS = [
    NEAR,
    "pub.x >= this.x - 20 and pub.x <= this.x + 20",
    "abs(pub.x - this.x) <= 20",
    "abs(pub.x - this.y) <= 0",
    "abs(pub.y - this.x + 10) <= 20 and abs(pub.x - this.x) <= 20",
    "abs(pub.x - this.x) <= -1",
    "pub.x - this.x = 0",
    "distance(pub.x, pub.y, this.x, this.y) <= 20",
    "distance(pub.x, pub.y, this.x, this.y) <= 0",
    "geo_distance(pub.x, pub.y, this.x, this.y) <= 20",
    "abs(pub.x - this.x) <= 1e29 and pub.y >= this.y + 1e29 - 1e29",
    f"{NEAR} and msg.a = 1 or this.y > 5",
    f"{NEAR} and this.y in (0, 1)",
    "abs(pub.z - this.x) <= 20",
    "exists pub.x",
]
positions = st.fixed_dictionaries({"x": st.sampled_from(PLACES), "y": st.sampled_from(PLACES)})


def known(values):
    return checked_context({name: value for name, value in values.items() if value is not None})


@settings(max_examples=500)
@given(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=3), positions, positions)
def test_whoever_a_function_holds_for_is_a_candidate(functions, own, published):
    alone = Alone()
    alone.set_context("car", **known(own))
    rows = [alone.add("a = 1", function, id=str(i)) for i, function in enumerate(functions)]
    offered = known(published)
    found = alone.found({"a": 1}, **offered)
    for each in rows:
        if each.function.holds({"a": 1}, offered, alone.contexts["car"]) is True:
            assert each in found


SESSIONS = st.sampled_from(["car", "van", "bus"])
IDS = st.sampled_from(["s", "t", "u"])
CONTENT = st.sampled_from(["a = 1", "a = 1 or b = 2", "a = 1 and b = 2", "b > 1", 'a = "x"', "a = true and b >= 0"])
MESSAGES = st.sampled_from([{"a": 1}, {"a": 1.0, "b": 2}, {"b": 2}, {"a": True, "b": 0}, {"a": "x"}, {"c": 1}])
box_events = st.one_of(
    st.builds(Subscribe, SESSIONS, IDS, CONTENT, st.sampled_from([None, *FUNCTIONS])),
    st.builds(Unsubscribe, SESSIONS, IDS),
    st.builds(
        SetContext, SESSIONS, positions.map(lambda each: {**known(each), **dict.fromkeys(each.keys() - known(each))})
    ),
    st.builds(Disconnect, SESSIONS),
    st.builds(Publish, st.sampled_from(["all", "x only"]), MESSAGES, positions.map(known)),
    st.builds(Publish, st.sampled_from(["all", "x only"]), MESSAGES, positions.map(known)),
)
sizes = st.sampled_from([{}, {"sids": 2}, {"filters": 2}, {"subscribers": 1}])


@settings(max_examples=300)
@given(st.lists(box_events, max_size=40), sizes, st.integers(1, 10))
def test_a_log_of_boxes_and_borders_gives_the_oracles_notifications(events, sizes, batch):
    log = [Advertise("all", "a", "true"), Advertise("x only", "a", "true", ("x",)), *events]
    fold = Fold("plain", offload=over(ModelUnit(**sizes)))
    assert lines(silbo.replay(log, engine=fold, batch=batch)) == oracle_lines(log)
