"""The rows that a shard returns to Spark: they contain all notifications, and their size is bounded."""

from silbo.streaming.bulk.output import MOST, output_of, values
from silbo.streaming.topics import LARGEST_VALUE, NOTIFICATIONS, REJECTED
from silbo.wire.records import NotificationRecord, RejectionRecord, decode, encode


def notified(subscriber, sequence=1, context=None, attributes=None, payload=None):
    return NotificationRecord(
        5, "p", "camera", sequence, subscriber, f"name of {subscriber}", "s", attributes or {}, context or {}, payload
    )


def columns(rows):
    topics, recipients, tails = zip(*rows, strict=True)
    heads = [[{"key": key, "head": head} for key, head in each] for each in recipients]
    return {"topic": topics, "recipients": heads, "tail": tails}


def test_rows_contain_the_notifications_in_their_order():
    attributes, payload = {"a": 1}, b"photo"
    made = [notified(f"u{i}", i % 3, {"x": i % 2}, attributes, payload) for i in range(20)]
    rejected = [RejectionRecord(0, "silbo.contexts", 1, 2, "why", b"value")]
    rows = columns(output_of(made, rejected))
    assert list(values(rows, NOTIFICATIONS)) == [encode(each) for each in made]
    assert list(values(rows, REJECTED)) == [encode(each) for each in rejected]


def test_a_large_publication_for_many_subscribers_is_contained_in_few_rows_that_expand_to_a_bounded_size():
    payload, attributes, context = b"x" * 2**20, {"a": 1}, {"x": 1.0}
    rows = list(output_of([notified(f"u{i}", 1, context, attributes, payload) for i in range(1_000)], []))
    assert sum(len(each) for _, each, _ in rows) == 1_000
    assert sum(len(tail) + sum(len(head) for _, head in each) for _, each, tail in rows) < 17 * 2**20
    assert max(sum(len(head) + len(tail) for _, head in each) for _, each, tail in rows) <= 2**26


def test_a_row_has_a_bounded_number_of_recipients():
    attributes = {"a": 1}
    sizes = [len(each) for _, each, _ in output_of([notified("u", attributes=attributes)] * (2 * MOST + 1), [])]
    assert sizes == [MOST, MOST, 1]


def test_a_notification_that_is_too_large_is_rejected_with_its_size_and_the_others_are_written():
    huge = {f"v{i}": f"{i:02}" * 32_000 for i in range(64)}
    sets = {"z": tuple("s" * 65_000 for _ in range(200))}
    rows = columns(output_of([notified("a"), notified("b", 2, sets), notified("c", 3, huge)], []))
    assert [decode(value).subscriber_uuid for value in values(rows, NOTIFICATIONS)] == ["a", "c"]
    (rejected,) = map(decode, values(rows, REJECTED))
    assert rejected.reason.startswith("the notification camera#2 to name of b/s has 13,")
    assert len(encode(rejected)) < LARGEST_VALUE
