"""The embedded broker: who gets what, and what is refused."""

import pyarrow as pa
import pytest

import silbo
from silbo import errors
from silbo.matching.plain import PlainIndex


def publisher(broker, filter="true", **options):
    session = broker.connect("publisher")
    session.advertise(filter, **options)
    return session


def state(broker):
    """Everything that a refusal must not change."""
    return broker.tables(), broker.stats()


# who gets what


def test_a_car_gets_the_alerts_near_it_as_it_drives(broker):
    car, camera = broker.connect("car"), publisher(broker, offers=["x"])
    alerts = car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 20")
    camera.set_context(x=100)
    for x in (0, 79, 80, 100, 120, 121):
        car.set_context(x=x)
        camera.publish({"msg": "accident", "at": x})
    assert [alert["at"] for alert in alerts.drain()] == [80, 100, 120]


def test_a_car_without_a_context_gets_nothing(broker):
    alerts = broker.connect("car").subscribe("true", context="abs(pub.x - this.x) <= 20")
    publisher(broker).publish({"a": 1}, context={"x": 1})
    assert alerts.poll() is None


def test_a_session_receives_its_own_publications(broker):
    session = publisher(broker)
    own = session.subscribe("true")
    session.publish({"a": 1})
    assert own.get(timeout=1).publisher == "publisher"


@pytest.mark.parametrize("filter", ["a = 1 or b = 1", "a = 1 or exists a", "exists a or exists b", "a = 1 or a = 1"])
def test_two_branches_of_an_or_give_one_notification(broker, filter):
    both = broker.connect("s").subscribe(filter)
    publisher(broker).publish({"a": 1, "b": 1})
    assert len(both.drain()) == 1


def test_every_constraint_of_a_filter_counts(broker):
    alerts = broker.connect("s").subscribe('kind = "accident" and severity >= 3 and not (lane = 2)')
    session = publisher(broker)
    for severity, lane in [(2, 1), (3, 2), (3, 1), (5, 3)]:
        session.publish({"kind": "accident", "severity": severity, "lane": lane})
    assert [(each["severity"], each["lane"]) for each in alerts.drain()] == [(3, 1), (5, 3)]


def test_identical_subscriptions_each_get_their_own(broker):
    session = broker.connect("s")
    first, second = session.subscribe("a = 1"), session.subscribe("a = 1")
    publisher(broker).publish({"a": 1})
    assert len(first.drain()) == len(second.drain()) == 1


def test_sequences_rise_by_one_per_accepted_publish(broker):
    session = publisher(broker, "exists a")
    all_of_it = broker.connect("s").subscribe("true")
    assert session.publish({"a": 1}).sequence == 1
    with pytest.raises(errors.NotAdvertised):
        session.publish({"b": 1})
    with pytest.raises(errors.InvalidValue):
        session.publish({"a": float("nan")})
    assert session.publish({"a": 2}).wait().sequence == 2
    assert [each.sequence for each in all_of_it.drain()] == [1, 2]


def test_a_notification_has_the_offered_variables_that_the_function_or_include_names(broker):
    session = publisher(broker, offers=["x", "y", "z", "e"])
    alerts = broker.connect("s").subscribe("true", context="pub.x = 1 and not exists pub.gone", include=["y", "hidden"])
    session.publish({"a": 1}, context={"x": 1, "y": 2, "z": 3, "hidden": 4, "e": 5}, payload=b"\0bytes")
    notification = alerts.get(timeout=1)
    assert notification.context == {"x": 1, "y": 2}
    assert notification.attributes == {"a": 1}
    assert notification.payload == b"\0bytes"
    assert (notification.publisher, notification.subscriber, notification.subscription) == ("publisher", "s", alerts.id)
    assert notification.publisher_uuid == session.uuid


def test_a_variable_after_exists_is_named_too(broker):
    alerts = broker.connect("s").subscribe("true", context="exists pub.x")
    publisher(broker).publish({"a": 1}, context={"x": 1, "y": 2})
    assert alerts.get(timeout=1).context == {"x": 1}


def test_an_empty_payload_is_a_payload(broker):
    every = broker.connect("s").subscribe("true")
    session = publisher(broker)
    session.publish({"a": 1}, payload=b"")
    session.publish({"a": 1})
    assert [each.payload for each in every.drain()] == [b"", None]


