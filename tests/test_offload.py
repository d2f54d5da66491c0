"""What fits the matcher in hardware sits there, and nobody can tell by the notifications.

Most of it runs over a model of the device, at sizes so small that it is full all the time; what the RTL itself must
answer runs over the RTL, simulated.
"""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import silbo
from silbo.broker.fold import Fold
from silbo.broker.offload import MAKERS
from silbo.cli import main
from silbo.context.function import ContextFunction
from silbo.context.table import ContextTable
from silbo.errors import DeviceError, HardwareUnavailable
from silbo.hw import fixed_point, workload
from silbo.hw.fit import fit
from silbo.hw.offload import Offload
from silbo.hw.words import Words
from silbo.language import tree
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter
from silbo.matching.index import PlainIndex
from silbo.model.events import Advertise, Disconnect, Publish, SetContext, Subscribe, Unsubscribe
from silbo.model.log import notification_json
from silbo.model.notification import Publication
from silbo.model.values import KINDS, checked_context
from silbo.testing import Player, assert_agrees, generate_log
from silbo.testing.matching_unit import ModelUnit
from silbo.testing.strategies import logs, numbers, scalars

NEAR = "abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20"
EVENTS = 2_000


def over(unit):
    """What `Broker(offload=…)` takes, over a device of the test's own."""
    return lambda contexts, make_index: Offload(unit, contexts, make_index)


def lines(notifications):
    return [notification_json(each) for each in notifications]


def oracle(events):
    return lines(silbo.replay(events, engine="oracle"))


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


# words


@given(scalars(), scalars())
def test_two_values_are_one_word_exactly_where_the_language_calls_them_equal(a, b):
    words = Words()
    words.take(("n", KINDS[type(a)], a))
    equal = Filter(tree.Compare("=", tree.Name("attribute", "n"), tree.Constant(KINDS[type(a)], a)), "n = …")
    assert bool(words.of({"n": b})) == equal.selects({"n": b})


@pytest.mark.parametrize(("a", "b"), [(1, 1.0), (0, -0.0), (2**53, float(2**53)), ("x", "x"), (True, True)])
def test_one_word(a, b):
    words = Words()
    assert words.of({"n": b}) == []
    assert [words.take(("n", KINDS[type(a)], a))] == words.of({"n": b})


@pytest.mark.parametrize(("a", "b"), [(1, True), (0, False), ("1", 1), (2**53 + 1, float(2**53)), ("a", "a ")])
def test_two_words(a, b):
    words = Words()
    words.take(("n", KINDS[type(a)], a))
    assert words.of({"n": b}) == []


def test_a_word_is_forgotten_with_its_last_user_and_its_number_is_used_again():
    words = Words()
    number = words.take(("a", "number", 1))
    assert words.take(("a", "number", 1.0)) == number
    other = words.take(("b", "number", 1))
    words.release(("a", "number", 1))
    assert sorted(words.of({"a": 1, "b": 1, "c": 1})) == sorted([number, other])
    words.release(("a", "number", 1))
    assert words.of({"a": 1, "b": 1}) == [other]
    assert words.take(("c", "string", "x")) == number
    assert words.of({"a": 1}) == []
    assert len(words) == 2


# fixed point


def moved(place, reach, share, steps):
    """A coordinate on, or some doubles beside, the border of what `reach` means; or anywhere between."""
    border = place + share * reach
    for _ in range(abs(steps)):
        border = math.nextafter(border, math.copysign(math.inf, steps))
    assume(math.isfinite(border))
    return border


places = st.one_of(st.floats(-1e4, 1e4), numbers().map(float))
reaches = st.one_of(st.floats(0, 100), st.floats(0, 2.0**100), st.sampled_from([0.0, 1e-170, 20.0]))
shares = st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-1, 1))


@given(places, reaches, shares, st.integers(-3, 3))
def test_who_is_in_a_box_by_exact_arithmetic_is_in_it_on_the_device(centre, reach, share, steps):
    near = moved(centre, reach, share, steps)
    assume(abs(Fraction(near) - Fraction(centre)) <= Fraction(reach))
    low, high = fixed_point.around(centre, reach)
    assert -(2**31) < low <= fixed_point.place(near) <= high < 2**31


