"""`set_contexts`: the same result as one `set_context` each, all or nothing, for columns of every kind."""

import asyncio
import json
import subprocess
import sys
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import silbo
from silbo import errors
from silbo.context.table import ContextTable
from silbo.core import batch
from silbo.core.fold import Fold
from silbo.model.events import Advertise, Publish, SetContext, Subscribe
from silbo.testing import RecordingSession
from silbo.wire.jsonl import event_json

FUNCTION = "abs(pub.x - this.x) <= 1 and abs(pub.y - this.y) <= 1"
BIG = 2**53


@pytest.fixture
def cars(broker):
    made = []
    for i in range(50):
        car = broker.connect(f"car-{i}")
        car.subscribe("true", context=FUNCTION)
        made.append(car)
    publisher = broker.connect("publisher")
    publisher.advertise("true")
    return broker, made, publisher


def who_gets(cars, publisher, **place):
    publisher.publish({"n": 1}, context=place)
    return [i for i, car in enumerate(cars) if [n for s in car.subscriptions for n in s.drain()]]


def test_arrays_of_floats_move_everybody(cars):
    broker, sessions, publisher = cars
    for turn in range(3):
        broker.set_contexts(sessions, {"x": np.arange(50.0) + turn, "y": np.zeros(50)})
        assert who_gets(sessions, publisher, x=10.0, y=0.5) == [9 - turn, 10 - turn, 11 - turn]
        assert sessions[3].context == {"x": 3.0 + turn, "y": 0.0}


def test_a_single_change_is_merged_into_contexts_written_in_bulk(cars):
    broker, sessions, publisher = cars
    sessions[0].set_context(role="taxi", x=99.0)
    broker.set_contexts(sessions, {"x": np.arange(50.0), "y": np.zeros(50)})
    sessions[0].set_context(y=5.0)
    assert sessions[0].context == {"role": "taxi", "x": 0.0, "y": 5.0}
    sessions[0].set_context(x=None)
    assert sessions[0].context == {"role": "taxi", "y": 5.0}
    broker.set_contexts(sessions[:1], {"x": np.array([7.0])})
    assert sessions[0].context == {"role": "taxi", "x": 7.0, "y": 5.0}
    assert who_gets(sessions, publisher, x=7.0, y=5.0) == [0]


@pytest.mark.parametrize(
    "column",
    [
        np.array([BIG + 1, -(2**63), 2**63 - 1]),
        np.array([1, 2, 3], np.int8),
        np.array([1.5, -0.0, 3.0], np.float32),
        np.array([True, False, True]),
        np.array([1, 2, 3], np.uint64),
        [1, 2.5, "three"],
        ["a", None, "b"],
        [{1, 2}, [], ("x",)],
    ],
    ids=repr,
)
def test_values_come_back_with_their_value_and_type(broker, column):
    sessions = [broker.connect(f"car-{i}") for i in range(3)]
    for session in sessions:
        session.subscribe("true", context="this.v = this.v or exists this.v")
    broker.set_contexts(sessions, {"v": column})
    for i, value in enumerate(column):
        alone = broker.connect("alone")
        alone.set_context(v=value)
        assert sessions[i].context == alone.context
        assert [type(each) for each in sessions[i].context.values()] == [type(each) for each in alone.context.values()]


def test_an_arrow_table_is_accepted_and_null_removes_a_variable(broker):
    sessions = [broker.connect(f"car-{i}") for i in range(3)]
    broker.set_contexts(sessions, pa.table({"x": [1.0, 2.0, 3.0], "role": ["a", "b", None]}))
    assert [dict(session.context) for session in sessions] == [
        {"x": 1.0, "role": "a"},
        {"x": 2.0, "role": "b"},
        {"x": 3.0},
    ]
    broker.set_contexts([session.uuid for session in sessions], pa.table({"x": [None, 5, None]}))
    assert [session.context.get("x") for session in sessions] == [None, 5, None]


def test_a_record_batch_and_a_masked_array_are_accepted(broker):
    sessions = [broker.connect("a"), broker.connect("b")]
    broker.set_contexts(sessions, pa.record_batch({"on": [True, False], "role": ["x", "y"], "n": [1, 2]}))
    assert sessions[1].context == {"on": False, "role": "y", "n": 2}
    broker.set_contexts(sessions, {"n": np.ma.array([5.0, 6.0], mask=[False, True])})
    assert [session.context.get("n") for session in sessions] == [5.0, None]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "string", "object"])