def test_a_variable_that_is_not_offered_is_absent_for_the_function(broker):
    alerts = broker.connect("s").subscribe("true", context="pub.x = 1 or not exists pub.y")
    publisher(broker, offers=["x"]).publish({"a": 1}, context={"x": 2, "y": 1})
    assert len(alerts.drain()) == 1


def test_offers_and_reads_of_all_advertisements_that_contain_the_message_are_united(broker):
    session = broker.connect("p")
    session.advertise("a = 1", offers=["x"], reads=["role"])
    session.advertise("b = 1", offers=["y"], reads=["ward"])
    session.advertise("c = 1", offers=None, reads=None)
    seen = broker.connect("s").subscribe("true", include=["x", "y", "z"])
    context = {"x": 1, "y": 2, "z": 3}
    session.publish({"a": 1}, context=context)
    session.publish({"a": 1, "b": 1}, context=context, scope="not exists sub.role and not exists sub.ward")
    session.publish({"a": 1, "c": 1}, context=context, scope="not exists sub.anything")
    assert [sorted(each.context) for each in seen.drain()] == [["x"], ["x", "y"], ["x", "y", "z"]]
    with pytest.raises(errors.ScopeBeyondReads, match=r"sub\.ward"):
        session.publish({"a": 1}, scope="sub.role = 1 and sub.ward = 1")


def test_a_scope_reads_the_subscribers_context_and_the_whole_context_of_the_publish(broker):
    doctor, guest, nobody = (broker.connect(name) for name in ("doctor", "guest", "nobody"))
    doctor.set_context(role="doctor", ward=3)
    guest.set_context(role="guest", ward=3)
    inboxes = [session.subscribe("true") for session in (doctor, guest, nobody)]
    session = publisher(broker, offers=[])
    session.set_context(ward=3)
    session.publish({"n": 1}, scope='not (sub.role = "guest")')
    session.publish({"n": 2}, scope="sub.ward = this.ward")
    session.publish({"n": 3}, scope="msg.n = 3")
    assert [[each["n"] for each in inbox.drain()] for inbox in inboxes] == [[1, 2, 3], [2, 3], [3]]


def test_a_scope_applies_to_the_publishers_own_subscriptions(broker):
    session = publisher(broker)
    own = session.subscribe("true")
    session.publish({"a": 1}, scope="sub.x = 1")
    session.set_context(x=1)
    session.publish({"a": 2}, scope="sub.x = 1")
    assert [each["a"] for each in own.drain()] == [2]


def test_the_contexts_at_the_moment_of_publishing_count(broker):
    subscriber, session = broker.connect("s"), publisher(broker)
    alerts = subscriber.subscribe("true", context="pub.x = this.x")
    subscriber.set_context(x=1)
    session.set_context(x=1)
    session.publish({"n": 1})
    session.set_context(x=2)
    session.publish({"n": 2})
    subscriber.set_context(x=2)
    session.publish({"n": 3})
    assert [each["n"] for each in alerts.drain()] == [1, 3]
    assert alerts.dropped == 0


def test_set_context_takes_a_mapping_and_values_and_the_papers_spelling(broker):
    session = broker.connect("s")
    session.set_context({"odd name": 1, "x": 1}, x=2)
    session.setContext(y=3)
    session.set_context(x=None)
    assert session.context == {"odd name": 1, "y": 3}


def test_publish_many_publishes_all_rows(broker):
    every = broker.connect("s").subscribe("true")
    receipts = publisher(broker).publish_many([{"a": 1}, {"a": 2}])
    assert [receipt.sequence for receipt in receipts] == [1, 2]
    assert [each["a"] for each in every.drain()] == [1, 2]


def test_publish_many_takes_an_arrow_table_and_null_is_absent(broker):
    every = broker.connect("s").subscribe("true")
    table = pa.table({"a": [1, 2], "b": ["x", None], "c": [None, 2.5], "d": [True, False]})
    publisher(broker).publish_many(table)
    assert [dict(each.attributes) for each in every.drain()] == [
        {"a": 1, "b": "x", "d": True},
        {"a": 2, "c": 2.5, "d": False},
    ]


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ([{"a": 1}, {"a": [1]}], errors.InvalidValue, r"rows\[1\]\.a"),
        ([{"a": 1}, {"b": 1}], errors.NotAdvertised, "no advertisement"),
        ([{"a": 1}, 5], errors.InvalidValue, r"rows\[1\]"),
        (pa.table({"a": [[1]]}), errors.InvalidValue, r"rows\[0\]\.a"),
    ],
)
def test_publish_many_publishes_all_or_none(broker, rows, error, said):
    session = publisher(broker, "exists a")
    broker.connect("s").subscribe("true")
    before = state(broker)
    with pytest.raises(error, match=said):
        session.publish_many(rows)
    assert state(broker) == before
    assert session.publish({"a": 1}).sequence == 1


