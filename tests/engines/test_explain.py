"""Why a subscription gets a message or not."""

import pytest

import silbo
from silbo import errors


@pytest.fixture
def camera(broker):
    session = broker.connect("camera")
    session.advertise("true", offers=["x"])
    session.set_context(x=15.0, secret=1)
    return session


def test_an_explanation_says_who_gets_what_and_why(broker, camera):
    car = broker.connect("car")
    alerts = car.subscribe('msg = "accident" and (severity >= 3 or exists urgent)', context="abs(pub.x - this.x) <= 20")
    car.set_context(x=112)
    receipt = camera.publish({"msg": "accident", "severity": 4})
    explanation = broker.explain(receipt, alerts)
    assert explanation.gets is False
    assert explanation.reason == "the context function is false"
    assert str(explanation).splitlines() == [
        "car/s1 would not get camera#1 now: the context function is false",
        "  content filter: true",
        "    true    all of (and)",
        '    true      msg = "accident"    [msg is "accident"]',
        "    true      one of (or)",
        "    true        severity >= 3    [severity is 4]",
        "    false       exists urgent    [urgent is absent]",
        "  context function: false",
        "    false   abs(pub.x - this.x) <= 20    [pub.x is 15.0, this.x is 112]",
        "  publisher's scope: none, so it is true",
    ]


def test_a_notification_can_be_explained_for_another_subscription(broker, camera):
    near, far = broker.connect("near"), broker.connect("far")
    got = near.subscribe("true")
    missed = far.subscribe("true", context="this.x = pub.x")
    camera.publish({"a": 1}, scope="sub.x = 1 or not exists sub.x")
    notification = got.get(timeout=1)
    assert broker.explain(notification, got).gets is True
    explanation = broker.explain(notification, missed)
    assert explanation.gets is False
    assert "unknown this.x = pub.x    [this.x is absent, pub.x is 15.0]" in str(explanation)
    assert broker.explain(notification, ("far", missed.id)).parts == explanation.parts


def test_an_explanation_says_which_variables_are_not_offered(broker, camera):
    alerts = broker.connect("car").subscribe("true", context="pub.secret = 1")
    explanation = broker.explain(camera.publish({"a": 1}), alerts)
    assert "unknown pub.secret = 1    [pub.secret is not offered by the advertisement]" in str(explanation)


def test_a_negation_is_expanded_only_if_it_holds_more_than_an_atom(broker, camera):
    alerts = broker.connect("car").subscribe("not (a = 1 or b = 1) and c not in (1, 2)")
    lines = str(broker.explain(camera.publish({"a": 2, "b": 1, "c": 3}), alerts)).splitlines()[2:8]
    assert [line.strip() for line in lines] == [
        "false   all of (and)",
        "false     not",
        "true        one of (or)",
        "false         a = 1    [a is 2]",
        "true          b = 1    [b is 1]",
        "true      c not in (1, 2)    [c is 3]",
    ]


def test_a_subscription_that_ended_cannot_be_explained(broker, camera):
    alerts = broker.connect("car").subscribe("true")
    receipt = camera.publish({"a": 1})
    alerts.close()
    with pytest.raises(errors.Closed):
        broker.explain(receipt, alerts)


def test_an_explanation_uses_the_current_contexts(broker, camera):
    car = broker.connect("car")
    alerts = car.subscribe("true", context="pub.x = this.x")
    receipt = camera.publish({"a": 1})
    assert str(broker.explain(receipt, alerts)).startswith(
        "car/s1 would not get camera#1 now: the context function is unk"
    )
    car.set_context(x=15)
    assert str(broker.explain(receipt, alerts)).startswith("car/s1 would get camera#1 now: all three are true\n")