@given(places, reaches, shares, st.integers(-3, 3))
def test_who_is_in_a_box_by_arithmetic_on_doubles_is_in_it_on_the_device(centre, reach, share, steps):
    near = moved(centre, reach, share, steps)
    differs = near - centre
    assume(abs(differs) <= reach or math.sqrt(differs * differs) <= reach or centre - reach <= near <= centre + reach)
    low, high = fixed_point.around(centre, reach)
    assert low <= fixed_point.place(near) <= high


@given(st.floats(-1e5, 1e5), st.floats(0, 1e5))
def test_a_box_is_no_wider_than_it_must_be(centre, reach):
    low, high = fixed_point.around(centre, reach)
    assert low / 256 >= centre - reach - 2 / 256
    assert high / 256 <= centre + reach + 2 / 256


def test_what_lies_beyond_the_range_is_at_its_end_and_never_the_mark_of_no_position():
    assert fixed_point.place(-1.7e308) == -(2**31) + 1
    assert fixed_point.place(1.7e308) == 2**31 - 1
    assert fixed_point.around(-1.7e308, 1e30) == (-(2**31) + 1, -(2**31) + 1)


# what fits


@pytest.mark.parametrize(
    ("filter", "words"),
    [
        ("a = 1", [[("a", "number", 1)]]),
        ("a = 1 and a = 1.0 and b > 2", [[("a", "number", 1)]]),
        ('a = "x" or b = true', [[("a", "string", "x")], [("b", "bool", True)]]),
        ("not (a != 1 or b > 2)", [[("a", "number", 1)]]),
        (" and ".join(f"a{i} = {i}" for i in range(16)), [[(f"a{i}", "number", i) for i in range(16)]]),
    ],
)
def test_a_filter_fits_if_each_conjunction_has_equalities(filter, words):
    found = fit(Filter.of(filter))
    assert found.is_on_device
    assert [list(each.words) for each in found.conjunctions] == words


@pytest.mark.parametrize(
    ("filter", "why"),
    [
        ("a > 1", "no equality"),
        ("a = 1 or b > 1", "no equality"),
        ("not a = 1", "no equality"),
        ("a != 1", "no equality"),
        ("a in (1, 2)", "no equality"),
        ("true", "no equality"),
        (" and ".join(f"a{i} = {i}" for i in range(17)), "17 equalities, and the device takes 16 at most"),
    ],
)
def test_a_filter_does_not_fit_if_one_conjunction_has_none_or_too_many(filter, why):
    found = fit(Filter.of(filter))
    assert not found.is_on_device
    assert any(why in part.why for part in found.parts())
    assert {part.where for part in found.parts()} == {"software"}


@pytest.mark.parametrize(
    ("function", "where", "why"),
    [
        (NEAR, "device", "pub.x around this.x and pub.y around this.y, each way 20"),
        ("pub.x >= this.x - 5 and pub.x <= this.x + 5 and pub.kind = this.kind", "device", "each way 5"),
        ("distance(pub.x, pub.y, this.x, this.y) < 3", "device", "a box"),
        ("geo_distance(pub.x, pub.y, this.x, this.y) < 3", "software", "on the globe"),
        (f"{NEAR} or this.x > 3", "software", "no box"),
        ("pub.x = this.x", "software", "no box"),
        ("this.role = 'a'".replace("'", '"'), "software", "no box"),
    ],
)
def test_a_function_with_a_box_is_looked_at_on_the_device(function, where, why):
    found = fit(Filter.of("a = 1"), ContextFunction.of(function))
    *_, part = found.parts()
    assert (part.what, part.where) == ("context", where)
    assert why in part.why
    assert (found.box is not None) == (where == "device")


def test_what_is_no_equality_is_told_as_left_to_software():
    found = list(fit(Filter.of("a = 1 and b > 2 and not exists c")).parts())
    assert [(part.what, part.where, part.text) for part in found] == [
        ("conjunction", "device", "a = 1 and b > 2 and not exists c"),
        ("constraint", "software", "b > 2"),
        ("constraint", "software", "not exists c"),
    ]