def test_a_notification_reads_like_its_message(broker):
    every = broker.connect("s").subscribe("true")
    publisher(broker).publish({"a": 1, "b": "x"})
    notification = every.get(timeout=1)
    assert dict(notification) == {"a": 1, "b": "x"}
    assert "a" in notification
    assert "z" not in notification
    assert (notification.get("b"), notification.get("z"), notification.get("z", 5)) == ("x", None, 5)
    with pytest.raises(KeyError):
        notification["z"]


def test_a_subscriber_cannot_change_the_message_of_another(broker):
    first, second = (broker.connect(name).subscribe("true") for name in ("a", "b"))
    attributes = {"a": 1}
    publisher(broker).publish(attributes)
    attributes["a"] = 2
    with pytest.raises(TypeError):
        first.get(timeout=1).attributes["a"] = 3
    assert second.get(timeout=1)["a"] == 1


# ids, handles, ends


def test_an_active_id_cannot_be_used_twice_and_the_old_one_stays(broker):
    session = publisher(broker)
    old = session.subscribe("a = 1", id="mine")
    session.advertise("a = 9", id="adv")
    before = state(broker)
    with pytest.raises(errors.DuplicateId):
        session.subscribe("a = 2", id="mine")
    with pytest.raises(errors.DuplicateId):
        session.advertise("a = 2", id="adv")
    assert state(broker) == before
    session.publish({"a": 1})
    assert old.get(timeout=1)["a"] == 1


def test_ids_are_separate_per_session_and_for_subscriptions_and_advertisements(broker):
    for name in ("a", "b"):
        session = broker.connect(name)
        session.subscribe("true", id="same")
        session.advertise("true", id="same")
    assert broker.stats()["subscriptions"] == broker.stats()["advertisements"] == 2


def test_an_id_may_be_used_again_after_it_ended(broker):
    session = publisher(broker)
    first = session.subscribe("a = 1", id="mine")
    session.unsubscribe("mine")
    second = session.subscribe("a = 2", id="mine")
    session.publish({"a": 1})
    session.publish({"a": 2})
    assert first.drain() == []
    assert [each["a"] for each in second.drain()] == [2]
    first.close()
    assert not second.closed
    with pytest.raises(errors.Closed):
        session.unsubscribe(first)


def test_unadvertise_ends_publishing(broker):
    session = broker.connect("p")
    advertisement = session.advertise("true")
    session.publish({"a": 1})
    advertisement.close()
    with pytest.raises(errors.NotAdvertised, match="advertised: none"):
        session.publish({"a": 1})
    advertisement.close()
    with pytest.raises(errors.Closed):
        session.unadvertise(advertisement)


def test_handles_are_context_managers(broker):
    with broker.connect("p") as session:
        with session.advertise("true"), session.subscribe("true") as every:
            session.publish({"a": 1})
            assert len(every) == 1
        assert every.closed
        assert broker.stats()["subscriptions"] == broker.stats()["advertisements"] == 0
    assert session.closed
    assert broker.stats()["sessions"] == 0


def test_close_removes_subscriptions_advertisements_and_context(broker):
    session = publisher(broker)
    session.set_context(x=1)
    session.subscribe("true")
    session.close()
    assert broker.stats()["sessions"] == broker.stats()["contexts"] == broker.stats()["subscriptions"] == 0
    again = broker.connect("publisher")
    assert again.context == {}
    assert again.uuid != session.uuid


def test_closing_a_broker_closes_its_sessions():
    broker = silbo.Broker()
    session = broker.connect("a")
    every = session.subscribe("true")
    broker.close()
    assert session.closed
    assert every.closed
    with pytest.raises(errors.Closed):
        broker.connect()


# other implementations of the index


