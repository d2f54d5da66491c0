"""Bytes of version 1, as they are in topics, local logs and checkpoints: they are read, and written again as they are.

version1.json has the bytes, as silbo wrote them before `silbo.wire` existed; this file says what each of them means.
"""

import json
from pathlib import Path

import pytest
from shapely import Point

import silbo
from silbo.model.values import ValueSet
from silbo.streaming.bulk.order import Arrival
from silbo.streaming.bulk.snapshots import pack, pack_delta, restored, unpack_delta
from silbo.streaming.bulk.step import Delta, Settings, records_of
from silbo.streaming.local.log import Writer, create, partition_file, read_all
from silbo.streaming.topics import BEATS, CONTEXTS, INPUTS, PUBLICATIONS, SUBSCRIPTIONS
from silbo.wire.records import (
    ContextRecord,
    NotificationRecord,
    PublicationRecord,
    RejectionRecord,
    SubscriptionRecord,
    TickRecord,
    UnsubscriptionRecord,
    decode,
    encode,
    notification_beginning,
    notification_end,
    notification_recipient,
)

CORPUS = json.loads((Path(__file__).parent / "version1.json").read_text(encoding="utf-8"))

CAR = "11110000-0000-4000-8000-000000000001"
BUS = "22220000-0000-4000-8000-000000000002"
CAMERA = "33330000-0000-4000-8000-000000000003"
NOON = 1_800_000_000_000_000
LARGEST = 2**63 - 1


def members(*given):
    return ValueSet(given)


ZONE = silbo.geometry("POINT (1 2)")
AREA = silbo.geometry({"type": "Polygon", "coordinates": [[[0, 0], [9, 0], [9, 9.5], [0, 0]]]})
SHOWN = {"x": 15.0, "tags": members("a", "b"), "zone": ZONE}
ACCIDENT = {"msg": "accident", "severity": 4, "exact": -0.0, "open": True}

RECORDS = {
    "subscribe": SubscriptionRecord(
        time=NOON, subscriber=CAR, name="car-1", id="s1", filter='msg = "accident" and severity >= 3',
        context="abs(pub.x - this.x) <= 20", include=("y", "größe"),
    ),
    "subscribe-bare": SubscriptionRecord(-LARGEST, CAR, "日本", "a.b", "true", None, ()),
    "unsubscribe": UnsubscriptionRecord(time=NOON + 1, subscriber=CAR, id="s1"),
    "context-numbers": ContextRecord(
        NOON + 2,
        CAR,
        {
            "zero": 0, "minus_one": -1, "byte": 127, "more": 128, "below": -33, "large": 2**31, "odd": 2**53 + 1,
            "most": LARGEST, "least": -(2**63), "whole": 1.0, "minus_zero": -0.0, "tiny": 5e-324, "huge": 1e300,
            "third": 0.1 + 0.2,
        },
    ),
    "context-scalars": ContextRecord(
        NOON + 3,
        CAR,
        {
            "yes": True, "no": False, "empty": "", "nul": "\0", "text": "Zoë 🚗", "long": "x" * 40,
            "longer": "é" * 150,
        },
    ),
    "context-sets": ContextRecord(
        NOON + 4,
        CAR,
        {
            "numbers": members(2, 1.0, 2, -0.0, LARGEST), "strings": members("b", "a", ""),
            "bools": members(True, False), "none": members(), "many": members(*range(20)),
        },
    ),
    "context-geometries": ContextRecord(
        NOON + 5, CAR, {"wkt": ZONE, "area": AREA, "shape": silbo.geometry(Point(0.1 + 0.2, -0.0))}
    ),
    "context-empty": ContextRecord(0, CAR, {}),
    "context-wide": ContextRecord(7, CAR, {f"v{i}": i for i in range(20)}),
    "publish": PublicationRecord(
        time=NOON + 6, publisher=CAMERA, name="cam-1", sequence=7, attributes=ACCIDENT, context=SHOWN,
        for_scope={"secret": 2**53 + 1}, scope='sub.role != "guest" and this.secret > 1', payload=b"\x00\x01\xff",
    ),
    "publish-bare": PublicationRecord(1, CAMERA, "cam-1", 1, {}, {}, {}, None, None),
    "publish-empty-payload": PublicationRecord(2, CAMERA, "cam-1", 2, {"n": 1}, {}, {}, None, b""),
    "publish-large": PublicationRecord(
        LARGEST - 1, CAMERA, "cam-1", LARGEST,
        {"text": "t" * 300, "number": LARGEST, **{f"a{i}": i for i in range(15)}}, {}, {}, None, b"\xab" * 300,
    ),
    "tick": TickRecord(NOON + 7),
    "tick-last": TickRecord(LARGEST),
    "notify": NotificationRecord(
        time=NOON + 6, publisher_uuid=CAMERA, publisher="cam-1", sequence=7, subscriber_uuid=CAR, subscriber="car-1",
        subscription="s1", attributes=ACCIDENT, context=SHOWN, payload=b"\x00\x01\xff",
    ),
    "notify-bare": NotificationRecord(1, CAMERA, "cam-1", 1, CAR, "car-1", "s1", {}, {}, None),
    "notify-empty-payload": NotificationRecord(
        2, CAMERA, "cam-1", 2**53 + 1, CAR, "car-1", "s1", {"n": LARGEST, "m": -(2**63)}, {}, b""
    ),
    "reject": RejectionRecord(
        time=0, topic="silbo.contexts", partition=2, offset=12_345_678_901, reason="values.größe: no value",
        value=b"\x93\x01\xff",
    ),
    "reject-empty": RejectionRecord(0, "silbo.publications", 0, 0, "this is not a msgpack record of silbo", b""),
}  # fmt: skip
NOTIFICATIONS = [name for name, record in RECORDS.items() if isinstance(record, NotificationRecord)]


