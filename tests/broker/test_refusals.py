"""Refused calls, and that a refusal changes nothing."""

import pytest

from silbo import errors


def state(broker):
    """Everything that a refusal must not change."""
    return broker.tables(), broker.stats()


VERBS = {
    "advertise": lambda session: session.advertise("true"),
    "unadvertise": lambda session: session.unadvertise("a"),
    "subscribe": lambda session: session.subscribe("true"),
    "unsubscribe": lambda session: session.unsubscribe("s"),
    "set_context": lambda session: session.set_context(x=1),
    "publish": lambda session: session.publish({"a": 1}),
    "publish_many": lambda session: session.publish_many([{"a": 1}]),
    "flush": lambda session: session.flush(),
    "context": lambda session: session.context,
}


@pytest.mark.parametrize("verb", VERBS)
def test_any_verb_on_a_closed_session_is_refused(broker, verb):
    session = broker.connect("gone")
    session.close()
    before = state(broker)
    with pytest.raises(errors.Closed, match=r"session 'gone' is closed\. Open a new one"):
        VERBS[verb](session)
    assert state(broker) == before


async def a_coroutine(notification):
    return notification


REFUSED = {
    "unknown operator": lambda s: s.subscribe("a >> 1"),
    "unknown function": lambda s: s.subscribe("true", context="foo(pub.x) = 1"),
    "wrong namespace": lambda s: s.subscribe("pub.x = 1"),
    "namespace of a scope": lambda s: s.publish({"a": 1}, scope="pub.x = 1"),
    "too long": lambda s: s.subscribe("a = 1" + " " * 4_096),
    "too deep": lambda s: s.subscribe("(" * 33 + "a = 1" + ")" * 33),
    "too wide": lambda s: s.subscribe(" or ".join(["a = 1"] * 65)),
    "bad advertisement": lambda s: s.advertise("a = "),
    "bad offers": lambda s: s.advertise("true", offers="xy"),
    "bad reads": lambda s: s.advertise("true", reads=[1]),
    "bad include": lambda s: s.subscribe("true", include=[""]),
    "bad id": lambda s: s.subscribe("true", id="x" * 256),
    "bad queue": lambda s: s.subscribe("true", queue=0),
    "bad callback": lambda s: s.subscribe("true", deliver="print"),
    "async callback": lambda s: s.subscribe("true", deliver=a_coroutine),
    "bad time-out": lambda s: s.subscribe("true", slow="block", block_timeout=-1),
    "rows that are none": lambda s: s.publish_many(5),
    "one row in place of many": lambda s: s.publish_many({"a": 1}),
    "bad policy": lambda s: s.subscribe("true", slow="wait"),
    "NaN": lambda s: s.publish({"a": float("nan")}),
    "lone surrogate": lambda s: s.publish({"a": "\udfff"}),
    "nested": lambda s: s.publish({"a": {"b": 1}}),
    "no mapping": lambda s: s.publish([1]),
    "context of a wrong type": lambda s: s.set_context(x=object()),
    "context that is no mapping": lambda s: s.set_context([1]),
    "nested context": lambda s: s.set_context(x={"y": 1}),
    "removal in a publish": lambda s: s.publish({"a": 1}, context={"x": None}),
    "invalid geometry": lambda s: s.set_context(g={"type": "Point", "coordinates": []}),
    "too many variables": lambda s: s.set_context({f"v{i}": 1 for i in range(65)}),
    "payload of text": lambda s: s.publish({"a": 1}, payload="text"),
    "not advertised": lambda s: s.publish({"b": 1}),
    "scope beyond reads": lambda s: s.publish({"a": 1}, scope="sub.salary > 1"),
    "unknown subscription": lambda s: s.unsubscribe("nope"),
    "unknown advertisement": lambda s: s.unadvertise("nope"),
    "message too large": lambda s: s.publish({"a": 1}, payload=bytes(2**20)),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_leaves_the_state_as_it_was(broker, what):
    session = broker.connect("p")
    session.advertise("exists a", offers=["x"], reads=["role"])
    session.set_context(x=1)
    session.subscribe("true")
    before = state(broker)
    with pytest.raises(errors.SilboError) as refused:
        REFUSED[what](session)
    assert state(broker) == before
    assert len(str(refused.value)) > 20
    assert session.publish({"a": 1}).sequence == 1


def test_a_refusal_uses_up_no_id(broker):
    session = broker.connect("s")
    for refused in REFUSED.values():
        with pytest.raises(errors.SilboError):
            refused(session)
    assert session.subscribe("true").id == "s1"


def test_a_handle_can_be_ended_only_by_its_session_and_with_its_verb(broker):
    session, other = broker.connect("a"), broker.connect("b")
    subscription, advertisement = session.subscribe("true", id="same"), session.advertise("true", id="same")
    for wrong in (
        lambda: session.unsubscribe(advertisement),
        lambda: session.unadvertise(subscription),
        lambda: other.unsubscribe(subscription),
        lambda: other.unadvertise(advertisement),
        lambda: session.unsubscribe(None),
        lambda: session.unadvertise(5),
    ):
        with pytest.raises(errors.InvalidValue):
            wrong()
    assert not subscription.closed
    assert broker.stats()["subscriptions"] == broker.stats()["advertisements"] == 1
