"""Logs as files: the format of a line, and the notifications of a replay."""

import io
import json

import pytest

import silbo
from silbo import errors
from silbo.model.events import Advertise, Disconnect, Publish, SetContext, Subscribe, Unadvertise, Unsubscribe
from silbo.wire.jsonl import event_json, notification_json, parse_event, read_log

LOG = """\
{"event":"advertise","session":"cam-1","id":"a1","filter":"msg = \\"accident\\"","offers":["x","y"],"reads":null}
{"event":"subscribe","session":"car-1","id":"s1","filter":"msg = \\"accident\\"","context":"abs(pub.x - this.x) <= 20","include":["y"]}

{"event":"set_context","session":"car-1","values":{"x":12.0,"role":"taxi","old":null}}
{"event":"publish","session":"cam-1","attributes":{"msg":"accident","severity":4},"context":{"x":15.0,"y":42.0},"scope":"sub.role != \\"guest\\"","payload":{"base64":"AAE="}}
{"event":"unsubscribe","session":"car-1","id":"s1"}
{"event":"unadvertise","session":"cam-1","id":"a1"}
{"event":"disconnect","session":"car-1"}
"""
OUTPUT = (
    '{"publisher":"cam-1","sequence":1,"subscriber":"car-1","subscription":"s1",'
    '"attributes":{"msg":"accident","severity":4},"context":{"x":15.0,"y":42.0},"payload":{"base64":"AAE="}}'
)

ENGINES = ["oracle", "memory"]


