"""What of a subscription fits the matcher in hardware, and the command that says so."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silbo.cli import main
from silbo.context.function import ContextFunction
from silbo.hw.offload.fit import fit
from silbo.matching.filter import Filter
from silbo.model.values import KINDS

NEAR = "abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20"


# what fits


@pytest.mark.parametrize(
    ("filter", "words"),
    [
        ("a = 1", [[("a", "number", 1)]]),
        ("a = 1 and a = 1.0 and b > 2", [[("a", "number", 1)]]),
        ('a = "x" or b = true', [[("a", "string", "x")], [("b", "bool", True)]]),
        ("not (a != 1 or b > 2)", [[("a", "number", 1)]]),
        (" and ".join(f"a{i} = {i}" for i in range(16)), [[(f"a{i}", "number", i) for i in range(16)]]),
    ],
)
def test_a_filter_fits_if_each_conjunction_has_equalities(filter, words):
    found = fit(Filter.of(filter))
    assert found.is_on_device
    assert [list(each.words) for each in found.conjunctions] == words


@pytest.mark.parametrize(
    ("filter", "why"),
    [
        ("a > 1", "no equality"),
        ("a = 1 or b > 1", "no equality"),
        ("not a = 1", "no equality"),
        ("a != 1", "no equality"),
        ("a in (1, 2)", "no equality"),
        ("true", "no equality"),
        (" and ".join(f"a{i} = {i}" for i in range(17)), "17 equalities, and the device takes 16 at most"),
    ],
)
def test_a_filter_does_not_fit_if_one_conjunction_has_none_or_too_many(filter, why):
    found = fit(Filter.of(filter))
    assert not found.is_on_device
    assert any(why in part.why for part in found.parts())
    assert {part.where for part in found.parts()} == {"software"}


@pytest.mark.parametrize(
    ("function", "where", "why"),
    [
        (NEAR, "device", "pub.x around this.x and pub.y around this.y, each way 20"),
        ("pub.x >= this.x - 5 and pub.x <= this.x + 5 and pub.kind = this.kind", "device", "each way 5"),
        ("distance(pub.x, pub.y, this.x, this.y) < 3", "device", "a box"),
        ("geo_distance(pub.x, pub.y, this.x, this.y) < 3", "software", "on the globe"),
        (f"{NEAR} or this.x > 3", "software", "no box"),
        ("pub.x = this.x", "software", "no box"),
        ("this.role = 'a'".replace("'", '"'), "software", "no box"),
    ],
)
def test_a_function_with_a_box_is_looked_at_on_the_device(function, where, why):
    found = fit(Filter.of("a = 1"), ContextFunction.of(function))
    *_, part = found.parts()
    assert (part.what, part.where) == ("context", where)
    assert why in part.why
    assert (found.box is not None) == (where == "device")


def test_what_is_no_equality_is_told_as_left_to_software():
    found = list(fit(Filter.of("a = 1 and b > 2 and not exists c")).parts())
    assert [(part.what, part.where, part.text) for part in found] == [
        ("conjunction", "device", "a = 1 and b > 2 and not exists c"),
        ("constraint", "software", "b > 2"),
        ("constraint", "software", "not exists c"),
    ]


ATOMS = ["a = 1", "a = true", 'a = "x"', "b = 0", "b != 1", "a > 0", "c in (1, 2)", "exists b", "true"]
SAID = st.dictionaries(st.sampled_from("abc"), st.sampled_from([0, -0.0, 1, 1.0, 2, True, False, "x"]))
conditions = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: f"({' and '.join(each)})"),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: f"({' or '.join(each)})"),
    ),
    max_leaves=6,
)


@settings(max_examples=500)
@given(conditions, SAID)
def test_whatever_a_filter_selects_has_all_words_of_one_of_its_conjunctions(filter, message):
    read = Filter.of(filter)
    found = fit(read)
    if found.is_on_device and read.selects(message):
        said = {(name, KINDS[type(value)], value) for name, value in message.items()}
        assert any(said.issuperset(each.words) for each in found.conjunctions)


# the command


def hw_fit_prints(capsys, *arguments):
    assert main(["hw", "fit", *arguments]) == 0
    return capsys.readouterr().out


def test_the_command_says_what_runs_where_and_why(capsys):
    shown = hw_fit_prints(capsys, "a = 1 and b > 2", "--context", NEAR)
    assert shown.splitlines()[0] == "candidates are found on the device"
    assert "software  constraint   b > 2" in shown
    assert "device    context" in shown
    assert hw_fit_prints(capsys, "b > 2").startswith("candidates are found in software")


def test_the_command_gives_one_json_object(capsys):
    shown = json.loads(hw_fit_prints(capsys, "a = 1 or b = 2 and c > 3", "--context", NEAR, "--json"))
    assert (shown["where"], shown["tsids"]) == ("device", 2)
    assert [(part["what"], part["where"]) for part in shown["parts"]] == [
        ("conjunction", "device"),
        ("conjunction", "device"),
        ("constraint", "software"),
        ("context", "device"),
    ]
