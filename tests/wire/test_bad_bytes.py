"""Bytes that are not an event or not a record: one class of error each, whatever they are, with a short reason."""

import json
from pathlib import Path

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import silbo
from silbo.errors import InvalidRecord
from silbo.model.events import Advertise, Disconnect, Publish, SetContext, Subscribe, Unadvertise, Unsubscribe
from silbo.testing import generate_log
from silbo.wire import events, records
from silbo.wire.jsonl import event_json

CORPUS = json.loads((Path(__file__).parent / "version1.json").read_text(encoding="utf-8"))["records"]
RECORDS = [bytes.fromhex(each["hex"]) for each in CORPUS.values()]
EVENTS = [
    *(events.encode(each, number=i, uuid="u") for i, each in enumerate(generate_log(7, 60), 1)),
    events.encode(SetContext("s", {"zone": silbo.geometry("POLYGON ((0 0, 9 0, 9 9, 0 0))"), "x": None})),
    events.encode(Publish.checked("s", {"a": 1}, {"tags": ["a", "b"]}, "true", b"photo")),
]


def text_of(data):
    """The event as a line of JSON, which shows all its details; None if the bytes are refused."""
    try:
        return event_json(events.decode(data))
    except silbo.InvalidEvent:
        return None


def check(data):
    """Fail if a decoder raises another error than its own, or accepts what it could not read back."""
    text = text_of(data)
    assert text is None or text_of(events.encode(events.decode(data))) == text
    try:
        record = records.decode(data)
    except InvalidRecord:
        return
    assert isinstance(record, records.Record)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused_or_read(data):
    check(data)


