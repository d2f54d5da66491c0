"""The check of values: which are accepted, and how the others are refused."""

import datetime as dt
import enum
import pickle
import re
from decimal import Decimal

import msgpack
import numpy as np
import pytest
import shapely
from hypothesis import given

import silbo
from silbo import errors
from silbo.model.size import packed_size
from silbo.model.values import (
    ValueSet,
    check_message_size,
    checked_attributes,
    checked_changes,
    checked_context,
    checked_name,
    same_value,
)
from silbo.testing.strategies import attributes


@pytest.mark.parametrize(
    "value", [0, -(2**63), 2**63 - 1, 1.5, -0.0, 1e308, True, "", "a\0b", "\U0010ffff", "x" * 65_535]
)
def test_a_scalar_within_its_bounds_is_accepted_unchanged(value):
    entered = checked_attributes({"a": value})["a"]
    assert type(entered) is type(value)
    assert repr(entered) == repr(value)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), 2**63, -(2**63) - 1, None, b"x", 1j, object(), "\ud800", [1], {"b": 1}],
)
def test_an_invalid_value_is_refused_with_its_path(value):
    with pytest.raises(errors.InvalidValue, match=r"^attributes\.a: ") as refused:
        checked_attributes({"b": 1, "a": value})
    assert refused.value.path == "attributes.a"


def test_a_nested_value_in_a_set_is_refused_with_its_index():
    with pytest.raises(errors.InvalidValue) as refused:
        checked_context({"s": ["a", ["b"]]})
    assert refused.value.path == "context.s[1]"


def test_one_bad_value_refuses_the_whole_event():
    broker = silbo.Broker()
    session = broker.connect("s")
    session.set_context(x=1)
    with pytest.raises(errors.InvalidValue):
        session.set_context(x=2, y=float("nan"))
    assert session.context == {"x": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(7), 7),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.float64(2.5), 2.5),
        (np.uint8(3), 3),
    ],
)
def test_numpy_scalars_are_converted(value, expected):
    entered = checked_attributes({"a": value})["a"]
    assert type(entered) is type(expected)
    assert entered == expected


def test_numpy_nan_is_refused():
    with pytest.raises(errors.InvalidValue):
        checked_attributes({"a": np.float64("nan")})


@pytest.mark.parametrize("name", ["", "x" * 256, "é" * 128, "\ud800", 5, None])
def test_a_name_has_1_to_255_bytes(name):
    with pytest.raises(errors.InvalidValue):
        checked_attributes({name: 1})


def test_a_name_of_255_bytes_is_accepted():
    assert checked_name("x" * 255, "name") == "x" * 255


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (errors.NameTooLong, lambda: checked_name("x" * 256, "name")),
        (errors.StringTooLong, lambda: checked_attributes({"a": "é" * 32_768})),
        (errors.SetTooLarge, lambda: checked_context({"a": [1] * 1_025})),
        (errors.TooManyAttributes, lambda: checked_attributes({f"a{i}": i for i in range(257)})),
        (errors.TooManyVariables, lambda: checked_context({f"a{i}": i for i in range(65)})),
        (errors.TooManyVertices, lambda: silbo.geometry(shapely.Point(0, 0).buffer(1, quad_segs=1_024))),
        (errors.MessageTooLarge, lambda: check_message_size({"a": 1}, bytes(2**20))),
    ],
)
def test_each_bound_on_values_has_its_own_error(error, make):
    with pytest.raises(error) as refused:
        make()
    assert isinstance(refused.value, errors.BoundExceeded)
    assert refused.value.found > refused.value.limit


def test_a_message_of_exactly_one_mebibyte_is_accepted():
    attributes = {"a": 1}  # 4 bytes in msgpack; a long payload has a header of 5 bytes
    check_message_size(attributes, bytes(2**20 - 9))
    with pytest.raises(errors.MessageTooLarge):
        check_message_size(attributes, bytes(2**20 - 8))


EDGES = [-(2**63), -(2**31) - 1, -(2**31), -(2**15) - 1, -(2**15), -129, -128, -33, -32, -1, 0, 127, 128, 255, 256,
         2**16 - 1, 2**16, 2**32 - 1, 2**32, 2**63 - 1, True, 0.5, "", "é" * 15, "é" * 16, "x" * 255, "x" * 256,
         "x" * 65_535]  # fmt: skip


@pytest.mark.parametrize(
    "payload",
    [None, b"", bytes(255), bytes(256), bytes(65_535), bytes(65_536)],
    ids=["none", 0, 255, 256, 65_535, 65_536],
)
@pytest.mark.parametrize("count", [0, 15, 16, 255, 256])
def test_a_message_has_the_size_that_msgpack_gives_it(count, payload):
    message = {f"a{i}": EDGES[i % len(EDGES)] for i in range(count)}
    packed = len(msgpack.packb(message)) + (0 if payload is None else len(msgpack.packb(payload)))
    assert packed_size(message, payload) == packed


@given(attributes())
def test_any_message_has_the_size_that_msgpack_gives_it(message):
    assert packed_size(message, None) == len(msgpack.packb(message))


def test_256_attributes_and_1024_members_are_accepted():
    assert len(checked_attributes({f"a{i}": i for i in range(256)})) == 256
    assert len(checked_context({"s": list(range(1_024))})["s"]) == 1_024


def test_duplicates_count_towards_the_bound_of_a_set():
    with pytest.raises(errors.SetTooLarge):
        checked_context({"s": ["a"] * 1_025})


@pytest.mark.parametrize("collection", [[1, 2], (1, 2), {1, 2}, frozenset({1, 2})])
def test_every_collection_of_scalars_is_a_set(collection):
    assert checked_context({"s": collection})["s"] == {1, 2}