def bytes_of(name):
    return bytes.fromhex(CORPUS["records"][name]["hex"])


def test_every_record_of_the_corpus_has_its_meaning_here():
    assert list(CORPUS["records"]) == list(RECORDS)


@pytest.mark.parametrize("name", RECORDS)
def test_bytes_are_read_to_their_record(name):
    assert decode(bytes_of(name)) == RECORDS[name]


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_exactly_its_bytes(name):
    assert encode(RECORDS[name]).hex() == bytes_of(name).hex()


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_was_read_is_written_as_it_came(name):
    """Types of numbers, orders of members and forms of geometries included, which equality does not see."""
    assert encode(decode(bytes_of(name))).hex() == bytes_of(name).hex()


@pytest.mark.parametrize("name", NOTIFICATIONS)
def test_beginning_recipient_and_end_of_a_notification_are_its_bytes(name):
    notified = RECORDS[name]
    beginning = notification_beginning(notified.time, notified.publisher_uuid, notified.publisher, notified.sequence)
    recipient = notification_recipient(notified.subscriber_uuid, notified.subscriber, notified.subscription)
    end = notification_end(notified.attributes, notified.context, notified.payload)
    assert beginning + recipient + end == bytes_of(name)


LOGGED = [ContextRecord(1, CAR, {"x": 1}), ContextRecord(2, CAR, {"x": 2.5}), TickRecord(9)]


def test_a_partition_of_a_local_log_is_read_up_to_its_torn_end(tmp_path):
    create(tmp_path, CONTEXTS, 1)
    partition_file(tmp_path, CONTEXTS, 0).write_bytes(bytes.fromhex(CORPUS["log"]["hex"]))
    assert list(map(decode, read_all(tmp_path, CONTEXTS, 0))) == LOGGED


def test_a_partition_of_a_local_log_has_exactly_its_bytes(tmp_path):
    create(tmp_path, CONTEXTS, 1)
    writer = Writer(tmp_path, CONTEXTS, 0)
    for record in LOGGED:
        writer.append(encode(record))
    end = writer.close()
    assert partition_file(tmp_path, CONTEXTS, 0).read_bytes() == bytes.fromhex(CORPUS["log"]["hex"])[:end]


# checkpoints: the records in them were checked before, so their lists of names stay lists


EXPECTED = tuple((topic, 0) for topic in INPUTS)
SETTINGS = {
    "checkpoint": Settings("strict", 5, EXPECTED),
    "idle-checkpoint": Settings("strict", 5, EXPECTED, idle=3_000_000),
}
MARKS = {
    "checkpoint": [
        dict.fromkeys(EXPECTED, 100),
        {(SUBSCRIPTIONS, 0): 200, (CONTEXTS, 0): 151, (PUBLICATIONS, 0): 161},
        dict.fromkeys(EXPECTED, 300),
    ],
    "idle-checkpoint": [
        {**dict.fromkeys(EXPECTED, 100), (BEATS, 0): 1_000_000},
        {(PUBLICATIONS, 0): 161, (BEATS, 0): 3_000_000},
        {(BEATS, 0): 7_000_000},
    ],
}

