"""X2CBBR's experiment on the simulated RTL: cycles are the device's, the paper's stand beside them, times are assumed."""

import json
import re
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper

import pytest

from silbo.cli import main
from silbo.papers.x2cbbr import cycle_report, cycle_table, experiment, measured, paper_cycles, sets


class Run:
    """A run of the command, and what it left."""

    def __init__(self, folder):
        self.folder = folder
        with redirect_stdout(TextIOWrapper(BytesIO())) as out, redirect_stderr(StringIO()):
            self.status = main(["experiment", "x2cbbr", "--out", str(folder)])
            out.seek(0)
            self.out = out.read()
        self.results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        self.page = (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("x2cbbr"))


def test_every_match_is_right_in_both_ways_of_keeping_rows(run):
    assert run.status == 0
    assert run.results["agrees"] is True
    assert all(run.results[mode]["agrees"] for mode in ("bitmap", "list"))


def test_a_match_with_bitmap_rows_takes_260_cycles_or_fewer_whatever_is_said(run):
    of = run.results["bitmap"]
    taken = {each["match"] for each in (*of["table_1"], *of["one_filter"], *of["publications"])}
    assert len(taken) == 1
    assert taken.pop() <= 260


def test_list_rows_take_longer_the_more_subscriptions_a_publication_finds(run):
    least, _, most = (run.results["list"]["publications"][i]["match"] for i in (1, 0, 2))
    assert least < most


@pytest.mark.parametrize("mode", ["bitmap", "list"])
def test_registration_takes_8_cycles_a_filter_or_fewer_and_initialisation_260(run, mode):
    of = run.results[mode]
    assert all(each["register"] <= 8 * each["subscriptions"] for each in of["table_1"])
    assert of["init_cycles"] <= 260


def test_the_papers_cycles_are_its_times_by_its_clock():
    assert [paper_cycles.cycles(each) for each in paper_cycles.MATCH_US] == [3144, 3282, 3418, 3556, 3831, 4270]
    assert [paper_cycles.cycles(each) for each in paper_cycles.REGISTER_US] == [2412, 2925, 3411, 3924, 4437, 4815]
    assert (paper_cycles.cycles(17.7), paper_cycles.cycles(17.7, 50)) == (2655, 885)


def test_set1_is_of_the_papers_size():
    assert len(sets.matching().words) * paper_cycles.FILTER == paper_cycles.PUBLICATION
    assert set(sets.set1(252)) == set(sets.set1(42)) <= set(sets.matching().words)
    assert not set(sets.set1(42)) & set(sets.strange().words)


def test_the_1447_mbps_are_quoted_in_both_ways_of_counting(run):
    for text in (run.out, run.page):
        assert "1,447.0" in text
        assert "206.7" in text


def test_case_2_counts_what_crosses_the_buses(run):
    worst, regular = (run.results["bitmap"]["case_2"][case] for case in ("worst", "regular"))
    # init, and for each subscription its o-SID, its row, its filter and the command; then TAKE
    assert worst["writes"] == 1 + 252 * 5 + regular["writes"]
    assert regular["writes"] == 1
    assert worst["beats"] == regular["beats"] == 2 + 252
    assert regular["reads"] >= 8 + 1  # the result's words, and STATUS


def test_clocks_are_called_assumed_wherever_a_time_stands(run):
    assert run.results["assumed_mhz"] == {"core": 150, "interface": 50}
    timed = [line for line in run.out.splitlines() if re.search(r"\bMHz|µs|\bms\b", line)]
    assert timed
    assert all("assumed" in line for line in timed)
    assert "No board" in run.page


def test_the_report_needs_nothing_from_elsewhere_and_has_its_pictures(run):
    assert {path.name for path in run.folder.glob("*.png")} == {"table1.png", "commonality.png", "case2.png"}
    assert run.page.count('src="data:image/png;base64,') == 3
    without = re.sub(r'src="data:image/png;base64,[A-Za-z0-9+/=]+"', "", run.page)
    assert not re.search(r"src=|href=|https?:|url\(|@import|<script|<link", without)


def test_the_table_is_of_the_runs_own_numbers(run):
    other = json.loads(json.dumps(run.results))
    other["bitmap"]["table_1"][-1]["match"] = 77_777
    assert "77,777" in cycle_table.text(other)
    assert "77,777" in cycle_report._verdict(other)
    assert "77,777" not in run.out


def test_a_wrong_match_is_exit_status_1(run, monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "run", lambda _: {**run.results, "agrees": False})
    assert Run(tmp_path).status == 1


def test_a_wrong_answer_is_noticed():
    at = measured.CheckedDriver("bitmap")
    at.registered(sets.set1(3))
    assert at.agrees
    at.driver.remove(2)
    at.matched(sets.matching(), sets.set1(3))
    assert not at.agrees
    at.close()
