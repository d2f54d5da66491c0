"""The rows that a shard returns to Spark: they contain all notifications, and their size is bounded."""

from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter
from silbo.model.notification import Publication
from silbo.streaming.bulk.output import MOST, output_of, values
from silbo.streaming.topics import LARGEST_VALUE, NOTIFICATIONS, REJECTED
from silbo.wire.records import NotificationRecord, RejectionRecord, decode, encode


def publication(sequence=1, context=None, attributes=None, payload=None):
    shown = context or {}
    return Publication("camera", "p", sequence, attributes or {}, shown, shown, None, payload, 5)


def rows_of(*subscribers, include=()):
    return [SubscriptionRow(each, f"name of {each}", "s", Filter.of("true"), None, include) for each in subscribers]


def record(publication, subscriber, shown):
    sent = publication
    place = (sent.time, sent.publisher_uuid, sent.publisher, sent.sequence, subscriber, f"name of {subscriber}", "s")
    return NotificationRecord(*place, sent.attributes, shown, sent.payload)


def columns(rows):
    topics, recipients, tails = zip(*rows, strict=True)
    heads = [[{"key": key, "head": head} for key, head in each] for each in recipients]
    return {"topic": topics, "recipients": heads, "tail": tails}


def test_rows_contain_the_notifications_in_their_order():
    first = publication(1, {"x": 1.5, "y": 2.5}, {"a": 1}, b"photo")
    second = publication(2, {"x": 3.5}, {"a": 2})
    includes = [(), ("x",), ("x",), ("z", "x"), ("y", "x"), (), ("y",)]
    both = [row for i, names in enumerate(includes) for row in rows_of(f"u{i}", include=names)]
    rejected = [RejectionRecord(0, "silbo.contexts", 1, 2, "why", b"value")]
    rows = columns(output_of([(first, both), (second, both[:2])], rejected))
    x, y = {"x": 1.5}, {"y": 2.5}
    expected = [record(first, f"u{i}", shown) for i, shown in enumerate([{}, x, x, x, {**x, **y}, {}, y])]
    expected += [record(second, "u0", {}), record(second, "u1", {"x": 3.5})]
    assert list(values(rows, NOTIFICATIONS)) == [encode(each) for each in expected]
    assert list(values(rows, REJECTED)) == [encode(each) for each in rejected]


def test_neighbours_that_are_shown_the_same_share_a_row():
    rows = [*rows_of("a", "b", include=("x",)), *rows_of("c"), *rows_of("d", include=("x",))]
    sizes = [len(recipients) for _, recipients, _ in output_of([(publication(1, {"x": 1.0}), rows)], [])]
    assert sizes == [2, 1, 1]


def test_a_large_publication_for_many_subscribers_is_contained_in_few_rows_that_expand_to_a_bounded_size():
    sent = publication(1, {"x": 1.0}, {"a": 1}, b"x" * 2**20)
    rows = list(output_of([(sent, rows_of(*(f"u{i}" for i in range(1_000)), include=("x",)))], []))
    assert sum(len(each) for _, each, _ in rows) == 1_000
    assert sum(len(tail) + sum(len(head) for _, head in each) for _, each, tail in rows) < 17 * 2**20
    assert max(sum(len(head) + len(tail) for _, head in each) for _, each, tail in rows) <= 2**26


def test_a_row_has_a_bounded_number_of_recipients():
    sizes = [len(each) for _, each, _ in output_of([(publication(), rows_of("u") * (2 * MOST + 1))], [])]
    assert sizes == [MOST, MOST, 1]


def test_a_notification_that_is_too_large_is_rejected_with_its_size_and_the_others_are_written():
    huge = {f"v{i}": f"{i:02}" * 32_000 for i in range(64)}
    sets = {"z": tuple("s" * 65_000 for _ in range(200))}
    sent = [(publication(), rows_of("a")), (publication(2, sets), rows_of("b", include=("z",)))]
    rows = columns(output_of([*sent, (publication(3, huge), rows_of("c", include=tuple(huge)))], []))
    assert [decode(value).subscriber_uuid for value in values(rows, NOTIFICATIONS)] == ["a", "c"]
    (rejected,) = map(decode, values(rows, REJECTED))
    assert rejected.reason.startswith("the notification camera#2 to name of b/s has 13,")
    assert len(encode(rejected)) < LARGEST_VALUE
