"""The experiment against SIENA: answers are the oracle's, counts come from the seed, and the report stands by itself.

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

from silbo.cli import main
from silbo.errors import MissingPart
from silbo.experiment import agreement, changes, city, movement, plots_beyond, siena, sizes, surface, tradeoff
from silbo.experiment.agreement import asked, of_load, told
from silbo.experiment.brokers import connected
from silbo.experiment.changes import Sender, pair
from silbo.experiment.load import paper_load, populate, settle
from silbo.experiment.notifications import figure_11
from silbo.experiment.probe import CANDIDATES, FIRST, SECOND, STAGED
from silbo.experiment.systems import Silbo
from silbo.matching.siena import RESERVED, SienaIndex

TINY = sizes.Sizes(
    "tiny", loaded=160, newcomers=4, most=(80, 160), runs=(10, 20), samples=3, subscriptions=(200, 400),
    notifications=120, repeats=2, warm_up=80, surface=200, boxes=(40.0, 800.0), each=(1, 10), surface_events=20,
    scans=20, vehicles=5, seconds=10,
)  # fmt: skip
PICTURES = {f"{name}.png" for name in ("fig07", "fig08", "fig09", "fig11", "tradeoff", "stages", "scopes", "surface")}


@pytest.fixture(autouse=True, scope="module")
def small():
    """As little of everything as shows that it works, and no simulator, whether or not there is one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "QUICK", TINY)
        patch.setattr(tradeoff, "RESAMPLES", 50)
        patch.setattr(agreement, "ROUNDS", 60)
        patch.setattr(changes, "PROBED", 3)
        patch.setattr(siena, "CALIBRATED", 20)
        patch.setitem(sys.modules, "sumo", None)
        yield


class Run:
    """A run of the command, and what it left."""

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


def test_the_results_have_the_names_that_others_read_and_the_series(run):
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


def test_without_the_simulator_the_report_says_how_to_get_it(run):
    assert "pip install &#x27;silbo[sumo]&#x27;" in run.page


def test_the_same_seed_gives_the_same_counts_and_another_one_others(run):
    again, other = (siena.run(TINY, seed, say=lambda _: None)["series"]["counts"] for seed in (5, 6))
    assert run.results["series"]["counts"] == again != other


def test_the_table_has_the_papers_values_beside_ours_and_progress_stands_apart(run):
    assert "2,100 / 0.2" in run.out
    assert "Table 1: a notification at 400, SIENA / silbo, µs" in run.out
    assert re.match(r"0:\d\d this takes about ", run.err)
    assert "[10/10] real movement" in run.err


@pytest.mark.parametrize("name", ["agreement", "scanned"])
def test_one_wrong_answer_is_enough_to_disagree(run, name):
    series = run.results["series"]
    assert siena.agrees(series)
    assert not siena.agrees({**series, name: {**series[name], "agrees": False}})


def test_a_wrong_answer_is_exit_status_1(run, monkeypatch, tmp_path):
    monkeypatch.setattr(siena, "run", lambda *_: {**run.results, "agrees": False})
    assert Run(tmp_path, 5).status == 1


def test_a_seed_below_zero_is_wrong_use(capsys):
    with pytest.raises(SystemExit):
        main(["experiment", "siena", "--seed", "-1"])
    assert "from 0 on" in capsys.readouterr().err


# answers


def test_both_systems_notify_as_the_oracle_does_while_subscribers_move():
    found = agreement.agreement(3)
    assert found["agrees"]
    assert found["notifications"] > 20


def test_a_siena_that_misses_notifications_is_found_out(monkeypatch):
    monkeypatch.setattr(SienaIndex, "match", lambda *_: np.zeros(0, np.int32))
    assert not agreement.agreement(3)["agrees"]


def test_every_broker_makes_as_many_notifications_as_the_oracle():
    load = load_of(600, 150)
    oracle = of_load(load)
    expected = sum(len(asked(oracle, *publication)) for publication in load.publications)
    with connected("silbo", load, "fast") as silbo, connected("siena", load) as other:
        found = figure_11([silbo, other], load.publications, 2)
    assert found["notifications"] == {"silbo": expected, "siena": expected}
    assert expected > 0


def test_a_client_that_sends_its_filters_anew_gets_what_its_context_would_get_it():
    load = load_of(50, 40, side=40.0)
    filters = [filter for own in load.filters for filter in own]
    with connected("silbo", replace(load, places=[], filters=[]), "fast") as broker:
        mover, sender = broker.join({"x": 0.0, "y": 0.0}, filters, load), Sender(broker, filters)
        for attributes, context in load.publications:
            mover.set_context(context)
            sender.move(context)
            sent = {f"{RESERVED}{name}": value for name, value in context.items()}
            got = told(broker, {**attributes, **sent}, context)
            anew = [each for subscription in sender._sent for each in subscription.drain()]
            assert len(got) == len(anew)


def test_a_subscriber_that_leaves_the_siena_way_leaves_nothing_behind():
    load = load_of(40, 10)
    with connected("siena", load) as broker:
        for session in broker.sessions:
            session.close()
        assert len(broker.fast) == 0
        assert not broker.siena._contexts
        assert not broker.siena._rows
        assert not broker.siena._by_slot


@pytest.mark.parametrize("plan", ["content", "context"])
def test_the_last_stage_leaves_what_matches(plan):
    load = load_of(2_000, 60, side=400.0)
    silbo, other = Silbo(load.function, plan), pair(load)[1]
    populate([silbo], load)
    settle([silbo, other], load.publications, 100)
    for system, index in ((silbo, silbo.index), (other, other.index.index)):
        for publication in load.publications:
            matches = len(system.match(*publication))
            left = [STAGED.make()(index.arrays.handle, stage) for stage in (CANDIDATES, FIRST, SECOND)]
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


def test_there_is_no_crossing_where_silbo_notifies_as_fast():
    found = traded([900.0] * 9, [915.0] * 9)
    assert found["paper_formula"] is found["real_cost"] is None
    assert found["interval"] == {"paper_formula": None, "real_cost": None}
    assert set(found["without_crossing"].values()) == {1.0}


def test_an_interval_is_open_where_some_resamples_have_no_crossing():
    found = traded([1_000.0, 832.0] * 20, [915.0, 914.0] * 20)
    low, high = found["interval"]["real_cost"]
    assert low > 0
    assert high is None
    assert 0 < found["without_crossing"]["real_cost"] < 1


def test_the_surface_is_even_at_its_crossing():
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


def test_a_replay_agrees_with_the_oracle_and_counts_only_who_moved(tmp_path):
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
    plots_beyond.movement(found, tmp_path / "movement.png")
    assert (tmp_path / "movement.png").read_bytes().startswith(b"\x89PNG")


def test_driving_without_the_simulator_says_how_to_get_it():
    with pytest.raises(MissingPart, match=re.escape("pip install 'silbo[sumo]'")):
        city.drive(1, 1, 1)