@pytest.mark.parametrize(
    ("message", "subscription", "error"),
    [
        ("receipt", ("nobody", "s1"), errors.UnknownSession),
        ("receipt", ("camera", "s9"), errors.UnknownId),
        ("receipt", "camera", errors.InvalidValue),
        ("receipt", 5, errors.InvalidValue),
        (5, ("camera", "s1"), errors.InvalidValue),
    ],
)
def test_an_invalid_message_or_subscription_is_refused(broker, camera, message, subscription, error):
    camera.subscribe("true")
    receipt = camera.publish({"a": 1})
    with pytest.raises(error):
        broker.explain(receipt if message == "receipt" else message, subscription)


def test_another_brokers_subscription_and_an_ambiguous_name_are_refused(broker, camera):
    receipt = camera.publish({"a": 1})
    with pytest.raises(errors.InvalidValue, match="another broker"):
        broker.explain(receipt, silbo.Broker().connect("s").subscribe("true"))
    for session in (broker.connect("twin"), broker.connect("twin")):
        session.subscribe("true")
    with pytest.raises(errors.InvalidValue, match="2 sessions are named 'twin'"):
        broker.explain(receipt, ("twin", "s1"))


@pytest.mark.parametrize(
    ("context", "values", "reason"),
    [
        (
            "this.tags contains msg.tag", {"tags": {"a", "b"}},
            "contains takes two strings; for a set, write msg.tag in this.tags",
        ),
        ("abs(pub.x - this.y) < 3", {"y": "12"}, "this.y is a string, and - takes numbers"),
        ("sqrt(this.y) < 3", {"y": -1}, "sqrt(this.y) has no finite result"),
        ("this.y < msg.tag", {"y": 3}, "< compares values of one type, not a number with a string"),
        ("this.y < this.z", {"y": True, "z": False}, "< orders numbers or strings, not bools"),
        ("this.y = msg.tag", {"y": {"a"}}, "= takes no set; to test membership, write msg.tag in this.y"),
        ("this.y = this.y", {"y": silbo.geometry("POINT (1 2)")}, "compare geometries with within or intersects"),
        ("this.y prefix msg.tag", {"y": 3}, "prefix takes two strings, and this.y is a number"),
        ("msg.tag in this.y", {"y": "abc"}, "this.y is a string, and in takes a set"),
        ("msg.tag in this.y", {"y": {1, 2}}, "msg.tag is a string, and the members of this.y are numbers"),
        ("this.y in (1, 2)", {"y": "1"}, "this.y is a string, and the list has numbers"),
        ("this.y", {"y": 1}, "a name alone is a condition only if it is a bool, and this.y is a number"),
        ("not this.y", {"y": 1}, "a name alone is a condition only if it is a bool, and this.y is a number"),
        (
            "within(point(pub.x, 1), this.y)", {"y": "POINT (1 2)"},
            "this.y is a string; give a shapely shape, or silbo.geometry(text)",
        ),
        ("intersects(point(pub.x, 1), this.y)", {"y": 7}, "intersects takes geometries, and this.y is a number"),
        ("within(point(this.y, 1), this.z)", {"y": "7"}, "this.y is a string, and point takes numbers"),
    ],
)  # fmt: skip
def test_an_unknown_condition_is_explained_with_its_reason(broker, camera, context, values, reason):
    car = broker.connect("car")
    alerts = car.subscribe("true", context=context)
    car.set_context(**values)
    explanation = broker.explain(camera.publish({"tag": "a"}), alerts)
    (line,) = [line for line in str(explanation).splitlines() if line.startswith("    unknown")]
    assert line.endswith(reason)
    assert "]: " in line


def test_an_absent_variable_is_explained_with_a_similar_name_and_no_other_reason(broker, camera):
    car = broker.connect("car")
    alerts = car.subscribe("true", context="pub.x = this.X and this.speeed > 3 and this.far = 1")
    car.set_context(x=15, speed=4)
    said = str(broker.explain(camera.publish({"a": 1}), alerts))
    assert "pub.x = this.X    [pub.x is 15.0, this.X is absent; there is this.x]\n" in said
    assert "this.speeed > 3    [this.speeed is absent; there is this.speed]\n" in said
    assert "this.far = 1    [this.far is absent]\n" in said