NEAR = ('msg = "accident"', "abs(pub.x - this.x) <= 20", ["y"])
PLACE = {"x": 12.0, "role": "taxi", "tags": members("b", "a"), "zone": ZONE}


def arrivals(topic, *placed):
    """Records with their offsets in the first partition of a topic."""
    return [Arrival(each.time, topic == PUBLICATIONS, topic, 0, offset, each) for offset, each in placed]


BEGINNING = [
    *arrivals(
        SUBSCRIPTIONS,
        (0, SubscriptionRecord(10, CAR, "car-1", "s1", *NEAR)),
        (1, SubscriptionRecord(11, BUS, "bus-2", "s1", "true", None, [])),
        (2, SubscriptionRecord(12, BUS, "bus-2", "s2", "severity >= 3", None, [])),
    ),
    *arrivals(CONTEXTS, (0, ContextRecord(13, CAR, PLACE)), (1, ContextRecord(14, BUS, {"x": 1, "y": -0.0}))),
]
ENDED = arrivals(SUBSCRIPTIONS, (4, UnsubscriptionRecord(150, BUS, "s2")))
MOVED = arrivals(CONTEXTS, (3, ContextRecord(151, CAR, {"x": 13.5})))
MESSAGES = arrivals(
    PUBLICATIONS,
    (
        1,
        PublicationRecord(
            160, CAMERA, "cam-1", 1, {"msg": "accident", "severity": 4, "n": LARGEST}, {"x": 15.0, "y": 42},
            {"secret": members(1, 2)}, 'sub.role != "guest" or 1 in this.secret', b"\x00\x01",
        ),
    ),
    (2, PublicationRecord(161, CAMERA, "cam-1", 2, {}, {}, {}, None, None)),
)  # fmt: skip
GONE = arrivals(CONTEXTS, (4, ContextRecord(170, BUS, {})))
KEPT = {
    "checkpoint": [BEGINNING, [*ENDED, *MOVED, *MESSAGES], GONE],
    "idle-checkpoint": [BEGINNING, MESSAGES, []],
}

WAITING = {"checkpoint": [*ENDED, *MOVED, *MESSAGES], "idle-checkpoint": MESSAGES}
SNAPSHOT = [  # of both, as of the frontier
    SubscriptionRecord(0, CAR, "car-1", "s1", *NEAR),
    ContextRecord(0, CAR, PLACE),
    SubscriptionRecord(0, BUS, "bus-2", "s1", "true", None, []),
    SubscriptionRecord(0, BUS, "bus-2", "s2", "severity >= 3", None, []),
    ContextRecord(0, BUS, {"x": 1, "y": -0.0}),
]
END = {
    "checkpoint": [
        SubscriptionRecord(0, CAR, "car-1", "s1", *NEAR),
        ContextRecord(0, CAR, {"x": 13.5}),
        SubscriptionRecord(0, BUS, "bus-2", "s1", "true", None, []),
    ],
    "idle-checkpoint": SNAPSHOT,
}


def stored(name, part):
    return [bytes.fromhex(each) for each in CORPUS[name][part]]


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_delta_of_a_checkpoint_is_read_and_written_as_it_is(name, number):
    data, delta = stored(name, "deltas")[number], Delta(MARKS[name][number], KEPT[name][number])
    assert unpack_delta(data) == delta
    assert pack_delta(delta).hex() == data.hex()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_snapshot_of_a_checkpoint_is_read_and_written_as_it_is(name):
    chunks = stored(name, "snapshot")
    state = restored(SETTINGS[name], chunks, [])
    assert list(records_of(state)) == SNAPSHOT
    assert state.waiting == WAITING[name]
    assert [chunk.hex() for chunk in pack(state)] == [chunk.hex() for chunk in chunks]


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("has_snapshot", [False, True])
def test_a_state_is_restored_from_the_deltas_of_a_checkpoint(name, has_snapshot):
    deltas = stored(name, "deltas")
    chunks, since = (stored(name, "snapshot"), deltas[2:]) if has_snapshot else ([], deltas)
    state = restored(SETTINGS[name], chunks, since)
    assert list(records_of(state)) == END[name]
    assert state.waiting == []
