"""The matcher's share of the FPGA, by a real run of the pinned Yosys, and the report of all figures."""

import json

import pytest

from silbo.bench.hw_workload import simulated_share
from silbo.cli import main
from silbo.errors import HardwareUnavailable
from silbo.hw.build import report, synthesis
from silbo.hw.build.simulation import Parameters
from silbo.hw.build.synthesis import LUTS, synthesised

FIGURES = [
    "match_cycles", "match_cycles_list", "register_cycles_per_filter", "init_cycles", "context_cycles",
    "lut", "ff", "bram", "lut_share", "device_share",
]  # fmt: skip


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache."""
    monkeypatch.setenv("SILBO_HW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_256_subscriptions_with_context_fit_half_of_the_fpga():
    taken = synthesised(Parameters())
    assert taken.lut <= LUTS / 2
    assert taken.ff <= synthesis.FFS / 2
    assert taken.bram <= synthesis.BRAMS / 2
    assert taken.lut > 10_000, "256 comparisons of 32 bits are not there for less: something was optimised away"
    assert "Yosys 0.70" in taken.yosys


def test_a_tool_that_fails_is_told_with_its_own_words(cache, tmp_path):
    (tmp_path / "broken.v").write_text("module x2cbbr; this is no Verilog")
    with pytest.raises(HardwareUnavailable, match=r"broken\.v:1: ERROR: syntax error"):
        synthesised(Parameters(), rtl=tmp_path)


# the report


@pytest.fixture(scope="module")
def figures():
    return report.figures(simulated_share)


def test_the_report_has_every_figure_and_they_are_what_was_promised(figures):
    assert figures.keys() >= set(FIGURES)
    assert figures["match_cycles"] <= 260
    assert figures["match_cycles_4096"] == figures["match_cycles"]  # the lanes are hidden behind the words
    assert figures["match_cycles_list"] > figures["match_cycles"]
    assert figures["register_cycles_per_filter"] <= 8
    assert figures["register_cycles_per_filter_of_16"] <= 8
    assert figures["init_cycles"] <= 260
    assert figures["context_cycles"] <= 260
    assert figures["lut_share"] <= 0.5
    assert figures["device_share"] >= 0.9


def test_the_command_prints_one_object_or_a_line_for_each_figure(figures, capsys):
    assert main(["hw", "report", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == figures
    assert main(["hw", "report"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n{name} " in f"\n{text}" for name in FIGURES)
    assert "CRT_MODE=0 FILTERS=256" in text
    assert "Yosys 0.70" in text
    assert "no board" in text