def output(log, engine, **options):
    return [notification_json(each) for each in silbo.replay(io.BytesIO(log.encode()), engine, **options)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("batch", [None, 1, 2, 100])
def test_the_example_of_the_documentation(engine, batch):
    assert output(LOG, engine, batch=batch) == [OUTPUT]


def test_an_event_read_and_written_is_the_same():
    for line in LOG.splitlines():
        if line:
            event = parse_event(line)
            assert parse_event(event_json(event)) == event
    kinds = {type(each.event) for each in read_log(io.BytesIO(LOG.encode()))}
    assert kinds == {Advertise, Unadvertise, Subscribe, Unsubscribe, SetContext, Publish, Disconnect}


def publish(attributes, context="{}"):
    return f"""\
{{"event":"advertise","session":"p","id":"a","filter":"true"}}
{{"event":"subscribe","session":"s","id":"i","filter":"true","include":["c"]}}
{{"event":"publish","session":"p","attributes":{attributes},"context":{context}}}
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", ["1", "1.0", "-0.0", "9223372036854775807", "1e-07", "true"])
def test_numbers_are_written_as_they_were_read(engine, number):
    (line,) = output(publish(f'{{"n":{number}}}', f'{{"c":{number}}}'), engine)
    assert f'"attributes":{{"n":{number}}}' in line
    assert f'"context":{{"c":{number}}}' in line


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "value",
    [
        "[2,1.0,2]",
        "[]",
        '["b","a"]',
        '{"wkt":"POINT (1 2)"}',
        '{"geojson":{"type":"Point","coordinates":[1,2]}}',
        '"é\\u0000\u2028"',
    ],
)
def test_sets_geometries_and_strings_are_written_as_they_were_read(engine, value):
    (line,) = output(publish("{}", f'{{"c":{value}}}'), engine)
    assert json.loads(line)["context"]["c"] == json.loads(value)


@pytest.mark.parametrize("engine", ENGINES)
def test_notifications_of_a_publish_are_ordered_by_code_point(engine):
    names = ["b", "a", "Z", "é", "\ue000", "\U00010000"]
    lines = [f'{{"event":"subscribe","session":"{name}","id":"{id}","filter":"true"}}' for name in names for id in "21"]
    lines += ['{"event":"advertise","session":"p","id":"a","filter":"true"}']
    lines += ['{"event":"publish","session":"p","attributes":{}}'] * 2
    got = [json.loads(line) for line in output("\n".join(lines), engine)]
    order = [(each["sequence"], each["subscriber"], each["subscription"]) for each in got]
    assert order == sorted(order)
    assert len(order) == 24


BAD = {
    "no JSON": "{",
    "NaN": '{"event":"publish","session":"p","attributes":{"a":NaN}}',
    "infinity": '{"event":"publish","session":"p","attributes":{"a":1e999}}',
    "no object": "[1]",
    "no event": "{}",
    "unknown event": '{"event":"explode","session":"p"}',
    "event of a wrong type": '{"event":["publish"],"session":"p"}',
    "no session": '{"event":"disconnect"}',
    "null session": '{"event":"disconnect","session":null}',
    "empty session": '{"event":"set_context","session":"","values":{}}',
    "no id": '{"event":"subscribe","session":"p","filter":"true"}',
    "no filter": '{"event":"subscribe","session":"p","id":"i"}',
    "filter of a wrong type": '{"event":"subscribe","session":"p","id":"i","filter":true}',
    "bad filter": '{"event":"subscribe","session":"p","id":"i","filter":"x >> 1"}',
    "bad function": '{"event":"subscribe","session":"p","id":"i","filter":"true","context":"x = 1"}',
    "include of a wrong type": '{"event":"subscribe","session":"p","id":"i","filter":"true","include":"x"}',
    "no attributes": '{"event":"publish","session":"p"}',
    "attributes of a wrong type": '{"event":"publish","session":"p","attributes":[]}',
    "nested": '{"event":"publish","session":"p","attributes":{"a":{"b":1}}}',
    "null attribute": '{"event":"publish","session":"p","attributes":{"a":null}}',
    "null variable": '{"event":"publish","session":"p","attributes":{},"context":{"x":null}}',
    "big int": '{"event":"publish","session":"p","attributes":{"a":9223372036854775808}}',
    "lone surrogate": '{"event":"publish","session":"p","attributes":{"a":"\\ud800"}}',
    "bad scope": '{"event":"publish","session":"p","attributes":{},"scope":"pub.x = 1"}',
    "scope beyond reads": '{"event":"publish","session":"p","attributes":{},"scope":"sub.y = 1"}',
    "bad payload": '{"event":"publish","session":"p","attributes":{},"payload":"AAE="}',
    "payload without padding": '{"event":"publish","session":"p","attributes":{},"payload":{"base64":"AAE"}}',
    "payload with too much padding": '{"event":"publish","session":"p","attributes":{},"payload":{"base64":"AAAA===="}}',
    "payload of another alphabet": '{"event":"publish","session":"p","attributes":{},"payload":{"base64":"_-8="}}',
    "no values": '{"event":"set_context","session":"p"}',
    "mixed set": '{"event":"set_context","session":"p","values":{"s":[1,"a"]}}',
    "bad geometry": '{"event":"set_context","session":"p","values":{"g":{"wkt":"POINT"}}}',
    "curved geometry": '{"event":"set_context","session":"p","values":{"g":{"wkt":"CIRCULARSTRING(0 0,1 1,2 0)"}}}',
    "coordinate beyond all": '{"event":"set_context","session":"p","values":{"g":{"wkt":"POINT(1e400 1)"}}}',
    "geojson of no type": '{"event":"set_context","session":"p","values":{"g":{"geojson":{"type":[]}}}}',
    "integer of many digits": '{"event":"publish","session":"p","attributes":{"a":' + "9" * 5_000 + "}}",
    "bare geojson": '{"event":"set_context","session":"p","values":{"g":{"type":"Point","coordinates":[1,2]}}}',
    "unknown id": '{"event":"unsubscribe","session":"p","id":"nope"}',
    "unknown advertisement": '{"event":"unadvertise","session":"p","id":"nope"}',
    "unknown session": '{"event":"disconnect","session":"nobody"}',
    "duplicate id": '{"event":"advertise","session":"p","id":"a","filter":"true"}',
    "not advertised": '{"event":"publish","session":"nobody","attributes":{}}',
    "bad time": '{"event":"disconnect","session":"p","time":"noon"}',
    "time beyond all": '{"event":"disconnect","session":"p","time":1e400}',
    "deep JSON": "[" * 100_000,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("what", BAD)
def test_a_line_that_is_no_valid_event_is_refused_and_changes_nothing(engine, what):
    before = """\
{"event":"advertise","session":"p","id":"a","filter":"true","reads":["x"]}
{"event":"set_context","session":"s","values":{"x":1}}
{"event":"subscribe","session":"s","id":"i","filter":"true","context":"this.x = 1"}
"""
    after = '{"event":"publish","session":"p","attributes":{"n":1},"scope":"sub.x = 1"}\n'
    refused = []
    got = output(before + BAD[what] + "\n" + after, engine, refused=lambda line, error: refused.append((line, error)))
    assert got == output(before + after, engine)
    assert len(got) == 1
    assert [line for line, _ in refused] == [4]
    assert isinstance(refused[0][1], errors.SilboError)
    assert "\n" not in refused[0][1].line


@pytest.mark.parametrize("engine", ENGINES)
def test_lines_end_only_at_lf_and_invalid_utf8_is_refused(engine):
    good = publish('{"n":1}').replace("\n", "\r\n") + " \t\r\n"
    log = good.encode() + b'{"event":"disconnect","session":"\xff"}\n'
    refused = []
    got = list(silbo.replay(io.BytesIO(log), engine, refused=lambda line, _: refused.append(line)))
    assert len(got) == 1
    assert refused == [5]


@pytest.mark.parametrize("engine", ENGINES)
def test_unknown_keys_are_ignored_and_null_equals_missing(engine):
    log = """\
{"event":"advertise","session":"p","id":"a","filter":"true","offers":null,"color":"red","time":5,"z":MANY}
{"event":"subscribe","session":"s","id":"i","filter":"true","context":null,"include":null}
{"event":"publish","session":"p","attributes":{},"context":null,"scope":null,"payload":null,"time":6.0}
"""
    assert len(output(log.replace("MANY", "9" * 5_000), engine)) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_in_a_log_a_publishers_context_is_exactly_the_one_of_the_publish(engine):
    log = """\
{"event":"advertise","session":"p","id":"a","filter":"true"}
{"event":"set_context","session":"p","values":{"x":1}}
{"event":"subscribe","session":"s","id":"i","filter":"true","context":"exists pub.x"}
{"event":"publish","session":"p","attributes":{"n":1}}
{"event":"publish","session":"p","attributes":{"n":2},"context":{"x":1}}
"""
    assert [json.loads(line)["attributes"]["n"] for line in output(log, engine)] == [2]


@pytest.mark.parametrize("engine", ENGINES)
def test_after_disconnect_the_same_name_is_a_new_session(engine):
    log = """\
{"event":"advertise","session":"p","id":"a","filter":"true"}
{"event":"subscribe","session":"s","id":"i","filter":"true","context":"not exists this.x"}
{"event":"set_context","session":"s","values":{"x":1}}
{"event":"publish","session":"p","attributes":{"n":1}}
{"event":"disconnect","session":"s"}
{"event":"disconnect","session":"p"}
{"event":"advertise","session":"p","id":"a","filter":"true"}
{"event":"publish","session":"p","attributes":{"n":2}}
{"event":"subscribe","session":"s","id":"i","filter":"true","context":"not exists this.x"}
{"event":"publish","session":"p","attributes":{"n":3}}
"""
    got = [json.loads(line) for line in output(log, engine)]
    assert [(each["attributes"]["n"], each["sequence"]) for each in got] == [(3, 2)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refused_first_event_does_not_connect_its_session(engine):
    log = """\
{"event":"subscribe","session":"s","id":"i","filter":"x >> 1"}
{"event":"disconnect","session":"s"}
{"event":"set_context","session":"s","values":{}}
{"event":"disconnect","session":"s"}
"""
    refused = []
    output(log, engine, refused=lambda line, _: refused.append(line))
    assert refused == [1, 2]


def test_the_error_for_an_unknown_engine_lists_the_known_ones():
    with pytest.raises(errors.UnknownEngine, match="oracle, memory"):
        silbo.replay([], engine="abacus")
    with pytest.raises(errors.InvalidValue, match="a number of events from 1"):
        silbo.replay([], batch=0)


@pytest.mark.parametrize("log", [[{"event": "disconnect"}], ["{}"], io.StringIO("{}")])
def test_a_log_is_a_path_a_binary_file_or_events(log):
    with pytest.raises(errors.InvalidValue, match=r"^log: "):
        list(silbo.replay(log))
