"""Generated logs: the same for the same seed, and rich enough that a test over them proves something."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, find, given, settings

from silbo.model.events import Advertise, Disconnect, Publish, SetContext, Subscribe, Unadvertise, Unsubscribe
from silbo.testing import strategies
from silbo.testing.__main__ import main
from silbo.testing.generator import LogGenerator, generate_log
from silbo.testing.measure import Measure, PoorLog, measure
from silbo.testing.refusals import BAD_FILTERS, BAD_FUNCTIONS, BAD_SCOPES
from silbo.wire.jsonl import event_json, parse_event

KINDS = {Advertise, Unadvertise, Subscribe, Unsubscribe, SetContext, Publish, Disconnect}
QUICK = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def log():
    return generate_log(1, 1500)


def lines(events):
    return [event_json(event) for event in events]


def test_the_same_seed_gives_the_same_log_in_another_process():
    """Another process hashes strings differently, so the log must not depend on the order of a set."""
    program = (
        "import sys; from silbo.testing.generator import generate_log; from silbo.wire.jsonl import event_json\n"
        "for event in generate_log(7, 300): sys.stdout.buffer.write(event_json(event).encode() + b'\\n')"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    assert output.decode().split("\n")[:-1] == lines(generate_log(7, 300))


def test_another_seed_gives_another_log():
    assert lines(generate_log(1, 50)) != lines(generate_log(2, 50))


def test_a_longer_log_begins_with_the_shorter_one():
    assert lines(generate_log(3, 400))[:100] == lines(generate_log(3, 100))


def test_a_log_has_as_many_events_as_asked_for(log):
    assert len(log) == 1500
    assert generate_log(1, 0) == []


def test_every_kind_of_event_occurs_often(log):
    kinds = Counter(map(type, log))
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 10


def test_every_kind_follows_every_other(log):
    following = {(type(a), type(b)) for a, b in pairwise(log)}
    assert len(following) >= 45  # of 49


def test_every_event_is_the_same_after_it_was_written_and_read(log):
    for event in log:
        assert lines([parse_event(event_json(event))]) == lines([event])


@pytest.mark.parametrize("seed", range(1, 4))
def test_logs_are_rich(seed):
    generator = LogGenerator(seed)
    measured = measure(generator.take(1000))
    measured.check()
    assert measured.refused == generator.refused > 20
    assert measured.scope_rejections > 50
    assert measured.unknown_decisions > 200
    assert measured.covering_pairs > 50
    assert measured.border_values > 500


def test_small_logs_of_few_sessions_are_rich_too():
    measured = [measure(generate_log(seed, 150, sessions=4)) for seed in range(6)]
    assert sum(each.notifications for each in measured) > 300
    assert sum(each.refused for each in measured) > 20


def test_refused_events_are_of_every_kind(log):
    assert any(event.filter in BAD_FILTERS for event in log if isinstance(event, Subscribe | Advertise))
    assert any(event.context in BAD_FUNCTIONS for event in log if isinstance(event, Subscribe))
    assert any(event.scope in BAD_SCOPES for event in log if isinstance(event, Publish))
    assert any(isinstance(event, SetContext) and len(event.values) == 65 for event in log)
    assert any(isinstance(event, Disconnect) and event.session == "nobody" for event in log)
    assert any(isinstance(event, Unsubscribe | Unadvertise) and event.id == "never used" for event in log)
    assert any(isinstance(event, Publish) and (event.scope or "").startswith("exists sub.`") for event in log)


def test_sessions_come_back_under_their_name_and_ids_are_used_again(log):
    ended = {event.session for event in log if isinstance(event, Disconnect)}
    last = {event.session for event in log[-200:] if not isinstance(event, Disconnect)}
    assert ended & last
    subscribed = Counter((event.session, event.id) for event in log if isinstance(event, Subscribe))
    assert max(subscribed.values()) > 5


def test_optional_parts_are_sometimes_present_and_sometimes_absent(log):
    advertised = [event for event in log if isinstance(event, Advertise)]
    published = [event for event in log if isinstance(event, Publish)]
    assert {None, ()} < {event.offers for event in advertised}
    assert {None, ()} < {event.reads for event in advertised}
    assert {None, b""} < {event.payload for event in published}
    assert {True, False} == {event.scope is None for event in published}
    assert {True, False} == {event.context is None for event in log if isinstance(event, Subscribe)}
    assert any(None in event.values.values() for event in log if isinstance(event, SetContext))


def test_a_log_in_which_nothing_matches_fails_the_check():
    events = [
        Advertise("cam", "a", "true"),
        Subscribe("car", "s", "severity = 1", "pub.x = 1"),
        *(Publish("cam", {"severity": 2}, {"x": 2}) for _ in range(50)),
    ]
    with pytest.raises(PoorLog) as caught:
        measure(events).check()
    assert len(caught.value.reasons) == 3


def test_an_empty_log_fails_the_check():
    assert measure([]) == Measure()
    assert measure([]).reasons()


def test_a_measure_counts_each_kind_of_miss():
    events = [
        Advertise("cam", "a", "true"),
        SetContext("car", {"role": "guest"}),
        Subscribe("car", "content", "n = 1", "pub.x = 2"),
        Subscribe("car", "context", "n = 2", "pub.x = 1"),
        Subscribe("car", "both", "n = 1", "pub.x = 1"),
        Subscribe("car", "unknown", "n = 1", "pub.y = 1"),
        Publish("cam", {"n": 1}, {"x": 1}),
        Publish("cam", {"n": 1}, {"x": 1}, "sub.role != 'guest'"),
        Unsubscribe("car", "nothing"),
    ]
    measured = measure(events)
    assert (measured.events, measured.refused, measured.publications, measured.pairs) == (9, 1, 2, 8)
    assert (measured.delivered, measured.notifications, measured.scope_rejections) == (1, 1, 1)
    assert (measured.content_only, measured.context_only, measured.unknown_decisions) == (4, 2, 1)


def test_a_measure_counts_values_on_the_border():
    events = [
        Advertise("cam", "a", "true"),
        Subscribe("car", "s", "n > 3", "pub.x = 'ab' and this.b = true"),
        SetContext("car", {"b": False}),
        SetContext("car", {"b": 1}),
        Publish("cam", {"n": 4}, {"x": "a"}),
        Publish("cam", {"n": 5}, {"x": "b"}),
        Unsubscribe("car", "s"),
        Publish("cam", {"n": 3}, {}),
    ]
    assert measure(events).border_values == 3


def test_the_command_prints_the_measure_and_writes_the_log(tmp_path, capsys):
    path = tmp_path / "log.jsonl"
    status = main(["--seed", "2", "--events", "500", "--json", "--write", str(path)])
    printed = json.loads(capsys.readouterr().out)
    assert status == 0
    assert printed["events"] == 500
    assert path.read_text(encoding="utf-8").split("\n")[:-1] == lines(generate_log(2, 500))


def test_the_command_fails_for_a_log_that_is_too_poor(capsys):
    assert main(["--events", "3"]) == 1
    assert "too poor" in capsys.readouterr().err


@QUICK
@given(strategies.logs(max_events=60))
def test_logs_drawn_by_hypothesis_can_be_measured(events):
    assert measure(events).events == len(events) <= 60


def test_logs_drawn_by_hypothesis_shrink_to_few_events():
    smallest = find(
        strategies.logs(max_events=30),
        lambda events: any(isinstance(event, SetContext) for event in events),
        settings=settings(max_examples=200, deadline=None, database=None),
    )
    assert [type(event) for event in smallest] == [SetContext]