def test_a_missing_value_in_a_column_of_pandas_removes_the_variable(broker, dtype):
    sessions = [broker.connect("a"), broker.connect("b")]
    broker.set_contexts(sessions, {"x": [5.0, 6.0]})
    values = {"boolean": [True, None], "string": ["a", None]}.get(dtype, [1, None])
    broker.set_contexts(sessions, {"x": pd.Series(values, dtype=dtype)})
    assert sessions[0].context == {"x": values[0]}
    assert sessions[1].context == {}


def test_sessions_must_be_a_list(broker):
    session = broker.connect("a")
    for given in (session, "a"):
        with pytest.raises(errors.InvalidValue, match="sessions: a list of sessions is expected"):
            broker.set_contexts(given, {"x": [1.0]})


def test_stats_count_contexts_written_in_bulk(broker):
    sessions = [broker.connect("a"), broker.connect("b")]
    broker.set_contexts(sessions, {"x": np.array([1.0, 2.0])})
    assert broker.stats()["contexts"] == 2


def test_a_session_that_is_listed_twice_gets_the_last_value(cars):
    broker, sessions, _ = cars
    broker.set_contexts([sessions[0], sessions[1], sessions[0]], {"x": np.array([1.0, 2.0, 3.0])})
    assert sessions[0].context == {"x": 3.0}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"x": np.array([1.0, np.nan])}, "not a finite number"),
        ({"x": np.array([1.0])}, "2 sessions need 2 values"),
        ({"x": [1.0, None], "y": [object(), 1]}, "object is not a type of value"),
        ({"": np.array([1.0, 2.0])}, "must not be empty"),
        ({f"v{i}": np.array([1.0, 2.0]) for i in range(64)}, "64"),
        (5, "columns by name"),
        ({"x": np.array([7.0, 8.0]), "y": np.zeros((2, 1))}, "one dimension"),
        ({"x": np.float64(1.0)}, "one dimension"),
        (pa.table([[1.0, 2.0], [3.0, 4.0]], names=["x", "x"]), "two columns"),
    ],
)
def test_if_one_value_is_refused_no_context_changes(broker, values, said):
    sessions = [broker.connect("a"), broker.connect("b")]
    sessions[0].subscribe("true", context=FUNCTION)
    sessions[1].set_context(kept=1)
    before = [dict(session.context) for session in sessions]
    with pytest.raises(silbo.SilboError, match=said):
        broker.set_contexts(sessions, values)
    assert [dict(session.context) for session in sessions] == before


def test_an_unknown_or_closed_session_is_refused(broker):
    session = broker.connect("a")
    with pytest.raises(silbo.SilboError):
        broker.set_contexts([session, "nobody"], {"x": np.array([1.0, 2.0])})
    assert session.context == {}
    session.close()
    with pytest.raises(silbo.SilboError):
        broker.set_contexts([session], {"x": np.array([1.0])})


def test_contexts_written_in_bulk_are_recorded():
    events = []
    with silbo.Broker(record=events.append) as broker:
        sessions = [broker.connect("a"), broker.connect("b")]
        broker.set_contexts(sessions, {"x": np.array([1.0, 2.0])})
    assert [event for event in events if isinstance(event, SetContext)] == [
        SetContext("a", {"x": 1.0}),
        SetContext("b", {"x": 2.0}),
    ]


def test_more_variables_than_columns_are_still_written():
    table = ContextTable()
    rows = [table.row(str(i)) for i in range(4)]
    for i in range(70):
        table.write_columns(rows[:2], {f"v{i % 60}": np.array([float(i), 1.0])})
    assert table.at(rows[0])["v9"] == 69.0
    assert len(table.at(rows[1])) == 60
    assert table.at(rows[2]) == {}