ATOMS = ["a = 1", "a = true", 'a = "x"', "b = 0", "b != 1", "a > 0", "c in (1, 2)", "exists b", "true"]
SAID = st.dictionaries(st.sampled_from("abc"), st.sampled_from([0, -0.0, 1, 1.0, 2, True, False, "x"]))
conditions = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: f"({' and '.join(each)})"),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: f"({' or '.join(each)})"),
    ),
    max_leaves=6,
)


@settings(max_examples=500)
@given(conditions, SAID)
def test_whatever_a_filter_selects_has_all_words_of_one_of_its_conjunctions(filter, message):
    read = Filter.of(filter)
    found = fit(read)
    if found.is_on_device and read.selects(message):
        said = {(name, KINDS[type(value)], value) for name, value in message.items()}
        assert any(said.issuperset(each.words) for each in found.conjunctions)


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


def kept(values):
    return checked_context({name: value for name, value in values.items() if value is not None})


@settings(max_examples=500)
@given(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=3), positions, positions)
def test_whoever_a_function_holds_for_is_a_candidate(functions, own, published):
    alone = Alone()
    alone.set_context("car", **kept(own))
    rows = [alone.add("a = 1", function, id=str(i)) for i, function in enumerate(functions)]
    offered = kept(published)
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
        SetContext, SESSIONS, positions.map(lambda each: {**kept(each), **dict.fromkeys(each.keys() - kept(each))})
    ),
    st.builds(Disconnect, SESSIONS),
    st.builds(Publish, st.sampled_from(["all", "x only"]), MESSAGES, positions.map(kept)),
    st.builds(Publish, st.sampled_from(["all", "x only"]), MESSAGES, positions.map(kept)),
)
sizes = st.sampled_from([{}, {"sids": 2}, {"filters": 2}, {"subscribers": 1}])


@settings(max_examples=300)
@given(st.lists(box_events, max_size=40), sizes, st.integers(1, 10))
def test_a_log_of_boxes_and_borders_gives_the_oracles_notifications(events, sizes, batch):
    log = [Advertise("all", "a", "true"), Advertise("x only", "a", "true", ("x",)), *events]
    fold = Fold("plain", offload=over(ModelUnit(**sizes)))
    assert lines(silbo.replay(log, engine=fold, batch=batch)) == oracle(log)


# failures


@pytest.fixture
def told():
    """A broker over a model that can break, one subscriber near, and a publisher."""
    unit = ModelUnit()
    broker = silbo.Broker(offload=over(unit), index="plain")
    car, cam = broker.connect("car"), broker.connect("cam")
    car.set_context(x=0, y=0)
    cam.advertise("true")
    subscription = car.subscribe("a = 1 or b = 1", context=NEAR)
    yield unit, car, cam, subscription
    unit.broken = False
    broker.close()


def test_a_subscribe_that_fails_on_the_device_changes_nothing(told):
    unit, car, _, _ = told
    before = car.broker.stats()
    unit.broken = True
    with pytest.raises(DeviceError):
        car.subscribe("c = 1", context="abs(pub.x - this.x) <= 900")
    unit.broken = False
    assert car.broker.stats() == before
    car.subscribe("c = 1", context="abs(pub.x - this.x) <= 900")
    assert car.broker.stats()["offload"]["words"] == before["offload"]["words"] + 1


def test_an_unsubscribe_that_fails_on_the_device_leaves_the_subscription_there(told):
    unit, car, cam, subscription = told
    removed = unit.remove

    def remove_once(tsid):
        removed(tsid)
        unit.remove = fail

    def fail(_):
        unit.remove = removed
        raise DeviceError("the device does not answer.")

    unit.remove = remove_once
    with pytest.raises(DeviceError):
        subscription.close()
    for message in ({"a": 1}, {"b": 1}):
        cam.publish(message, context={"x": 0, "y": 0})
        assert subscription.poll() is not None
    subscription.close()
    assert car.broker.stats()["offload"] == {
        **dict.fromkeys(("device", "software", "tsids", "words", "rows"), 0),
        "matches": 2,
    }


def test_a_context_that_does_not_reach_the_device_is_not_set(told):
    unit, car, cam, subscription = told
    unit.broken = True
    with pytest.raises(DeviceError):
        car.set_context(x=1_000)
    unit.broken = False
    assert car.context == {"x": 0, "y": 0}
    cam.publish({"a": 1}, context={"x": 0, "y": 0})
    assert subscription.poll() is not None
    car.set_context(x=1_000)
    cam.publish({"a": 1}, context={"x": 1_000, "y": 0})
    assert subscription.poll() is not None


