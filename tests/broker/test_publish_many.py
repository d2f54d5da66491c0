"""`publish_many`: contexts and payloads from columns, and errors that name the row."""

import pandas as pd
import pyarrow as pa
import pytest

from silbo import errors


@pytest.fixture
def gateway(broker):
    session = broker.connect("gateway")
    session.advertise("not exists forbidden", offers=["x", "y"])
    return session


ROWS = [{"id": 1, "x": 10.0, "y": 1.0, "raw": b"one"}, {"id": 2, "x": 500.0, "y": 1.0, "raw": b"two"}]


@pytest.mark.parametrize("table", [ROWS, pa.Table.from_pylist(ROWS)], ids=["rows", "arrow"])
def test_columns_are_the_context_and_the_payload_of_each_row(broker, gateway, table):
    car = broker.connect("car")
    near = car.subscribe("true", context="abs(pub.x - this.x) <= 20", include=["y"])
    car.set_context(x=0.0)
    gateway.publish_many(table, context=["x", "y"], payload="raw")
    got = near.get(timeout=1)
    assert near.poll() is None
    assert dict(got) == {"id": 1}
    assert got.payload == b"one"
    assert dict(got.context) == {"x": 10.0, "y": 1.0}
    assert dict(gateway.context) == {}


@pytest.mark.parametrize("form", [list, pa.Table.from_pylist, iter])
def test_a_column_that_no_row_has_is_refused_with_the_names_that_there_are(broker, gateway, form):
    with pytest.raises(errors.InvalidValue, match=r"payload: the rows have no column 'row'. Did you mean 'raw'"):
        gateway.publish_many(form(ROWS), context=["x"], payload="row")
    with pytest.raises(errors.InvalidValue, match=r"context: the rows have no column 'z'. There are: id, raw, x, y"):
        gateway.publish_many(ROWS, context=["x", "z"])


def test_a_column_that_only_some_rows_have_is_absent_in_the_others(broker, gateway):
    everything = broker.connect("car").subscribe("true", include=["x"])
    gateway.publish_many([{"a": 1}, {"a": 2, "x": 5.0}], context=["x"])
    assert [dict(each.context) for each in everything.drain()] == [{}, {"x": 5.0}]
    assert gateway.publish_many([], context=["x"]) == []


def test_the_error_for_a_frame_or_a_column_of_pandas_names_its_type(gateway):
    for given in (pd.DataFrame(ROWS), pd.Series([1])):
        with pytest.raises(errors.InvalidValue, match=f"a {type(given).__name__} is not a list of rows"):
            gateway.publish_many(given)


def test_the_error_for_a_row_that_is_not_advertised_names_it_and_no_row_is_published(broker, gateway):
    everything = broker.connect("car").subscribe("true")
    with pytest.raises(errors.NotAdvertised, match=r"^rows\[1\]: "):
        gateway.publish_many([{"a": 1}, {"forbidden": 1}])
    assert len(everything) == 0


def test_the_error_for_an_invalid_context_value_names_row_and_column(broker, gateway):
    with pytest.raises(errors.InvalidValue, match=r"^rows\[1\]\.x: "):
        gateway.publish_many([{"x": 1.0}, {"x": float("nan")}], context=["x"])
    with pytest.raises(errors.InvalidValue, match=r"raw"):
        gateway.publish_many([{"raw": "text"}], payload="raw")
