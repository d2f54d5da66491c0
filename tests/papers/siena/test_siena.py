"""The SIENA experiment: answers are the oracle's, counts depend only on the seed, and the report is self-contained.

No test asserts a time.
"""

import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from silbo.cli import main
from silbo.errors import MissingPart
from silbo.matching.siena import RESERVED, SienaIndex
from silbo.papers.report import page
from silbo.papers.siena import (
    changes,
    city,
    experiment,
    extension_plots,
    figure_plots,
    figure_report,
    movement,
    same_notifications,
    scopes,
    sizes,
    stages,
    surface,
    tradeoff,
)
from silbo.papers.siena.brokers import connected
from silbo.papers.siena.changes import ResubscribingSender, pair
from silbo.papers.siena.load import paper_load, populate, settle
from silbo.papers.siena.notifications import figure_11
from silbo.papers.siena.same_notifications import notifications_of, oracle_notifications_of, oracle_of
from silbo.papers.siena.spread import ratios, shown, shown_change
from silbo.papers.siena.systems import Silbo

TINY = sizes.RunSizes(
    "tiny", loaded=160, newcomers=4, most=(80, 160), runs=(10, 20), samples=3, subscriptions=(200, 400),
    notifications=120, repeats=2, rounds=2, warm_up=80, surface=200, boxes=(40.0, 800.0), each=(1, 10), surface_events=20,
    scans=20, vehicles=5, seconds=10,
)  # fmt: skip
PICTURES = {f"{name}.png" for name in ("fig07", "fig08", "fig09", "fig11", "tradeoff", "stages", "scopes", "surface")}


@pytest.fixture(autouse=True, scope="module")
def small():
    """Use the smallest sizes that still show that everything works, and hide an installed SUMO."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "QUICK", TINY)
        patch.setattr(tradeoff, "RESAMPLES", 50)
        patch.setattr(same_notifications, "ROUNDS", 60)
        patch.setattr(changes, "PROBED", 3)
        patch.setattr(experiment, "CALIBRATED", 20)
        patch.setitem(sys.modules, "sumo", None)
        yield


class Run:
    """A run of the command, with its output and the files that it wrote."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        with redirect_stdout(TextIOWrapper(BytesIO())) as out, redirect_stderr(StringIO()) as err:
            self.status = main(["experiment", "siena", "--quick", "--seed", str(seed), "--out", str(folder)])
            out.seek(0)
            self.out, self.err = out.read(), err.getvalue()
        self.results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        self.page = (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("siena"), 5)


def load_of(subscriptions, events, seed=1, **more):
    return paper_load(np.random.default_rng(seed), subscriptions, 10, events, **more)


# the command


def test_the_results_have_the_documented_names_and_the_series(run):
    assert run.status == 0
    found = run.results
    assert set(found) == {"context_change_us", "notification_us", "trade_off", "agrees", "series"}
    assert {name: set(of) for name, of in found["context_change_us"].items()} == {
        "silbo": {"1", "10", "50"}, "siena": {"1", "10", "50"},
    }  # fmt: skip
    assert set(found["notification_us"]) == {"silbo", "siena"}
    assert set(found["trade_off"]) == {"paper_formula", "real_cost", "interval"}
    assert {"fig07", "fig08", "fig09", "fig11", "table1", "surface", "scopes", "movement"} <= set(found["series"])
    assert found["agrees"] is True