@st.composite
def edited(draw, valid):
    """Valid bytes with some places cut out, changed or lengthened."""
    data = bytearray(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        data[start : start + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return bytes(data)


@given(edited(EVENTS))
def test_edited_bytes_of_events_are_refused_or_read(data):
    check(data)


@given(edited(RECORDS))
def test_edited_bytes_of_records_are_refused_or_read(data):
    check(data)


INTEGERS = st.integers(-(2**63), 2**64 - 1)
EXTENSIONS = st.builds(msgpack.ExtType, st.integers(0, 4), st.binary(max_size=5))
LEAVES = st.one_of(
    st.none(), st.booleans(), INTEGERS, st.floats(), st.text(max_size=5), st.binary(max_size=5), EXTENSIONS
)
NESTED = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | INTEGERS, inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(NESTED, max_size=8), st.integers(0, 9))
@example([], 1)
def test_msgpack_of_any_fields_is_refused_or_read(fields, kind):
    check(msgpack.packb([1, kind, 1, 2, "u", "s", *fields]))


@given(st.sampled_from(sorted(records.READERS)), st.lists(NESTED, max_size=10))
def test_msgpack_of_any_fields_of_a_record_is_refused_or_read(kind, fields):
    check(msgpack.packb([1, kind, 5, *fields]))


@pytest.mark.parametrize("data", EVENTS[:20] + EVENTS[-2:])
def test_a_truncated_event_is_refused(data):
    assert [text_of(data[:end]) for end in range(len(data))] == [None] * len(data)


@pytest.mark.parametrize("data", RECORDS)
def test_a_truncated_record_is_refused(data):
    for end in range(len(data)):
        with pytest.raises(InvalidRecord):
            records.decode(data[:end])


@pytest.mark.parametrize("data", EVENTS[-2:])
def test_an_event_with_a_byte_too_many_is_refused(data):
    assert text_of(data + b"\0") is None


@pytest.mark.parametrize("data", RECORDS)
def test_a_record_is_no_event(data):
    assert text_of(data) is None


@pytest.mark.parametrize("data", EVENTS)
def test_an_event_is_no_record(data):
    with pytest.raises(InvalidRecord):
        records.decode(data)


def test_arrays_deeper_than_any_event_are_refused():
    check(b"\x91" * 100_000)
    check(b"\xdd\x00\x0f\x00\x00" * 500 + bytes(2**20 - 2_500))


# each check, one at a time


def unadvertise(version=1, kind=2, number=None, time=None, uuid=None, session="s", id="a1"):
    return [version, kind, number, time, uuid, session, id]


def advertise(filter="true", offers=None, reads=None):
    return [1, 1, None, None, None, "s", "a1", filter, offers, reads]


def subscribe(filter="true", context=None, include=()):
    return [1, 3, None, None, None, "s", "s1", filter, context, include]


def unsubscribe(reason=None, dropped=()):
    return [1, 4, None, None, None, "s", "s1", reason, dropped]


def set_context(values):
    return [1, 5, None, None, None, "s", values]


def publish(scope=None, context=None, dropped=(), attributes=None, payload=None):
    return [1, 6, None, None, None, "s", scope, context or {}, dropped, attributes or {}, payload]


def extension(code, content):
    return msgpack.ExtType(code, msgpack.packb(content))


LONG = "n" * 256
BAD = {
    "no array": ({"version": 1}, "an event is an array of version, kind"),
    "an empty array": ([], "an event is an array"),
    "a text as version": (unadvertise(version="1"), "an event is an array"),
    "a bool as version": (unadvertise(version=True), "an event is an array"),
    "version 0": (unadvertise(version=0), "there is no version 0"),
    "a newer version": ([2], "Update silbo"),
    "no session": ([1, 7, None, None, None], "begins with version"),
    "a kind as text": (unadvertise(kind="unadvertise"), "unknown kind 'unadvertise'; expected one of 1 to 7"),
    "a kind as bool": (unadvertise(kind=True), "unknown kind True"),
    "an unknown kind": (unadvertise(kind=8), "unknown kind 8"),
    "too few fields": (unadvertise()[:-1], "kind 2 has id after its head; here are 0"),
    "too many fields": ([*unadvertise(), None], "here are 2 fields"),
    "a field of disconnect": ([1, 7, None, None, None, "s", "id"], "kind 7 has no fields"),
    "number 0": (unadvertise(number=0), "number: a number from 1"),
    "a number as bool": (unadvertise(number=True), "number: "),
    "a number as float": (unadvertise(number=1.0), "number: "),
    "a number beyond 64 bits": (unadvertise(number=2**63), "number: an integer of 64 bits"),
    "a time as float": (unadvertise(time=5.0), "time: an integer of 64 bits"),
    "a time beyond 64 bits": (unadvertise(time=2**63), "time: "),
    "an empty uuid": (unadvertise(uuid=""), "uuid: a name must not be empty"),
    "a uuid as bytes": (unadvertise(uuid=b"\x00" * 16), "uuid: a name must be a string"),
    "nil as session": (unadvertise(session=None), "session: a name must be a string"),
    "an empty session": (unadvertise(session=""), "session: a name must not be empty"),
    "a long session": (unadvertise(session=LONG), "session: 256 bytes"),
    "an empty id": (unadvertise(id=""), "id: "),
    "nil as id": (unadvertise(id=None), "id: "),
    "nil as filter": (advertise(filter=None), "filter: an expression is a string"),
    "bytes as filter": (advertise(filter=b"true"), "filter: "),
    "a name in place of offers": (advertise(offers="x"), "offers: a list of names"),
    "a map as offers": (advertise(offers={"x": 1}), "offers: a list of names"),
    "a set as offers": (advertise(offers=extension(1, ["x"])), "offers: a list of names"),
    "an empty name in reads": (advertise(reads=["x", ""]), r"reads\[1\]: a name must not be empty"),
    "a number as function": (subscribe(context=1), "context: an expression is a string"),
    "nil as include": (subscribe(include=None), "include: a list of names"),
    "an unknown reason": (unsubscribe(reason="fast"), 'reason: "slow" or nil'),
    "nil as dropped": (unsubscribe(dropped=None), "dropped: an array of notifications"),
    "a dropped of three": (unsubscribe(dropped=[["p", 1, "s"]]), r"dropped\[0\]: an array of publisher, sequence"),
    "a dropped sequence 0": (unsubscribe(dropped=[["p", 0, "s", "i"]]), r"dropped\[0\]\.sequence: "),
    "a dropped name too long": (publish(dropped=[["p", 1, LONG, "i"]]), r"dropped\[0\]\.subscriber: 256 bytes"),
    "nil as values": (set_context(None), "values: a mapping of names"),
    "an array as values": (set_context([]), "values: a mapping of names"),
    "a number as name": (set_context({1: 2}), "values key 1: a name must be a string"),
    "an array as name": (b"\x97\x01\x05\xc0\xc0\xc0\xa1s\x81\x91\x01\x02", "unhashable"),
    "a name twice": (b"\x97\x01\x05\xc0\xc0\xc0\xa1s\x82\xa1x\x01\xa1x\x02", "a map has a key twice"),
    "NaN": (set_context({"x": float("nan")}), r"values\.x: nan is not a finite number"),
    "infinity": (publish(attributes={"x": float("inf")}), r"attributes\.x: inf is not a finite number"),
    "an integer beyond 64 bits": (set_context({"x": 2**63}), r"values\.x: 9223372036854775808 is outside"),
    "bytes as a value": (set_context({"x": b"1"}), r"values\.x: bytes is not a type of value"),
    "a map as a value": (set_context({"x": {"y": 1}}), r"values\.x: a nested mapping"),
    "a long string": (set_context({"x": "s" * 65_536}), r"values\.x: 65,536 bytes"),
    "no UTF-8": (b"\x96\x01\x07\xc0\xc0\xc0\xa1\xff", "utf-8"),
    "a lone surrogate": (b"\x96\x01\x07\xc0\xc0\xc0\xa3\xed\xa0\x80", "utf-8"),
    "a set of two types": (set_context({"x": extension(1, [1, "a"])}), "a set holds one type"),
    "a large set": (set_context({"x": extension(1, list(range(1_025)))}), "1,025 members"),
    "a set that is a map": (set_context({"x": extension(1, {})}), "extension type 1"),
    "a geometry of another form": (set_context({"x": extension(2, ["wkb", "POINT (1 2)"])}), "extension type 2"),
    "WKT as GeoJSON": (set_context({"x": extension(2, ["geojson", "POINT (1 2)"])}), "extension type 2"),
    "an invalid geometry": (set_context({"x": extension(2, ["wkt", "POINT"])}), "geometry: this is no WKT"),
    "an unknown extension": (set_context({"x": extension(3, [])}), "extension type 3 is unknown"),
    "a timestamp": (set_context({"x": msgpack.Timestamp(1)}), "Timestamp is not a type of value"),
    "nil as a context": ([*publish()[:7], None, *publish()[8:]], "context: a mapping of names"),
    "nil as a variable": (publish(context={"x": None}), r"context\.x: None is not a value"),
    "65 variables": (publish(context={f"v{i}": i for i in range(65)}), "65 context variables"),
    "nil as attributes": ([*publish()[:9], None, None], "attributes: a mapping of names"),
    "nil as an attribute": (publish(attributes={"a": None}), r"attributes\.a: None is not a value"),
    "a set as an attribute": (publish(attributes={"a": extension(1, [1])}), r"attributes\.a: "),
    "257 attributes": (publish(attributes={f"a{i}": i for i in range(257)}), "257 attributes"),
    "an attribute twice": (b"\x9b\x01\x06\xc0\xc0\xc0\xa1s\xc0\x80\x90\x82\xa1a\x01\xa1a\x02\xc0", "a key twice"),
    "a text as payload": (publish(payload="photo"), "payload: a payload is bytes"),
    "a message too large": (publish(attributes={"a": 1}, payload=bytes(2**20)), "bytes in a message"),
    "a number as scope": (publish(scope=1), "scope: an expression is a string"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_event_is_refused_with_its_reason(what):
    given, reason = BAD[what]
    with pytest.raises(silbo.InvalidEvent, match=reason):
        events.decode(given if isinstance(given, bytes) else msgpack.packb(given))


def test_the_examples_of_bad_events_are_good_without_their_fault():
    whole = [
        unadvertise(),
        advertise(),
        subscribe(),
        unsubscribe(),
        set_context({}),
        publish(),
        [1, 7, None, None, None, "s"],
    ]
    assert {type(events.decode(msgpack.packb(each))) for each in whole} == {
        Advertise, Unadvertise, Subscribe, Unsubscribe, SetContext, Publish, Disconnect,
    }  # fmt: skip


@pytest.mark.parametrize("bad", [set_context({"\0" * 1_200_000: 1}), unadvertise(kind="k" * 1_200_000)])
def test_the_reason_is_short_for_a_long_value(bad):
    with pytest.raises(silbo.InvalidEvent) as raised:
        events.decode(msgpack.packb(bad))
    assert 0 < len(str(raised.value)) <= events.REASON + 1