@pytest.mark.parametrize("mixed", [[1, "a"], [True, 1], ["1", 1.0]])
def test_a_set_of_two_types_is_refused(mixed):
    with pytest.raises(errors.InvalidValue, match="one type"):
        checked_context({"s": mixed})


def test_sets_keep_their_type():
    assert ValueSet((1,)) != ValueSet((True,))
    assert ValueSet((1,)) == ValueSet((1.0, 1))
    assert True not in ValueSet((1,))


def test_none_removes_in_set_context_and_is_refused_elsewhere():
    assert checked_changes({"x": None}) == {"x": None}
    with pytest.raises(errors.InvalidValue):
        checked_context({"x": None})


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1.0, True),
        (0.0, -0.0, True),
        (1, True, False),
        (0, False, False),
        (2**53 + 1, float(2**53), False),
        ("1", 1, False),
        (None, None, True),
        (None, 0, False),
        (ValueSet(("a", "b")), ValueSet(("b", "a", "a")), True),
        (ValueSet(()), ValueSet(()), True),
    ],
)
def test_unchanged_means_same_type_and_value(a, b, same):
    assert same_value(a, b) is same


@pytest.mark.parametrize(
    "given",
    [
        "POINT (1 2)",
        {"type": "Point", "coordinates": [1, 2]},
        shapely.Point(1, 2),
        shapely.Point(1, 2, 3),
        "POINT Z (1 2 3)",
    ],
)
def test_a_geometry_from_any_source_is_planar(given):
    assert silbo.geometry(given) == silbo.geometry("POINT (1 2)")


@pytest.mark.parametrize(
    "given",
    [
        "POINT EMPTY",
        "POINT (nan 1)",
        "POINT (inf 1)",
        "POLYGON ((0 0, 1 1, 0 1, 1 0, 0 0))",
        "LINESTRING (0 0, 0 0)",
        "CIRCLE (1 2)",
        "CIRCULARSTRING (0 0, 1 1, 2 0)",
        "GEOMETRYCOLLECTION (CIRCULARSTRING (0 0, 1 1, 2 0))",
        "CURVEPOLYGON EMPTY",
        "POINT (1e400 1)",
        {"type": []},
        {"type": "Point", "coordinates": [1, 2], "extra": {1, 2}},
        "POINT (1 2)\0",
        "GEOMETRYCOLLECTION (" * 200_000,
        {"type": "Feature", "geometry": None},
        {"type": "Point"},
        {"type": "Point", "coordinates": ["a", 1]},
        5,
    ],
)
def test_an_invalid_geometry_is_refused(given):
    with pytest.raises(errors.InvalidGeometry):
        silbo.geometry(given)


def test_a_geometry_does_not_change_with_its_source():
    given = {"type": "Point", "coordinates": [1, 2]}
    made = silbo.geometry(given)
    given["coordinates"][0] = 99
    assert made.given == ("geojson", {"type": "Point", "coordinates": [1, 2]})


def test_a_subclass_of_a_scalar_is_converted_to_its_value():
    class Colour(str, enum.Enum):  # noqa: UP042  # StrEnum has another __str__, and this form is the common one
        RED = "red"

    class Odd(float):
        def __float__(self):
            return 9.0

    entered = checked_attributes({Colour.RED: Colour.RED, "odd": Odd(1.5), "level": enum.IntEnum("L", "LOW").LOW})
    assert entered == {"red": "red", "odd": 1.5, "level": 1}
    assert [type(value) for value in entered.values()] == [str, float, int]


def test_a_plain_string_is_never_read_as_a_geometry():
    assert checked_context({"g": "POINT (1 2)"})["g"] == "POINT (1 2)"


def test_a_geojson_mapping_and_a_shape_become_geometries_in_a_context():
    context = checked_context({"a": {"type": "Point", "coordinates": [1, 2]}, "b": shapely.Point(1, 2)})
    assert context["a"] == context["b"] == silbo.geometry("POINT (1 2)")


def test_a_geometry_cannot_be_an_attribute():
    with pytest.raises(errors.InvalidValue, match="belong in the context"):
        checked_attributes({"g": shapely.Point(1, 2)})


@pytest.mark.parametrize(
    "make",
    [
        lambda: silbo.Filter.of("x >> 1"),
        lambda: silbo.Filter.of("(" * 40),
        lambda: checked_attributes({"a": [1]}),
        lambda: checked_context({"a": [1] * 2_000}),
        lambda: silbo.Broker().connect("p").publish({"a": 1}),
        lambda: silbo.Broker().connect("p").unsubscribe("nope"),
        lambda: silbo.connect("abacus://"),
    ],
)
def test_errors_can_be_pickled(make):
    with pytest.raises(errors.SilboError) as refused:
        make()
    again = pickle.loads(pickle.dumps(refused.value))
    assert type(again) is type(refused.value)
    assert str(again) == str(refused.value)
    assert vars(again) == vars(refused.value)


def test_an_error_message_has_no_terminal_escapes():
    with pytest.raises(errors.InvalidValue) as refused:
        checked_context({"e\x1b[31mvil": [None]})
    assert "\x1b" not in refused.value.line


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "Use seconds as a number: value.timestamp()."),
        (dt.timedelta(1), "Use seconds as a number: value.total_seconds()."),
        (Decimal("1.5"), "Use float(value), or an int of the smallest unit."),
        (b"abc", "Use text, or the payload of publish for bytes."),
    ],
)
def test_common_invalid_values_are_refused_with_advice(value, advice):
    with pytest.raises(
        errors.InvalidValue,
        match=f"{type(value).__name__} is not a type of value that silbo knows. {re.escape(advice)}",
    ):
        silbo.Broker().connect().set_context(t=value)
