"""Shapely shapes keep every digit: as text, in a log, in a constant, and in a record of a topic."""

import json

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from shapely import LinearRing, LineString, MultiPoint, MultiPolygon, Point, Polygon, box

import silbo
from silbo.model.events import SetContext
from silbo.wire.jsonl import event_json, parse_event
from silbo.wire.records import ContextRecord, decode, encode

THIRD = 0.1 + 0.2  # 0.30000000000000004, which 16 decimals would round to 0.3

coordinates = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)


@given(st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=4))
def test_points_are_the_same_bit_for_bit_after_reading(points):
    shape = MultiPoint(points)
    made = silbo.geometry(shape)
    assert shapely.from_wkt(made.wkt).wkb == made.wkb == silbo.geometry(made.wkt).wkb


SHAPES = [
    Point(THIRD, -0.0),
    Point(1e300, 5e-324),
    LineString([(0, THIRD), (-THIRD, 1e-17)]),
    LinearRing([(0, 0), (THIRD, 0), (THIRD, THIRD)]),
    Polygon([(0, 0), (9 + THIRD, 0), (9, 9)], [[(2 + THIRD, 1), (3, 1), (3, 2)]]),
    MultiPolygon([box(0, 0, THIRD, THIRD), box(1, 1, 2, 2)]),
    shapely.GeometryCollection([Point(THIRD, 1), LineString([(0, 0), (1, THIRD)])]),
    Point(THIRD, 2, 7),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.geom_type)
def test_a_shape_in_a_log_and_in_a_record_is_the_same_shape(shape):
    made = silbo.geometry(shape)
    event = SetContext("car", {"zone": made})
    assert parse_event(event_json(event)).values["zone"].wkb == made.wkb
    assert decode(encode(ContextRecord(1, "u", {"zone": made}))).values["zone"].wkb == made.wkb


def test_a_shape_in_the_python_form_equals_the_constant_in_text():
    inside = silbo.fn.within(silbo.this.place, Point(THIRD, 1))
    function = silbo.ContextFunction.of(inside)
    assert "0.30000000000000004" in str(function)
    assert silbo.ContextFunction.of(str(function)) == function


def test_a_replayed_notification_shows_the_shape_that_was_sent(tmp_path):
    path = tmp_path / "log.jsonl"
    with silbo.Broker(record=path, index="plain") as broker:
        session = broker.connect("s")
        session.advertise("true")
        zones = session.subscribe("true", include=["zone"])
        session.set_context(zone=Point(THIRD, 1))
        session.publish({"a": 1})
        shown = zones.get(timeout=1).context["zone"]
    (replayed,) = silbo.replay(path, engine="oracle")
    assert replayed.context["zone"] == shown == silbo.geometry(Point(THIRD, 1))


def test_a_short_number_stays_short():
    assert silbo.geometry(box(0, 0, 1, 2.5)).wkt == "POLYGON ((1 0, 1 2.5, 0 2.5, 0 0, 1 0))"
    assert json.loads(event_json(SetContext("c", {"p": silbo.geometry(Point(1, 2))})))["values"] == {
        "p": {"wkt": "POINT (1 2)"}
    }