def test_every_figure_is_a_png_file(run):
    assert {path.name for path in run.folder.glob("*.png")} == PICTURES
    assert all((run.folder / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n") for name in PICTURES)


def test_the_report_needs_nothing_from_elsewhere(run):
    assert run.page.count('src="data:image/png;base64,') == len(PICTURES)
    without = re.sub(r'src="data:image/png;base64,[A-Za-z0-9+/=]+"', "", run.page)
    assert not re.search(r"src=|href=|https?:|url\(|@import|<script|<link", without)


def test_the_report_says_what_a_reader_must_know(run):
    for words in (
        "needs the overlay",
        "seed",
        "numba",
        "What the paper leaves open",
        "Why the ratio",
        "Table 1",
        "24.7",
    ):
        assert words in run.page


def test_figures_that_differ_from_run_to_run_have_their_range(run):
    """For scopes and the public verbs, the table has the median and the rounds with the least and the greatest time."""
    rows = re.findall(r"<tr><td>((?:publish|context change|silbo: ).*?)</tr>", run.page)
    ranged = [row for row in rows if re.search(r"<td>[\d,.]+ \([\d,.]+ to [\d,.]+\)</td>", row)]
    assert len(rows) == len(ranged) == 2 * (3 + 2) + 1
    for of in run.results["series"]["scopes"].values():
        for each in (*of["publish_us"].values(), *of["set_context_us"].values()):
            assert each["low"] <= each["median"] <= each["high"]


def test_the_report_says_why_a_context_change_of_silbo_seems_to_grow_with_the_filters(run):
    alone = run.results["series"]["fig09"]["alone_us"]
    assert f"{shown(alone['50'])} µs with 50" in run.page


def test_text_in_backticks_is_code_and_is_escaped():
    assert page.paragraph("`a < b` and `c`") == "<p><code>a &lt; b</code> and <code>c</code></p>"
    assert page.tabled(["`h`"], [["`d`"]]).count("<code>") == 2


def test_no_backtick_is_left_in_the_report(run):
    assert "<code>set_context</code>" in run.page
    assert "`" not in run.page


def test_a_ratio_is_formed_within_a_round():
    assert ratios([2.0, 40.0, 6.0], [1.0, 10.0, 2.0]) == {"median": 3.0, "low": 2.0, "high": 4.0}
    assert shown_change({"median": 1.09, "low": 0.94, "high": 1.96}) == "+9% (-6% to +96%)"


def test_the_surface_changes_colour_where_both_systems_cost_the_same():
    colours, bands = extension_plots.banded()
    below, above = (np.array(colours(bands(times))[:3]) for times in (0.99, 1.01))
    assert below[0] > below[2]
    assert above[2] > above[0]
    assert min(1 - below.min(), 1 - above.min()) > 0.25  # neither is near white


def test_the_legend_of_figure_8_has_one_entry_for_each_system_and_for_its_paper(run, tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(figure_plots, "drawn", lambda path, title, draw, size: figures.append(draw))
    figure_plots.figure_8(run.results["series"]["fig08"], tmp_path / "fig08.png")
    figure = Figure()
    figures[0](figure)
    assert len(figure.legends[0].get_texts()) == 4


def test_without_the_simulator_the_report_says_how_to_get_it(run):
    assert "pip install &#x27;silbo[sumo]&#x27;" in run.page


def test_the_same_seed_gives_the_same_counts_and_another_seed_gives_others(run):
    """Only three of the parts that have counts are run again."""
    counts = run.results["series"]["counts"]
    first = (counts["agreement_notifications"], counts["scoped_notifications"], counts["surface_matches"][3])
    again, other = (counted(seed) for seed in (5, 6))
    assert first == again != other


def counted(seed):
    """Notifications on the small load, notifications with scopes, and matches at the fourth point of the surface."""
    found = scopes.scopes(TINY, seed)
    points = surface.surface(replace(TINY, boxes=TINY.boxes[1:], each=TINY.each[1:]), seed, lambda _: None)
    return (
        same_notifications.agreement(seed)["notifications"],
        {name: each["notifications"] for name, each in found.items()},
        points[0]["matches"],
    )


def test_the_table_has_the_papers_values_and_ours_and_progress_goes_to_stderr(run):
    assert "2,100 / 0.2" in run.out
    assert "Table 1: a notification at 400, SIENA / silbo, µs" in run.out
    assert re.match(r"0:\d\d this takes about ", run.err)
    assert "[10/10] real movement" in run.err


@pytest.mark.parametrize("name", ["agreement", "scanned"])
def test_one_wrong_answer_is_enough_to_disagree(run, name):
    series = run.results["series"]
    assert experiment.agrees(series)
    assert not experiment.agrees({**series, name: {**series[name], "agrees": False}})


def test_a_wrong_answer_is_exit_status_1(run, monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "run", lambda *_: {**run.results, "agrees": False})
    monkeypatch.setattr(
        figure_report, "write", lambda _, folder: (folder / "report.html").write_text("not drawn again")
    )
    assert Run(tmp_path, 5).status == 1


def test_a_negative_seed_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["experiment", "siena", "--seed", "-1"])
    assert "from 0 on" in capsys.readouterr().err


# answers


def test_both_systems_notify_as_the_oracle_does_while_subscribers_move():
    found = same_notifications.agreement(3)
    assert found["agrees"]
    assert found["notifications"] > 20


def test_missing_notifications_of_siena_are_detected(monkeypatch):
    monkeypatch.setattr(SienaIndex, "match", lambda *_: np.zeros(0, np.int32))
    assert not same_notifications.agreement(3)["agrees"]


def test_every_broker_sends_as_many_notifications_as_the_oracle():
    load = load_of(600, 150)
    oracle = oracle_of(load)
    expected = sum(len(oracle_notifications_of(oracle, *publication)) for publication in load.publications)
    with connected("silbo", load, "fast") as silbo, connected("siena", load) as other:
        found = figure_11([silbo, other], load.publications, 2)
    assert found["notifications"] == {"silbo": expected, "siena": expected}
    assert expected > 0


def test_a_client_that_sends_its_filters_again_gets_the_same_as_with_a_context():
    load = load_of(50, 40, side=40.0)
    filters = [filter for own in load.filters for filter in own]
    with connected("silbo", replace(load, places=[], filters=[]), "fast") as broker:
        mover, sender = broker.join({"x": 0.0, "y": 0.0}, filters, load), ResubscribingSender(broker, filters)
        for attributes, context in load.publications:
            mover.set_context(context)
            sender.move(context)
            sent = {f"{RESERVED}{name}": value for name, value in context.items()}
            got = notifications_of(broker, {**attributes, **sent}, context)
            again = [each for subscription in sender._sent for each in subscription.drain()]
            assert len(got) == len(again)


def test_a_subscriber_that_leaves_the_siena_broker_leaves_nothing():
    load = load_of(40, 10)
    with connected("siena", load) as broker:
        for session in broker.sessions:
            session.close()
        assert len(broker.fast) == 0
        assert not broker.siena._contexts
        assert not broker.siena._rows
        assert not broker.siena._by_slot


@pytest.mark.parametrize("plan", ["content", "context"])
def test_the_last_stage_leaves_the_matches(plan):
    load = load_of(2_000, 60, side=400.0)
    silbo, other = Silbo(load.function, plan), pair(load)[1]
    populate([silbo], load)
    settle([silbo, other], load.publications, 100)
    for system, index in ((silbo, silbo.index), (other, other.index.index)):
        for publication in load.publications:
            matches = len(system.match(*publication))
            left = [stages.match_up_to(index, stage)[1] for stage in stages.STAGES]
            assert left[0] >= left[1] >= left[2] == matches


# the trade-off


def traded(silbo_us, siena_us):
    changes = {"silbo": {}, "siena": {}}
    for filters in ("1", "10", "50"):
        changes["silbo"][filters], changes["siena"][filters] = [0.2] * 5, [210.0 * int(filters)] * 5
    notified = {"silbo": np.array(silbo_us), "siena": np.array(siena_us)}
    return tradeoff.trade_off(changes["silbo"], changes["siena"], notified, 1)


def test_equation_2_gives_the_papers_points_for_the_papers_times():
    found = traded([1_000.0] * 9, [915.0] * 9)
    assert found["paper_formula"] == pytest.approx(1.233)
    assert found["real_cost"] == pytest.approx(24.704)
    assert found["interval"] == {"paper_formula": [1.233, 1.233], "real_cost": [24.704, 24.704]}


def test_there_is_no_crossing_if_silbo_notifies_faster():
    found = traded([900.0] * 9, [915.0] * 9)
    assert found["paper_formula"] is found["real_cost"] is None
    assert found["interval"] == {"paper_formula": None, "real_cost": None}
    assert set(found["without_crossing"].values()) == {1.0}


def test_an_interval_is_open_if_some_resamples_have_no_crossing():
    found = traded([1_000.0, 832.0] * 20, [915.0, 914.0] * 20)
    low, high = found["interval"]["real_cost"]
    assert low > 0
    assert high is None
    assert 0 < found["without_crossing"]["real_cost"] < 1


def test_both_systems_cost_the_same_at_the_crossing_of_the_surface():
    point = {"notification_us": {"silbo": 12.0, "siena": 10.0}, "context_change_us": {"silbo": 1.0, "siena": 101.0}}
    crossing = surface.crossing(point["notification_us"], point["context_change_us"])
    assert crossing == 50.0
    assert surface.times_cheaper(point, crossing) == pytest.approx(1.0)
    assert surface.times_cheaper(point, 1.0) > 1 > surface.times_cheaper(point, 1_000.0)


# movement

FCD = """<fcd-export>
    <timestep time="0.00"/>
    <timestep time="1.00"><vehicle id="car-0" x="10.5" y="20.25"/></timestep>
    <timestep time="2.00"><vehicle id="car-0" x="11.5" y="20.25"/><vehicle id="car-1" x="-1.0" y="0.0"/></timestep>
</fcd-export>"""


def test_a_trace_is_read_second_by_second(tmp_path):
    (tmp_path / "fcd.xml").write_text(FCD, encoding="utf-8")
    seconds = list(city.read(tmp_path / "fcd.xml"))
    assert seconds == [
        {},
        {"car-0": {"x": 10.5, "y": 20.25}},
        {"car-0": {"x": 11.5, "y": 20.25}, "car-1": {"x": -1.0, "y": 0.0}},
    ]
    assert city.Trace(seconds, "by hand").vehicles == ["car-0", "car-1"]


def test_a_replay_agrees_with_the_oracle_and_counts_only_vehicles_that_moved(tmp_path):
    seconds = [
        {f"car-{i}": {"x": 40.0 * i + second * (i % 3), "y": 30.0 * i} for i in range(40) if i <= 4 * second}
        for second in range(20)
    ]
    found = movement.replay(city.Trace(seconds, "by hand"), 1)
    assert found["agrees"]
    assert found["vehicles"] == 40
    arrived, moved = (
        40,
        sum(i % 3 > 0 for second in seconds[1:] for i in range(40) if i <= 4 * (seconds.index(second) - 1)),
    )
    assert found["changes"] == arrived + moved
    assert found["notifications"]["silbo"] == found["notifications"]["siena"] > 0
    extension_plots.movement(found, tmp_path / "movement.png")
    assert (tmp_path / "movement.png").read_bytes().startswith(b"\x89PNG")


def test_driving_without_the_simulator_says_how_to_get_it():
    with pytest.raises(MissingPart, match=re.escape("pip install 'silbo[sumo]'")):
        city.drive(1, 1, 1)