def test_contexts_set_in_bulk_are_all_set_or_none(told):
    unit, car, cam, subscription = told
    written = unit.set_context

    def write_once(row, box):
        written(row, box)
        unit.set_context = fail

    def fail(row, box):
        unit.set_context = written
        raise DeviceError("the device does not answer.")

    van = car.broker.connect("van")
    van.subscribe("a = 1", context=NEAR)
    unit.set_context = write_once
    with pytest.raises(DeviceError):
        car.broker.set_contexts([car, van], {"x": [1_000, 1], "y": [0, 1]})
    assert (car.context, van.context) == ({"x": 0, "y": 0}, {})
    cam.publish({"a": 1}, context={"x": 0, "y": 0})
    assert subscription.poll() is not None


def test_a_publish_that_the_device_cannot_match_is_not_accepted(told):
    unit, _, cam, subscription = told
    cam.set_context(x=0, y=0)
    unit.broken = True
    with pytest.raises(DeviceError):
        cam.publish({"a": 1})
    with pytest.raises(DeviceError):
        cam.publish_many([{"a": 1}, {"a": 1}])
    unit.broken = False
    cam.publish({"a": 1})
    assert [each.sequence for each in subscription.drain()] == [1]


# the broker


def test_a_name_that_no_device_has_is_refused_with_those_there_are():
    with pytest.raises(silbo.InvalidValue, match=r"offload: expected one of sim, pynq, auto, not 'fpga'\."):
        silbo.Broker(offload="fpga")


def test_without_a_board_it_is_said_what_is_missing_and_auto_is_software():
    with pytest.raises(HardwareUnavailable, match="is not there"):
        silbo.Broker(offload="pynq")
    with silbo.Broker(offload="auto") as broker:
        assert "offload" not in broker.stats()


def test_a_broker_that_finds_no_device_matches_in_software():
    with silbo.Broker(offload=lambda *_: None) as broker:
        car = broker.connect("car")
        car.advertise("true")
        subscription = car.subscribe("a = 1")
        car.publish({"a": 1})
        assert subscription.poll() is not None
        assert "offload" not in broker.stats()


def test_a_broker_closes_its_device_once():
    unit = ModelUnit()
    with silbo.Broker(offload=over(unit)) as broker:
        broker.connect("car").subscribe("a = 1")
        assert not unit.closed
        broker.close()
        assert unit.closed
        unit.closed = False
    assert not unit.closed


def test_a_broker_closes_though_its_device_does_not_answer():
    unit = ModelUnit()
    broker = silbo.Broker(offload=over(unit))
    car = broker.connect("car")
    car.subscribe("a = 1", context=NEAR)
    unit.broken = True
    broker.close()
    assert broker.closed
    assert car.closed


@pytest.mark.parametrize("values", ["columns", "lists"])
def test_contexts_set_in_bulk_reach_the_device(values):
    import numpy as np

    unit = ModelUnit()
    with silbo.Broker(offload=over(unit)) as broker:
        cars = [broker.connect(f"car-{i}") for i in range(3)]
        heard = [car.subscribe("a = 1", context=NEAR) for car in cars]
        software = cars[0].subscribe("a > 0", context=NEAR)
        cars[0].advertise("true")
        for places in ([0.0, 500.0, 1_000.0], [1_000.0, 0.0, 500.0]):
            column = np.array(places) if values == "columns" else places
            broker.set_contexts(cars, {"x": column, "y": column})
            cars[0].publish({"a": 1}, context={"x": 0.0, "y": 0.0})
            assert [each.poll() is not None for each in heard] == [place == 0.0 for place in places]
            assert (software.poll() is not None) == (places[0] == 0.0)
        cars[2].set_context(x=0.0, y=0.0)  # floats over floats, which are written past the door where nobody listens
        cars[0].publish({"a": 1}, context={"x": 0.0, "y": 0.0})
        assert heard[2].poll() is not None


