"""Events in msgpack: nothing is lost or changed, and the layout is the one that the module describes."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

import silbo
from silbo.model.events import (
    Advertise,
    Disconnect,
    Dropped,
    Publish,
    SetContext,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from silbo.model.geometry import Geometry
from silbo.model.values import ValueSet, checked_changes
from silbo.testing import strategies
from silbo.wire.events import decode, decode_numbered, encode, message_of
from silbo.wire.jsonl import event_json, parse_event

INTEGERS = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(min_size=1, max_size=40)
TIMES = st.none() | INTEGERS
LISTS = st.lists(NAMES, max_size=3).map(tuple)
TEXTS = strategies.filters() | st.text(max_size=20)
LOST = st.lists(st.builds(Dropped, NAMES, st.integers(1, 2**63 - 1), NAMES, NAMES), max_size=3).map(tuple)
CHANGES = st.tuples(strategies.contexts(), st.sets(NAMES, max_size=2)).map(
    lambda given: checked_changes({**given[0], **dict.fromkeys(given[1])})
)

EVENTS = st.one_of(
    st.builds(Advertise, NAMES, NAMES, TEXTS, st.none() | LISTS, st.none() | LISTS, time=TIMES),
    st.builds(Unadvertise, NAMES, NAMES, time=TIMES),
    st.builds(Subscribe, NAMES, NAMES, TEXTS, st.none() | TEXTS, LISTS, time=TIMES),
    st.builds(Unsubscribe, NAMES, NAMES, time=TIMES, reason=st.sampled_from([None, "slow"]), dropped=LOST),
    st.builds(SetContext, NAMES, CHANGES, time=TIMES),
    st.builds(
        Publish.checked, NAMES, strategies.attributes(), strategies.contexts(), st.none() | TEXTS,
        st.none() | st.binary(max_size=20), time=TIMES, dropped=LOST,
    ),
    st.builds(Disconnect, NAMES, time=TIMES),
)  # fmt: skip

FIELDS = {
    Advertise: ("session", "id", "filter", "offers", "reads", "time"),
    Unadvertise: ("session", "id", "time"),
    Subscribe: ("session", "id", "filter", "context", "include", "time"),
    Unsubscribe: ("session", "id", "reason", "dropped", "time"),
    SetContext: ("session", "values", "time"),
    Publish: ("session", "attributes", "context", "scope", "payload", "dropped", "time"),
    Disconnect: ("session", "time"),
}


def exact(value):
    """A value with what equality does not see: types of numbers, signs of zeros, orders, the forms of geometries."""
    match value:
        case ValueSet():
            return "set", [repr(each) for each in value.given]
        case Geometry():
            return "geometry", repr(value.given)
        case dict():
            return [(name, exact(each)) for name, each in value.items()]
        case _:
            return repr(value)


def details(event):
    return type(event), [exact(getattr(event, name)) for name in FIELDS[type(event)]]


@given(EVENTS)
def test_an_event_that_was_encoded_and_decoded_is_the_same_in_all_details(event):
    again = decode(encode(event))
    assert again == event
    assert details(again) == details(event)


@given(strategies.logs(30))
def test_the_events_of_a_log_are_the_same_in_all_details(events):
    assert [details(decode(encode(event))) for event in events] == [details(event) for event in events]


@given(EVENTS)
def test_msgpack_and_json_give_the_same_event(event):
    assert details(parse_event(event_json(event))) == details(decode(encode(event)))


@given(EVENTS, st.none() | st.integers(1, 2**63 - 1), st.none() | NAMES)
def test_the_number_and_the_uuid_travel_with_the_event(event, number, uuid):
    numbered = decode_numbered(encode(event, number=number, uuid=uuid))
    assert (numbered.number, numbered.uuid) == (number, uuid)
    assert details(numbered.event) == details(event)


NUMBERS = [0, 1, 1.0, -0.0, True, 2**53 + 1, 2**63 - 1, -(2**63), 5e-324, 1e300]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_comes_back_as_it_was_given(number):
    event = decode(encode(Publish("s", {"n": number}, {"n": number})))
    assert repr(event.attributes["n"]) == repr(event.context["n"]) == repr(number)


LOST_ONE = Dropped("camera", 3, "car", "s1")
LAYOUTS = [
    (Advertise("s", "a1", "x = 1", ("x",), ()), [1, 1, None, None, None, "s", "a1", "x = 1", ["x"], []]),
    (Advertise("s", "a1", "true"), [1, 1, None, None, None, "s", "a1", "true", None, None]),
    (Unadvertise("s", "a1", time=-5), [1, 2, None, -5, None, "s", "a1"]),
    (
        Subscribe("s", "s1", "true", "this.x = 1", ("y",)),
        [1, 3, None, None, None, "s", "s1", "true", "this.x = 1", ["y"]],
    ),
    (Unsubscribe("s", "s1"), [1, 4, None, None, None, "s", "s1", None, []]),
    (
        Unsubscribe("s", "s1", reason="slow", dropped=(LOST_ONE,)),
        [1, 4, None, None, None, "s", "s1", "slow", [["camera", 3, "car", "s1"]]],
    ),
    (SetContext("s", {"x": 1, "old": None}, time=7), [1, 5, None, 7, None, "s", {"x": 1, "old": None}]),
    (
        Publish("s", {"n": 1}, {"x": 1.0}, "sub.x = 1", b"\x00", dropped=(LOST_ONE,)),
        [1, 6, None, None, None, "s", "sub.x = 1", {"x": 1.0}, [["camera", 3, "car", "s1"]], {"n": 1}, b"\x00"],
    ),
    (Publish("s", {}, {}), [1, 6, None, None, None, "s", None, {}, [], {}, None]),
    (Disconnect("s"), [1, 7, None, None, None, "s"]),
]


@pytest.mark.parametrize(("event", "layout"), LAYOUTS)
def test_any_msgpack_library_reads_the_elements_of_an_event(event, layout):
    assert msgpack.unpackb(encode(event)) == layout


@pytest.mark.parametrize(("event", "layout"), LAYOUTS)
def test_an_event_is_read_from_the_elements_that_any_msgpack_library_writes(event, layout):
    assert details(decode(msgpack.packb(layout))) == details(event)


def test_number_time_and_uuid_stand_between_the_kind_and_the_session():
    assert msgpack.unpackb(encode(Disconnect("s", time=5), number=9, uuid="u")) == [1, 7, 9, 5, "u", "s"]


def test_sets_and_geometries_are_the_extension_types_of_records():
    values = checked_changes({"set": [2, 1.0, 2], "place": silbo.geometry("POINT (1 2)")})
    found = msgpack.unpackb(encode(SetContext("s", values)))[-1]
    assert found == {
        "set": msgpack.ExtType(1, msgpack.packb([2, 1.0, 2])),
        "place": msgpack.ExtType(2, msgpack.packb(["wkt", "POINT (1 2)"])),
    }


# the message of a publish


PUBLISH = Publish("cam", {"msg": "ice", "n": 1}, {"x": 15.0}, "sub.x = 1", b"photo", time=5)


@pytest.mark.parametrize("payload", [None, b"", b"photo", b"x" * 70_000])
def test_the_message_of_a_publish_is_its_attributes_and_then_its_payload(payload):
    publish = Publish("cam", {"msg": "ice", "n": 1}, {"x": 15.0}, "sub.x = 1", payload)
    data = encode(publish, number=3, uuid="u")
    assert message_of(data) == msgpack.packb({"msg": "ice", "n": 1}) + msgpack.packb(payload)
    assert data.endswith(message_of(data))


def test_a_message_is_forwarded_as_its_publisher_wrote_it():
    """Another encoder may choose longer forms of numbers and strings than silbo does."""
    written = bytes.fromhex("df00000002 d9016e d30000000000000004 a166 ca3f800000 c5000121")
    received = bytes.fromhex("9b 01 06 c0 c0 c0 a1 63 c0 80 90") + written
    event = decode(received)
    assert (event.attributes, event.payload) == ({"n": 4, "f": 1.0}, b"!")
    forwarded = encode(Publish("c", event.attributes, {"x": 1}, None, event.payload), message=message_of(received))
    assert forwarded.endswith(written)
    assert details(decode(forwarded)) == details(Publish("c", {"n": 4, "f": 1.0}, {"x": 1}, None, b"!"))


@given(st.builds(Publish.checked, NAMES, strategies.attributes(), strategies.contexts(), payload=st.binary(max_size=9)))
def test_a_publish_with_the_message_of_another_is_what_that_one_would_be(event):
    assert encode(event, number=1, message=message_of(encode(event))) == encode(event, number=1)


# what cannot be encoded


@pytest.mark.parametrize(
    "event",
    [
        Disconnect("s", time=2**63),
        Disconnect("s", time=-(2**63) - 1),
        Disconnect("s", time=10**5_000),
        Subscribe("s", "s1", "x = '\ud800'"),
        Publish("s", {"n": 2**64}, {}),
        Publish("s", {"n": object()}, {}),
    ],
)
def test_an_event_that_no_decoder_would_take_is_not_encoded(event):
    with pytest.raises(silbo.InvalidEvent):
        encode(event)
