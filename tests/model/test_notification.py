"""A notification is a mapping of attributes. It can be copied, compared, pickled and written as a line of JSON."""

import copy
import json
import pickle
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor

import pytest

import silbo


@pytest.fixture
def session():
    with silbo.Broker(index="plain") as broker:
        session = broker.connect("camera")
        session.set_context(x=1.5, tags=["a", "b"], zone=silbo.geometry("POINT (1 2)"), secret=7)
        session.advertise("true", offers=["x", "tags", "zone"])
        yield session


@pytest.fixture
def notification(session):
    alerts = session.subscribe("true", include=["x", "tags", "zone"])
    session.publish({"msg": "accident", "severity": 4}, payload=b"\0\1")
    return alerts.get(timeout=1)


def test_a_notification_is_a_mapping_of_the_attributes(notification):
    assert isinstance(notification, Mapping)
    assert len(notification) == 2
    assert list(notification.items()) == [("msg", "accident"), ("severity", 4)]
    assert list(notification.values()) == ["accident", 4]
    assert {**notification, "more": 1} == {"msg": "accident", "severity": 4, "more": 1}
    assert notification.get("none", "default") == "default"
    match notification:
        case {"msg": "accident", "severity": severity}:
            assert severity == 4
        case _:
            pytest.fail("no case matches")


def test_a_notification_without_attributes_is_true(session):
    every = session.subscribe("true")
    session.publish({})
    assert bool(every.poll()) is True


def test_attributes_and_contexts_cannot_be_changed_and_can_be_copied(session, notification):
    for mapping in (notification.attributes, notification.context, session.context):
        with pytest.raises(TypeError, match=r"read-only. Copy it first"):
            mapping["new"] = 1
        with pytest.raises(TypeError, match="read-only"):
            mapping.update(new=1)
        assert dict(mapping) == mapping == copy.deepcopy(mapping) == pickle.loads(pickle.dumps(mapping))
        assert not repr(mapping).startswith("mappingproxy")


@pytest.mark.parametrize("copied", [lambda n: pickle.loads(pickle.dumps(n)), copy.copy, copy.deepcopy])
def test_a_copy_equals_the_notification(notification, copied):
    again = copied(notification)
    assert again == notification
    assert hash(again) == hash(notification)
    assert (again.context, again.payload, again.time) == (notification.context, b"\0\1", notification.time)
    assert again.to_json() == notification.to_json()


def test_variables_that_are_not_offered_are_not_pickled(notification):
    assert b"secret" not in pickle.dumps(notification)


def test_a_receipt_can_be_pickled_and_copied(session):
    receipt = session.publish({"a": 1})
    assert pickle.loads(pickle.dumps(receipt)).sequence == copy.deepcopy(receipt).sequence == receipt.sequence


def severity(notification):
    return notification["severity"]


def test_notifications_can_be_passed_to_a_process_pool(notification):
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(severity, notification).result(timeout=60) == 4


def test_two_notifications_of_one_message_differ(session):
    first, second = session.subscribe("true"), session.subscribe("true")
    session.publish({"a": 1})
    one, other = first.get(timeout=1), second.get(timeout=1)
    assert one != other
    assert one == {"a": 1} == other
    assert one != "a"


def test_the_json_line_is_what_a_replay_prints(notification):
    assert json.loads(notification.to_json()) == {
        "publisher": "camera", "sequence": 1, "subscriber": "camera", "subscription": "s1",
        "attributes": {"msg": "accident", "severity": 4},
        "context": {"x": 1.5, "tags": ["a", "b"], "zone": {"wkt": "POINT (1 2)"}},
        "payload": {"base64": "AAE="},
    }  # fmt: skip