def test_a_batch_of_a_log_sees_each_position_at_its_place():
    """One kernel call applies the whole batch; a publication must meet the position before it, not the last one."""
    events = [
        Advertise("camera", "a", "true", None, None),
        Subscribe("car", "s", "true", "abs(pub.x - this.x) <= 1", ()),
        SetContext("car", {"x": 0.0}),
    ]
    for n in range(50):
        events += [SetContext("car", {"x": float(n)}), Publish("camera", {"n": n}, {"x": 25.0})]
    for index in ("fast", "fast-context", "plain"):
        fold = Fold(index)
        assert [each["n"] for each in fold.apply([*events, *events[-2:]])] == [24, 25, 26]
        assert fold.core.contexts.writes == 50  # the first and the last changed nothing


def test_a_long_batch_is_applied_in_parts(monkeypatch):
    monkeypatch.setattr(batch, "MOST_WORDS", 100)
    events = [Advertise("p", "a", "true", None, None), Subscribe("s", "1", "n >= 5", None, ())]
    events += [Publish("p", {"n": n}, {}) for n in range(100)]
    assert [each["n"] for each in Fold("fast").apply(events)] == list(range(5, 100))


def test_without_columns_nothing_changes(broker):
    sessions = [broker.connect("a"), broker.connect("b")]
    broker.set_contexts(sessions, {})
    assert [dict(session.context) for session in sessions] == [{}, {}]


def test_observers_of_the_core_get_each_context_that_a_bulk_write_changed(broker):
    sessions = [broker.connect("a"), broker.connect("b")]
    sessions[0].set_context(x=1.0)
    seen = []
    broker._engine.core.observers.append(lambda *accepted: seen.append(accepted))
    broker.set_contexts(sessions, {"x": np.array([1.0, 2.0])})
    ((client, event, is_changed),) = seen
    changes = json.loads(event_json(event))["values"]
    assert (client.name, changes, is_changed) == ("b", {"x": 2.0}, True)


def test_unchanged_contexts_are_not_recorded():
    events = []
    with silbo.Broker(record=events.append) as broker:
        sessions = [broker.connect("a"), broker.connect("b")]
        broker.set_contexts(sessions, {"x": np.array([1.0, 2.0])})
        broker.set_contexts(sessions, {"x": np.array([1.0, 3.0])})
        broker.set_contexts(sessions, {})
        writes = broker.stats()["context_writes"]
    assert [event for event in events if isinstance(event, SetContext)][2:] == [SetContext("b", {"x": 3.0})]
    assert writes == 3