def test_a_disconnect_gives_the_row_back():
    unit = ModelUnit(subscribers=1)
    with silbo.Broker(offload=over(unit)) as broker:
        for name in ("car", "van"):
            with broker.connect(name) as session:
                session.set_context(x=0, y=0)
                session.subscribe("a = 1", context=NEAR)
                assert broker.stats()["offload"]["rows"] == 1
        assert broker.stats()["offload"]["rows"] == 0


def test_the_index_beside_the_device_is_the_named_one_and_made_when_it_is_needed():
    with silbo.Broker(offload=over(ModelUnit()), index="fast") as broker:
        car = broker.connect("car")
        car.subscribe("a = 1")
        assert "candidates" not in broker.stats()
        car.subscribe("a > 1")
        assert "candidates" in broker.stats()  # of the kernels
    with silbo.Broker(offload=over(ModelUnit()), index="plain") as broker:
        broker.connect("car").subscribe("a > 1")
        assert "candidates" not in broker.stats()


# one answer


@pytest.fixture(scope="module", params=[1, 2, 3])
def log(request):
    return generate_log(request.param, EVENTS)


@pytest.fixture(scope="module")
def expected(log):
    return oracle(log)


@pytest.mark.parametrize("index", ["fast", "plain"])
@pytest.mark.parametrize("sizes", [{}, {"sids": 7, "filters": 9, "subscribers": 2}], ids=["whole", "small"])
def test_generated_logs_give_the_oracles_notifications_in_every_batching(log, expected, index, sizes):
    for batch in (None, 1, 7):
        fold = Fold(index, offload=over(ModelUnit(**sizes)))
        assert lines(silbo.replay(log, engine=fold, batch=batch)) == expected
        assert fold.core.stats()["offload"]["matches"] > 100


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
    assert lines(silbo.replay(log, engine=fold, batch=batch)) == oracle(log)


@pytest.mark.parametrize("read", [None, 1], ids=["whole", "in part"])
def test_the_engine_hw_lets_its_device_go_when_its_reader_stops(monkeypatch, log, read):
    unit = ModelUnit()
    monkeypatch.setitem(MAKERS, "sim", over(unit))
    notifications = silbo.replay(log, engine="hw", batch=100)
    next(notifications)
    assert not unit.closed
    if read is None:
        list(notifications)
    else:
        notifications.close()
    assert unit.closed


# the workload


@pytest.fixture(scope="module")
def roads():
    return workload.log(seed=1, publications=200)


def test_the_workload_is_the_same_for_the_same_seed(roads):
    assert workload.log(seed=1, publications=200) == roads
    assert workload.log(seed=2, publications=200) != roads


def test_nine_of_ten_subscriptions_of_the_workload_sit_on_the_device(roads):
    unit = ModelUnit()
    assert 0.9 <= workload.device_share(over(unit), roads) < 1.0
    assert unit.closed


def test_the_workload_on_a_device_gives_the_oracles_notifications_and_few_candidates_more(roads):
    fold = Fold(offload=over(ModelUnit()))
    got = fold.apply(roads)
    assert lines(got) == oracle(roads)
    on_device = [each for each in got if "prefix" not in filter_of(roads, each.subscriber)]
    stats = fold.core.stats()["offload"]
    assert len(on_device) <= stats["matches"] < 2 * len(on_device)


def filter_of(events, subscriber):
    return next(each.filter for each in events if isinstance(each, Subscribe) and each.session == subscriber)


# the command


def hw_fit_prints(capsys, *arguments):
    assert main(["hw", "fit", *arguments]) == 0
    return capsys.readouterr().out


def test_the_command_says_what_runs_where_and_why(capsys):
    told = hw_fit_prints(capsys, "a = 1 and b > 2", "--context", NEAR)
    assert told.splitlines()[0] == "candidates are found on the device"
    assert "software  constraint   b > 2" in told
    assert "device    context" in told
    assert hw_fit_prints(capsys, "b > 2").startswith("candidates are found in software")


def test_the_command_gives_one_json_object(capsys):
    told = json.loads(hw_fit_prints(capsys, "a = 1 or b = 2 and c > 3", "--context", NEAR, "--json"))
    assert (told["where"], told["tsids"]) == ("device", 2)
    assert [(part["what"], part["where"]) for part in told["parts"]] == [
        ("conjunction", "device"),
        ("conjunction", "device"),
        ("constraint", "software"),
        ("context", "device"),
    ]
