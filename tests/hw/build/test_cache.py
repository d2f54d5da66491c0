"""The build cache: an entry is built once, is complete or missing, and is rebuilt when anything that it is made of changes."""

import shutil
import subprocess
import sys
import textwrap

import pytest

from silbo.hw.build import cache, simulation
from silbo.hw.tb import runner
from silbo.hw.tb.runner import Build

BUILD = """
    import sys
    from silbo.hw.build.cache import cached

    def build(work):
        print("building", flush=True)
        sys.stdin.readline()
        (work / "library").write_text("complete")
        return work / "library"

    print(cached("entry/library", build).read_text())
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """An empty cache, here and in the processes that a test starts."""
    monkeypatch.setenv("SILBO_HW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def started():
    """A process that wants an entry; its build prints a line, and ends when it has read one."""
    command = [sys.executable, "-c", textwrap.dedent(BUILD)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_of_two_processes_that_want_one_entry_only_one_builds_it(folder):
    first = started()
    assert first.stdout.readline() == "building\n"
    second = started()
    assert first.communicate("\n", timeout=60)[0] == "complete\n"
    assert second.communicate("\n", timeout=60)[0] == "complete\n"
    assert {path.name for path in folder.iterdir()} == {"entry", "entry.lock"}


def test_a_process_that_dies_while_it_builds_leaves_no_entry(folder):
    with started() as process:
        process.stdout.readline()
        process.kill()
    assert not (folder / "entry").exists()
    assert cache.cached("entry/library", lambda work: written(work / "library")).read_text() == "here"


def test_a_build_that_fails_leaves_no_entry(folder):
    with pytest.raises(ZeroDivisionError):
        cache.cached("entry/library", lambda work: 1 / 0)
    assert [path.name for path in folder.iterdir()] == ["entry.lock"]


def written(path):
    path.write_text("here")
    return path


# simulations for benches


class Benches:
    """The builds of a stub in the place of the simulators, over a copy of the RTL that a test may change."""

    def __init__(self, rtl):
        self.rtl = rtl
        self.version = "1"
        self.count = 0

    def built(self, build, parts, work):
        self.count += 1
        for name in (build.module, "sim.vvp"):
            (work / name).touch()
        return work

    def builds(self, build):
        """Whether the simulation is built now, and not found in the cache."""
        before = self.count
        assert runner.simulation(build).exists()
        return self.count > before

    def change(self, module):
        (source,) = self.rtl.rglob(f"{module}.v")
        with source.open("a") as file:
            file.write("// changed\n")


@pytest.fixture
def benches(monkeypatch, tmp_path):
    stub = Benches(tmp_path / "rtl")
    shutil.copytree(simulation.RTL, stub.rtl)
    monkeypatch.setattr(runner, "sources", lambda: simulation.sources(stub.rtl))
    monkeypatch.setattr(runner, "built", stub.built)
    monkeypatch.setattr(runner, "version_of", lambda simulator: stub.version)
    return stub


CAM = Build("icarus", "crt_cam", (("FILTERS", 16),))


def test_the_simulation_of_a_bench_is_built_once(benches):
    assert benches.builds(CAM)
    assert not benches.builds(CAM)


@pytest.mark.parametrize(
    "other",
    [Build("verilator", "crt_cam", (("FILTERS", 16),)), Build("icarus", "crt_cam", (("FILTERS", 64),)),
     Build("icarus", "crt_cam", ()), Build("icarus", "crt_cam_bank", (("FILTERS", 16),))],
)  # fmt: skip
def test_another_simulator_parameter_or_module_is_another_build(benches, other):
    benches.builds(CAM)
    assert benches.builds(other)


@pytest.mark.parametrize("module", ["crt_cam", "crt_cam_bank"])
def test_a_simulation_is_rebuilt_when_its_module_or_one_inside_it_changes(benches, module):
    benches.builds(CAM)
    benches.change(module)
    assert benches.builds(CAM)


def test_a_simulation_is_rebuilt_when_the_simulator_changes(benches):
    benches.builds(CAM)
    benches.version = "2"
    assert benches.builds(CAM)


def test_a_module_that_a_simulation_does_not_contain_does_not_rebuild_it(benches):
    benches.builds(CAM)
    benches.change("stopwatch")
    assert not benches.builds(CAM)


def test_the_whole_core_contains_every_module():
    assert runner.needed("x2cbbr") == simulation.sources()
