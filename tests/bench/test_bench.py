"""The benchmarks: workloads are as described, answers agree, and no figure is missing. No test asserts a time."""

import json
import os
import re
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from silbo.bench import agreement, context, matching, performance_page, publishing, reading
from silbo.bench.baselines import NumpyBrute, NumpyContextFirst
from silbo.bench.workloads import EACH, WORKLOADS, subscriber, workload
from silbo.cli import main
from silbo.cli.bench.labels import label
from silbo.cli.bench.matching import NAMES
from silbo.context.function import ContextFunction
from silbo.errors import InvalidValue
from silbo.language import expression, tree
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter
from silbo.matching.oracle import Oracle
from silbo.matching.siena import SienaIndex

BOXES = ("siena", "bigbox", "clustered", "identical")
BASELINES = ("numpy_brute", "numpy_context_first", "siena_style")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Use the smallest sizes that still show that everything works."""
    monkeypatch.setattr(agreement, "ENOUGH", 20)
    monkeypatch.setattr(agreement, "SCANS", 3)
    monkeypatch.setattr(matching, "WARM_UP", 100)
    monkeypatch.setattr(matching, "CHANGED", 100)
    monkeypatch.setattr(matching, "COMPARED", 50)
    monkeypatch.setattr(publishing, "SUBSCRIBED", 100)
    monkeypatch.setattr(reading, "READ", 100)
    monkeypatch.setattr(context, "WARM_UP", 100)
    monkeypatch.setattr(context, "CHANGES", 200)
    monkeypatch.setattr(context, "SIENA_CHANGES", 20)
    monkeypatch.setattr(context, "REPEATS", 3)


def oracle_of(load, contexts=None):
    oracle = Oracle()
    oracle.advertise("publisher", "a", tree.Truth(True), None, None)
    for i, (filter, function) in enumerate(zip(load.filters, load.functions, strict=True)):
        oracle.subscribe(subscriber(i), f"s{i}", filter.tree, function and function.tree, ())
    for i, each in enumerate(contexts or load.contexts):
        oracle.set_context(f"subscriber-{i}", each)
    return lambda attributes, offered: {
        int(delivery.subscription[1:])
        for delivery in oracle.publish("publisher", dict(attributes), dict(offered), None, None)
    }


# workloads


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_filters_text_reads_back_as_its_tree(name):
    for filter in workload(name, 200, 1, 3).filters:
        assert Filter.of(filter.text).tree == filter.tree


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_same_seed_gives_the_same_workload(name):
    first, again, other = (workload(name, 60, 10, seed) for seed in (3, 3, 4))
    assert (first.filters, first.functions, first.contexts, first.publications) == (
        again.filters, again.functions, again.contexts, again.publications,
    )  # fmt: skip
    assert first.filters != other.filters


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_has_the_size_asked_for(name):
    load = workload(name, 105, 7, 1)
    assert len(load.filters) == len(load.functions) == len(load) == 105
    assert len(load.contexts) == 11
    assert len(load.publications) == 7
    assert load.rows()[104].subscriber == f"subscriber-{104 // EACH}"


def test_filters_have_one_to_nine_constraints_of_distinct_names():
    sizes = set()
    for filter in workload("siena", 500, 1, 1).filters:
        names = [name.name for name in tree.names(filter.tree)]
        assert len(set(names)) == len(names)
        sizes.add(len(names))
    assert sizes == set(range(1, 10))


def test_messages_have_one_to_sixteen_attributes():
    assert {len(attributes) for attributes, _ in workload("siena", 10, 500, 1).publications} == set(range(1, 17))


def test_the_content_of_siena_selects_460_of_80000():
    load = workload("nocontext", 20_000, 400, 1)
    brute = NumpyBrute(load)
    assert 380 < 4 * np.mean([len(brute.match(*each)) for each in load.publications]) < 540


def test_identical_has_few_distinct_filters_and_mixed_many_functions():
    assert len({filter.text for filter in workload("identical", 2_000, 1, 1).filters}) <= 100
    functions = workload("mixed", 1_000, 1, 1).functions
    assert len({function.text for function in functions}) > 500


def test_the_command_knows_every_workload():
    assert list(NAMES) == list(WORKLOADS)


# matching


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_figures_of_matching_are_complete_and_agree(name, monkeypatch):
    enough = 1_000 if name == "siena" else 200
    monkeypatch.setattr(agreement, "ENOUGH", enough)
    found = matching.measure(name, 300, 50, 1, with_starts=False)
    assert found["differences"] == []
    assert found["agrees"] is True
    assert min(found["agrees_on"].values()) >= enough
    assert (found["workload"], found["subscriptions"], found["events"]) == (name, 300, 50)
    assert found["plan"] in ("content first", "context first", "mixed")
    for each in ("match_us", "publish_us"):
        assert {type(found[each][figure]) for figure in ("median", "p99")} == {float}
    for each in ("matches_per_event", "candidates_per_event", "build_s", "rss_mb", "add_us", "remove_us"):
        assert isinstance(found[each], float)
    for each in ("parse_us", "subscribe_us"):
        assert found[each] > 0
    assert {"apply_events_per_s", "cold_start_s", "warm_start_s"} <= found.keys()
    assert tuple(found["baselines"]) == BASELINES
    for each in found["baselines"].values():
        assert each["reason"] if each["us"] is None else (each["agrees"] and each["ratio"] > 0)
    json.dumps(found)


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_index_gives_the_oracles_answers(name):
    load = workload(name, 300, 100, 5)
    matcher, answer = matching.LoadedIndex(load), oracle_of(load)
    for each in load.publications:
        assert matcher.answer(*each) == answer(*each)


@pytest.mark.parametrize(("name", "way"), [*product(BOXES, (NumpyBrute, NumpyContextFirst)), ("nocontext", NumpyBrute)])
def test_the_baselines_give_the_oracles_answers(name, way):
    load = workload(name, 300, 100, 5)
    match, answer = way(load).match, oracle_of(load)
    found = [set(match(*each).tolist()) for each in load.publications]
    assert found == [answer(*each) for each in load.publications]


def test_a_baseline_refuses_a_workload_that_it_cannot_match():
    with pytest.raises(InvalidValue, match="numeric"):
        NumpyBrute(workload("strings", 10, 1, 1))
    with pytest.raises(InvalidValue, match="box"):
        NumpyContextFirst(workload("nocontext", 10, 1, 1))


def test_a_wrong_answer_is_reported():
    load = workload("nocontext", 100, 20, 1)
    matcher = matching.LoadedIndex(load)
    found = matching.compare(load, matcher.table, lambda *each: set(), 1)
    assert found.differences
    assert "missed" in found.differences[0]


def test_the_texts_that_are_timed_are_new_and_mean_the_workloads_filters(monkeypatch):
    monkeypatch.setattr(reading, "READ", 200)
    load = workload("identical", 200, 1, 1)
    first, again = list(reading.new_texts(load)), list(reading.new_texts(load))
    assert len({*first, *again}) == 400
    assert [Filter.of(text).tree for text in again] == [filter.tree for filter in load.filters]


def test_a_subscribe_is_timed_with_expressions_that_are_read_already(monkeypatch):
    load = workload("siena", 50, 10, 1)
    Filter.of("true")  # the publisher's advertisement
    monkeypatch.setattr(expression, "_tree", lambda *_: pytest.fail("a text was read"))
    assert publishing.publish_figures(load, 1)["subscribe_us"] > 0


# context changes, and SIENA's way of handling them


@pytest.mark.parametrize("name", BOXES)
def test_the_siena_index_gives_the_oracles_answers_after_context_changes(name):
    load = workload(name, 200, 60, 6)
    index, chance = SienaIndex(), np.random.default_rng(1)
    rows = load.rows()
    for row in rows[::2]:
        index.add(row)
    for i, each in enumerate(load.contexts):
        index.set_context(f"subscriber-{i}", each)
    for row in rows[1::2]:
        index.add(row)
    moved = [load.near(chance, load.publications[i][1], each) for i, each in enumerate(load.contexts)]
    for i, each in enumerate(moved):
        index.set_context(f"subscriber-{i}", each)
    answer = oracle_of(load, moved)
    for each in load.publications:
        assert {int(index.row(slot).id[1:]) for slot in index.match(*each).tolist()} == answer(*each)


def siena_with(function, **place):
    index = SienaIndex()
    index.set_context("car", place)
    row = SubscriptionRow("car", "car", "s1", Filter.of("a = 1 or b = 1"), ContextFunction.of(function), (), None)
    index.add(row)
    return index, row


@pytest.mark.parametrize("place", [0.1, -7.3, 1e9, 1 / 3, 0])
@pytest.mark.parametrize("reach", [0.2, 20, 1e-9])
def test_the_border_of_a_box_is_exactly_that_of_its_function(place, reach):
    index, row = siena_with(f"abs(pub.x - this.x) <= {reach}", x=place)
    for end in (place - reach, place + reach):
        for x in (np.nextafter(end, -np.inf), end, np.nextafter(end, np.inf)):
            expected = [row] if abs(float(x) - place) <= reach else []
            found = index.match({"a": 1}, {"x": float(x)}).tolist()
            assert [index.row(slot) for slot in found] == expected


def test_a_subscriber_without_a_position_gets_nothing():
    index, row = siena_with("abs(pub.x - this.x) <= 20")
    assert index.match({"b": 1}, {"x": 0.0}).size == 0
    index.set_context("car", {"x": 1.0})
    assert index.match({"b": 1}, {"x": 0.0}).size == 1
    index.remove(row)
    assert index.match({"b": 1}, {"x": 0.0}).size == 0


def test_a_function_that_is_no_box_is_refused():
    with pytest.raises(InvalidValue, match="is not a box"):
        siena_with("pub.kind = this.kind")


def test_the_figures_of_context_changes_are_complete():
    found = context.measure(20, 1)
    assert set(found["set_context_us"]) == {"0", "1", "10", "50"}
    assert all(set(each) == {"median", "p99"} for each in found["set_context_us"].values())
    assert set(found["siena_us"]) == {"1", "10", "50"}
    assert set(found["bulk_ns"]) == {"plain", "grid"}
    assert all(isinstance(found[each], float) for each in ("table_us", "slope", "ratio"))
    json.dumps(found)


# commands


def test_json_is_one_object_and_nothing_else(capsys):
    assert main(["bench", "matching", "--subscriptions", "100", "--events", "20", "--no-starts", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["agrees"] is True
    assert len(out.splitlines()) == 1
    assert err == ""


def test_without_json_every_figure_has_a_line(capsys):
    assert main(["bench", "context", "--subscribers", "10"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("set_context, µs: 50 subscriptions each: median") for line in lines)


def test_labels_say_what_a_figure_is_and_of_what():
    assert label(["baselines", "numpy_brute", "ours_us"]) == (
        "against numpy over all subscriptions: silbo's match of the same publications, µs"
    )
    assert label(["baselines", "siena_style", "ratio"]).endswith("as a multiple of silbo's")
    assert label(["ratio"]) == "the box in the filters at 10 subscriptions, as a multiple of set_context"


@pytest.mark.parametrize("bench", ["matching", "context"])
def test_no_key_of_the_json_is_printed_as_it_is(bench, capsys):
    sizes = {
        "matching": ["--subscriptions", "100", "--events", "20", "--no-starts"],
        "context": ["--subscribers", "10"],
    }
    assert main(["bench", bench, *sizes[bench]]) == 0
    labels = [re.split(r"\s{2,}", line)[0] for line in capsys.readouterr().out.splitlines()]
    assert [each for each in labels if "_" in each.replace("set_context", "")] == []


MEASURED = ("siena", "nocontext", "strings")  # one with boxes, one without, and one that the baselines cannot match


def test_the_page_has_every_workload(monkeypatch):
    """Here the benchmarks run in this process: starting one process for each would take most of the time."""
    asked = []
    monkeypatch.setattr(performance_page, "WORKLOADS", MEASURED)
    monkeypatch.setattr(performance_page, "_measured", lambda *command: asked.append(command) or measured(*command))
    page = performance_page.report(subscriptions=50, events=10, large=60, subscribers=10, seed=1)
    assert [command[:2] for command in asked] == [
        ("matching", "--workload=siena"), ("matching", "--workload=siena"), ("matching", "--workload=nocontext"),
        ("matching", "--workload=strings"), ("context", "--subscribers=10"),
    ]  # fmt: skip
    assert all(f"| {name} | 50 |" in page for name in MEASURED)
    assert "| siena | 60 |" in page
    assert "What is slow, and why" in page
    assert "numba" in page


def measured(bench, *options):
    given = dict(option.removeprefix("--").split("=") for option in options if "=" in option)
    if bench == "context":
        return context.measure(int(given["subscribers"]), int(given["seed"]))
    sizes = int(given["subscriptions"]), int(given["events"]), int(given["seed"])
    return matching.measure(given["workload"], *sizes, with_starts=False)


def test_a_bench_of_the_page_runs_in_a_process_of_its_own():
    found = performance_page._measured("context", "--subscribers=4", "--seed=3")
    assert (found["subscribers"], found["seed"]) == (4, 3)


def test_a_wrong_answer_is_exit_status_1(monkeypatch, capsys):
    monkeypatch.setattr(matching.LoadedIndex, "answer", lambda *_: set())
    arguments = ["--subscriptions", "100", "--events", "20", "--workload", "nocontext", "--no-starts"]
    assert main(["bench", "matching", *arguments]) == 1


def test_help_loads_nothing_heavy():
    code = "import sys; from silbo.cli import main\ntry: main(['bench', '--help'])\nexcept SystemExit: print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.splitlines()[-1] == "False"
    assert "silbo bench matching" in done.stdout