def test_a_plain_index_compiles_nothing_for_many_contexts():
    script = """
import sys, numpy as np, silbo
with silbo.Broker(index="plain") as broker:
    sessions = [broker.connect("a"), broker.connect("b")]
    sessions[0].subscribe("true", context="this.x > 1")
    broker.set_contexts(sessions, {"x": np.array([1.0, 2.0])})
    assert sessions[1].context == {"x": 2.0}
    broker.connect("p").advertise("true")
assert "numba" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_variables_written_in_bulk_do_not_keep_their_columns_forever():
    broker = silbo.Broker()
    sessions = [broker.connect("a"), broker.connect("b")]
    sessions[0].subscribe("true", context="this.x > 1")
    for i in range(62):
        broker.set_contexts(sessions, {f"v{i}": np.array([1.0, 2.0])})
        broker.set_contexts(sessions, {f"v{i}": [None, None]})
    for i in range(10):
        sessions[1].subscribe("true", context=f"abs(pub.w{i} - this.w{i}) <= 1")
    assert len(broker.stats()["families"]) == 10
    assert [dict(session.context) for session in sessions] == [{}, {}]
    broker.close()


def test_columns_that_make_room_for_each_other_are_written_one_by_one():
    """One column is left, and two variables arrive at once."""
    table = ContextTable()
    rows = [table.row(str(i)) for i in range(2)]
    for i in range(63):
        table.column(f"used{i}")
        table.use_column(f"used{i}", 1)
    table.write_columns(rows, {"x": np.array([1.0, 2.0]), "y": np.array([3.0, 4.0])})
    assert [dict(table.at(row)) for row in rows] == [{"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 4.0}]


# columns that cannot be written to, and all or nothing


def frozen(values):
    column = np.array(values)
    column.setflags(write=False)
    return column


COLUMNS = {
    "an Arrow table": lambda xs: pa.table({"x": xs, "y": [0.0] * len(xs)}),
    "a record batch": lambda xs: pa.record_batch({"x": xs, "y": [0.0] * len(xs)}),
    "columns of an Arrow table": lambda xs: {"x": pa.table({"x": xs})["x"], "y": pa.array([0.0] * len(xs))},
    "several chunks": lambda xs: {"x": pa.chunked_array([xs[:20], xs[20:]]), "y": np.zeros(len(xs))},
    "read-only arrays": lambda xs: {"x": frozen(xs), "y": frozen(np.zeros(len(xs)))},
    "columns of pandas": lambda xs: dict(pd.DataFrame({"x": xs, "y": 0.0})),
    "read-only integers": lambda xs: {"x": frozen(np.array(xs, int)), "y": frozen(np.zeros(len(xs), int))},
    "other byte order": lambda xs: {"x": np.array(xs, ">f8"), "y": np.zeros(len(xs), ">f4")},
}


@pytest.mark.parametrize("made", COLUMNS.values(), ids=COLUMNS)
def test_columns_of_every_kind_move_everybody(cars, made):
    broker, sessions, publisher = cars
    broker.set_contexts(sessions, made([float(i) for i in range(50)]))
    assert who_gets(sessions, publisher, x=10.0, y=0.0) == [9, 10, 11]
    assert sessions[7].context == {"x": 7.0, "y": 0.0}


def test_a_column_that_is_refused_changes_no_other(cars):
    broker, sessions, _ = cars
    broker.set_contexts(sessions, {"x": np.zeros(50), "y": np.zeros(50)})
    wrong = np.zeros(50)
    wrong[3] = np.nan
    with pytest.raises(errors.InvalidValue, match=r"values\[3\]\.y: nan is not a finite number"):
        broker.set_contexts(sessions, {"x": np.full(50, 100.0), "y": wrong})
    assert {session.context["x"] for session in sessions} == {0.0}


def test_a_pandas_frame_is_refused_with_advice(cars):
    broker, sessions, _ = cars
    with pytest.raises(errors.InvalidValue, match=r"dict\(frame\)"):
        broker.set_contexts(sessions, pd.DataFrame({"x": [1.0] * 50}))


# sessions by handle, name or UUID


@pytest.mark.parametrize(
    "given", [lambda s: s, lambda s: s.name, lambda s: s.uuid, lambda s: uuid.UUID(s.uuid), RecordingSession]
)
def test_a_session_can_be_given_by_handle_name_or_uuid(broker, given):
    car, publisher = broker.connect("car"), broker.connect("publisher")
    publisher.advertise("true")
    every = car.subscribe("true")
    broker.set_contexts([given(car)], {"x": [1.0]})
    assert car.context == {"x": 1.0}
    assert broker.explain(publisher.publish({"a": 1}), (given(car), every.id)).gets


def test_an_async_session_can_be_given_by_handle(broker):
    async def drive():
        async with silbo.aio.connect(broker, "car") as car:
            broker.set_contexts([car], {"x": [1.0]})
            return dict(car.context)

    assert asyncio.run(drive()) == {"x": 1.0}


def test_the_error_for_an_unknown_session_lists_the_connected_ones(broker):
    broker.connect("car-1")
    with pytest.raises(
        errors.UnknownSession, match=r"'car1' is not connected. Did you mean 'car-1'\? There are: car-1"
    ):
        broker.set_contexts(["car1"], {"x": [1.0]})


def test_a_name_that_two_sessions_have_is_refused(broker):
    broker.connect("car"), broker.connect("car")
    with pytest.raises(errors.InvalidValue, match=r"2 sessions are named 'car'. Give the UUID of one"):
        broker.set_contexts(["car"], {"x": [1.0]})


def test_the_handle_of_a_closed_or_foreign_session_is_refused(broker):
    gone = broker.connect("gone")
    gone.close()
    with pytest.raises(errors.Closed):
        broker.set_contexts([gone], {"x": [1.0]})
    with pytest.raises(errors.InvalidValue, match="of another broker"):
        broker.set_contexts([silbo.Broker().connect("other")], {"x": [1.0]})
    with pytest.raises(errors.InvalidValue, match="a session, its name or its UUID is expected, not int"):
        broker.set_contexts([5], {"x": [1.0]})
