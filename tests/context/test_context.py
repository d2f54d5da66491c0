"""The contextManager table, and functions that can never be true."""

import random

import pytest
import shapely

import silbo
from silbo import errors
from silbo.context.table import ContextTable
from silbo.matching.plain import PlainIndex
from silbo.model.values import checked_changes


def test_changes_are_merged_and_none_removes():
    table = ContextTable()
    table.set("u", checked_changes({"x": 1, "y": 2}))
    table.set("u", checked_changes({"y": None, "z": 3}))
    assert dict(table["u"]) == {"x": 1, "z": 3}


def test_an_unchanged_value_is_no_write():
    table = ContextTable()
    table.set("u", checked_changes({"x": 1, "s": ["a", "b"], "g": shapely.Point(1, 2)}))
    writes = table.writes
    same = {"x": 1.0, "s": {"b", "a"}, "g": silbo.geometry("POINT (1 2)"), "gone": None}
    assert table.set("u", checked_changes(same)) is False
    assert table.writes == writes


def test_a_change_of_type_is_a_change():
    table = ContextTable()
    table.set("u", checked_changes({"x": 1}))
    assert table.set("u", checked_changes({"x": True})) is True
    assert table["u"]["x"] is True


def test_a_change_beyond_the_bound_changes_nothing():
    table = ContextTable()
    table.set("u", checked_changes({f"v{i}": i for i in range(64)}))
    before = dict(table["u"])
    with pytest.raises(errors.TooManyVariables):
        table.set("u", checked_changes({"v0": 99, "w": 1}))
    assert dict(table["u"]) == before
    table.set("u", checked_changes({"v0": None, "w": 1}))
    assert len(table["u"]) == 64


def test_a_row_that_was_read_is_a_snapshot():
    table = ContextTable()
    table.set("u", checked_changes({"x": 1}))
    row = table["u"]
    table.set("u", checked_changes({"x": 2}))
    assert row["x"] == 1


def test_the_table_holds_any_mix_of_variables_and_types():
    broker = silbo.Broker()
    car, van = broker.connect("car"), broker.connect("van")
    car.set_context(x=1, name="a", vip=True, tags=["p", "q"], zone=shapely.box(0, 0, 1, 1))
    van.set_context({"odd name": 0.5})
    printed = broker.tables()
    assert f'⟨{car.uuid} (car); x = 1, name = "a", vip = true, tags = {{"p", "q"}}, zone = POLYGON' in printed
    assert f"⟨{van.uuid} (van); odd name = 0.5⟩" in printed


def test_the_tables_are_printed_as_the_paper_prints_them():
    broker = silbo.Broker()
    camera, car = broker.connect("Cam1"), broker.connect("V1")
    camera.advertise('msg = "accident"', offers=["x", "y"])
    car.subscribe('msg = "accident"', context="pub.x >= this.x - 20")
    car.set_context(x=12.0)
    assert broker.tables().splitlines() == [
        "advertisement table  ⟨publisher; A; offers; reads⟩",
        '  ⟨Cam1; msg = "accident"; x, y; all⟩',
        "subscription table  ⟨subscriber; f; f_cp; include⟩",
        '  ⟨V1; msg = "accident"; pub.x >= this.x - 20; ∅⟩',
        "contextManager table  ⟨UUID; values⟩",
        f"  ⟨{car.uuid} (V1); x = 12.0⟩",
    ]


class CountingIndex(PlainIndex):
    """An index that counts every call that could change its entries."""

    def __init__(self):
        super().__init__()
        self.touched = 0

    def add(self, row):
        self.touched += 1
        super().add(row)

    def remove(self, row):
        self.touched += 1
        super().remove(row)


def test_a_context_change_never_touches_the_content_index():
    index = CountingIndex()
    broker = silbo.Broker(index=index)
    car, camera = broker.connect("car"), broker.connect("camera")
    alerts = [car.subscribe(f"kind = {i}", context="pub.x = this.x") for i in range(50)]
    camera.advertise("true")
    assert index.touched == index.changes == 50
    filed = {key: dict(rows) for key, rows in index._filed.items()}
    for x in range(200):
        car.set_context(x=x)
        camera.publish({"kind": x % 50}, context={"x": x})
    assert index.touched == index.changes == 50
    assert index._filed == filed
    assert sum(len(each) for each in alerts) == 200
    assert broker.stats()["context_writes"] == 200


@pytest.mark.parametrize(
    ("function", "absent", "never"),
    [
        ("pub.x <= this.x", ["x"], True),
        ("pub.x <= this.x", ["y"], False),
        ("pub.x <= this.x", [], False),
        ("pub.x = 1 and pub.y = 1", ["y"], True),
        ("pub.x = 1 or pub.y = 1", ["y"], False),
        ("pub.x = 1 or pub.y = 1", ["x", "y"], True),
        ("not (pub.x = 1)", ["x"], True),
        ("not (pub.x = 1 and this.a = 1)", ["x"], False),
        ("not (pub.x = 1 or this.a = 1)", ["x"], True),
        ("exists pub.x", ["x"], True),
        ("not exists pub.x", ["x"], False),
        ("pub.x", ["x"], True),
        ("within(point(pub.x, 1), this.zone)", ["x"], True),
        ("msg.a in pub.set", ["set"], True),
        ("true", ["x"], False),
        ("false", [], True),
        ("1 > 2", [], True),
        ("1 < 2 and this.x = 1", ["x"], False),
        ("this.x = 1 and msg.x = 1", ["x"], False),
    ],
)
def test_a_function_that_can_never_be_true_without_some_variables(function, absent, never):
    assert silbo.never_true(function, absent) is never


def test_a_context_without_variables_has_no_row():
    table = ContextTable()
    table.set("u", checked_changes({"x": 1}))
    table.set("u", checked_changes({"x": None}))
    assert len(table) == 0
    assert dict(table["u"]) == {}


def test_floats_written_over_floats_are_the_same_as_any_other_change():
    """Compare `write_floats` with a dictionary while cells are in use, with other kinds of changes in between."""
    chance = random.Random(2)
    table, row, expected = ContextTable(), None, {}
    row = table.row("car")
    for name in ("x", "y", "z"):
        table.column(name)
    short = 0
    for turn in range(2_000):
        names = chance.sample(["x", "y", "z"], chance.randint(1, 3))
        changes = {name: float(chance.randrange(4)) for name in names}
        changed = table.write_floats(row, dict(changes))
        short += changed is not None
        if changed is None:
            changed = table.write(row, changes)
        assert changed == any(expected.get(name) != value for name, value in changes.items())
        expected |= changes
        if turn % 7 == 0:
            assert table.at(row) == expected
        if turn % 50 == 0:
            other = {chance.choice(["x", "y", "z"]): chance.choice([1, "a", True])}
            table.write(row, other)
            expected |= other
    assert table.at(row) == expected
    assert short > 1_000


def test_a_zero_keeps_its_sign_wherever_it_is_written(broker):
    """0.0 and -0.0 are equal: one over the other is no change. But a write that changes another variable keeps the sign."""
    car = broker.connect("car")
    car.subscribe("true", context="abs(pub.x - this.x) <= this.y")
    car.set_context(x=0.0, y=1.0)
    car.set_context(x=-0.0)
    assert str(car.context["x"]) == "0.0"
    car.set_context(x=-0.0, y=2.0)
    assert str(car.context["x"]) == "-0.0"
    car.set_context(y=3.0)
    assert str(car.context["x"]) == "-0.0"


def test_stats_have_the_plan_before_the_first_subscription(broker):
    assert broker.stats()["plan"] == "content first"