class EagerIndex(PlainIndex):
    """An index that finds the candidates of a whole batch at once."""

    def candidates(self, batch):
        return iter(list(super().candidates(batch)))


def test_an_index_may_find_the_candidates_of_a_batch_at_once():
    broker = silbo.Broker(index=EagerIndex())
    slow = broker.connect("s").subscribe("true", queue=1)
    receipts = publisher(broker).publish_many([{"n": n} for n in range(4)])
    assert [receipt.sequence for receipt in receipts] == [1, 2, 3, 4]
    assert slow.get()["n"] == 0
    with pytest.raises(errors.SlowSubscriber):
        slow.get()


class NarrowingIndex(PlainIndex):
    """An index that returns only rows of subscribers whose context says that they are here."""

    def __init__(self):
        super().__init__()
        self.here = set()

    def set_context(self, subscriber, context):
        (self.here.add if context.get("here") else self.here.discard)(subscriber)

    def candidates(self, batch):
        return ([row for row in rows if row.subscriber in self.here] for rows in super().candidates(batch))


def test_an_index_may_use_the_contexts_to_narrow_its_candidates():
    broker = silbo.Broker(index=NarrowingIndex())
    session, subscriber = publisher(broker), broker.connect("s")
    alerts = subscriber.subscribe("true", context="this.here")
    for n, here in enumerate([True, False, True, None]):
        subscriber.set_context(here=here)
        session.publish({"n": n})
    assert [each["n"] for each in alerts.drain()] == [0, 2]


def test_the_plain_index_keeps_nothing_of_ended_subscriptions():
    index = PlainIndex()
    broker = silbo.Broker(index=index)
    with broker.connect("s") as session:
        for filter in ("a = 1", "a = 1 or b = 2", "a > 1", "true"):
            session.subscribe(filter)
    assert index._filed == {}
    assert index._scanned == {}


# by URL


def test_a_memory_url_names_a_broker_of_the_process():
    sessions = [silbo.connect(f"memory://{place}", place) for place in ("here", "here", "there")]
    inboxes = [session.subscribe("true") for session in sessions[1:]]
    sessions[0].advertise("true")
    sessions[0].publish({"n": 1})
    assert [len(inbox) for inbox in inboxes] == [1, 0]
    for session in sessions:
        session.close()


def test_the_error_for_an_unknown_url_lists_the_known_ones():
    with pytest.raises(errors.UnknownEngine, match="memory://"):
        silbo.connect("amqp://localhost")


def test_a_session_names_its_broker():
    with silbo.connect("memory://known", "a") as session:
        assert session.broker.stats()["sessions"] == 1


def test_a_context_is_read_only(broker):
    session = broker.connect("s")
    session.set_context(x=1)
    with pytest.raises(TypeError):
        session.context["x"] = 2


def test_names_are_labels(broker):
    first, second, nameless = broker.connect("same"), broker.connect("same"), broker.connect()
    assert first.uuid != second.uuid
    assert nameless.name == nameless.uuid


def test_sessions_and_their_subscriptions_and_advertisements_can_be_listed(broker):
    first, second = broker.connect("first"), broker.connect("second")
    filter, other = first.subscribe("a = 1", context="pub.x = this.x"), first.subscribe("b = 2")
    offer = first.advertise("true")
    assert broker.sessions == (first, second)
    assert first.subscriptions == (filter, other)
    assert [(each.filter, each.context) for each in first.subscriptions] == [
        ("a = 1", "pub.x = this.x"),
        ("b = 2", None),
    ]
    assert first.advertisements == (offer,)
    filter.close()
    offer.close()
    second.close()
    assert (broker.sessions, first.subscriptions, first.advertisements) == ((first,), (other,), ())


def test_completion_shows_one_spelling_of_each_verb(broker):
    session = broker.connect()
    assert "set_context" in dir(session)
    assert "setContext" not in dir(session)
    session.setContext(x=1)
    assert dict(session.context) == {"x": 1}


def test_a_session_numbers_its_advertisements_and_its_subscriptions_apart():
    with silbo.Broker(index="plain") as broker:
        session = broker.connect("session")
        session.subscribe("true", id="s2")
        made = [
            session.advertise("true"),
            session.subscribe("true"),
            session.subscribe("true"),
            session.advertise("true"),
        ]
    assert [each.id for each in made] == ["a1", "s1", "s3", "a2"]
