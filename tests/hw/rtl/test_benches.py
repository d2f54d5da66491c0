"""The RTL does what its benches say: `hw/tb` on Icarus with small parameters and on Verilator at full size.

`pytest tests/hw/rtl/test_benches.py -k crt_cam` runs one module's; COCOTB_TEST_FILTER=… in the environment picks among a
bench's tests by a regular expression.
"""

import re
import subprocess

import pytest

from silbo.hw.build.simulation import sources
from silbo.hw.tb.runner import Result, Run, Simulations, environment, read_results

SMALL = {"FILTERS": 16, "SIDS": 32, "SLOTS": 3, "SUBSCRIBERS": 16, "LANES": 4}
CRT = {"FILTERS": 16, "SIDS": 16, "SLOTS": 3}
CORE = ("x2cbbr", "x2cbbr_context", "x2cbbr_orders")


# Each pair of pauses (of the sender, of the receiver) runs once at small size, in one mode or the other; so each pause
# of either side meets both modes. At full size one pair for each mode is enough.
SMALL_PAUSES = [
    "|".join(f"idle={idle}/pressure={(idle + shift) % 4}" for idle in range(4) for shift in shifts)
    for shifts in ((0, 1), (2, 3))
]
FULL_PAUSES = ["idle=2/pressure=3", "idle=3/pressure=1"]
# At full size the tests of chains need rows of lists, and one order of removals; what they do at small size takes much
# longer at full size and says no more.
FULL_TESTS = ["^(?!.*(a_chain_of_rows|rows_of_the_cam))", "^(?!.*(order=[12]|rows_of_the_cam))"]
SCAN = "the_scan_is_hidden_behind_the_words"


def core(bench, simulator, only=None, **parameters):
    return Run(bench, simulator, parameters, module="x2cbbr", only=only)


RUNS = [
    Run("crt_cam_bank", "icarus"),
    Run("crt_cam", "icarus", {"FILTERS": 16}),
    Run("crt_cam", "icarus", {"FILTERS": 64}),
    Run("crt_ram", "icarus", {"WIDTH": 40, "DEPTH": 16}),
    Run("free_list", "icarus", {"DEPTH": 16}),
    Run("free_list", "icarus", {"DEPTH": 64, "FIRST": 1}),
    Run("xpath_fsm1", "icarus"),
    Run("xpath_fsm2", "icarus"),
    Run("xpath_fsm3_bitmap", "icarus", {"ROWS": 16, "SIDS": 16, "SLOTS": 3}),
    Run("xpath_fsm3_list", "icarus", {"ROWS": 16, "SIDS": 16, "SLOTS": 3}),
    Run("list_reader", "icarus", {"ROWS": 16, "SIDS": 16, "SLOTS": 3}),
    Run("crt", "icarus", {"CRT_MODE": 0, **CRT}),
    Run("crt", "icarus", {"CRT_MODE": 1, **CRT}),
    Run("storing_counters", "icarus", {"SIDS": 16}),
    Run("matching_counters", "icarus", {"SIDS": 16}),
    Run("matching_engine", "icarus", {"SIDS": 32}),
    Run("smt", "icarus", {"SIDS": 16}),
    Run("s_max", "icarus", {"SIDS": 16}),
    Run("memory_initialisation", "icarus", {"ROWS": 16, "GROUPS": 4}),
    Run("memory_initialisation", "icarus", {"ROWS": 16, "GROUPS": 64}),
    Run("context_lane", "icarus", {"ROWS": 4}),
    Run("context_manager", "icarus", {"SUBSCRIBERS": 16, "LANES": 4}),
    Run("context_manager", "icarus", {"SUBSCRIBERS": 4, "LANES": 4}),
    Run("context_selector", "icarus", {"SIDS": 16, "LANES": 4, "ROW": 4, "GROUP": 2}),
    Run("publication_stream", "icarus"),
    Run("control", "icarus"),
    Run("stopwatch", "icarus"),
    Run("register_file", "icarus", {"SIDS": 16, "SUBSCRIBERS": 16}),
    *(core(bench, "icarus", CRT_MODE=mode, **SMALL) for mode in (0, 1) for bench in CORE),
    *(core("x2cbbr_traffic", "icarus", SMALL_PAUSES[mode], CRT_MODE=mode, **SMALL) for mode in (0, 1)),
    *(core("x2cbbr", "verilator", FULL_TESTS[mode], CRT_MODE=mode) for mode in (0, 1)),
    *(core("x2cbbr_full", "verilator", CRT_MODE=mode) for mode in (0, 1)),
    *(core("x2cbbr_traffic", "verilator", FULL_PAUSES[mode], CRT_MODE=mode) for mode in (0, 1)),
    core("x2cbbr_context", "verilator", CRT_MODE=0),  # neither bench depends on how rows are kept
    core("x2cbbr_orders", "verilator", CRT_MODE=1),
    core("x2cbbr_full", "verilator", SCAN, CRT_MODE=0, SUBSCRIBERS=4096),
]


@pytest.fixture(scope="session")
def simulations(tmp_path_factory):
    return Simulations(tmp_path_factory.mktemp("rtl"))


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_rtl_does_what_its_bench_says(run, simulations, subtests):
    for result in simulations.results(run):
        with subtests.test(result.name):
            if result.failure is not None:
                pytest.fail(result.failure, pytrace=False)


def test_every_module_has_a_bench():
    assert {path.stem for path in sources()} == {run.build.module for run in RUNS}


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_a_file_holds_the_module_of_its_name_and_no_implicit_wire(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^module (\w+)", text, re.MULTILINE) == [path.stem]
    assert re.findall(r"^`default_nettype (\w+)", text, re.MULTILINE) == ["none", "wire"]


@pytest.mark.parametrize("size", [{}, SMALL, {"SUBSCRIBERS": 4096}], ids=["full", "small", "4096"])
@pytest.mark.parametrize("mode", [0, 1])
def test_verilator_finds_nothing_to_warn_of(mode, size):
    parameters = [f"-G{name}={value}" for name, value in {"CRT_MODE": mode, **size}.items()]
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wall", "--top-module", "x2cbbr", *parameters, *sources()],
        env=environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_no_warning_is_switched_off():
    assert [path.name for path in sources() if "lint_off" in path.read_text(encoding="utf-8")] == []


# the runner itself


def results(folder, cases):
    path = folder / "results.xml"
    path.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    return read_results(path)


def test_a_failure_in_a_bench_is_a_failure_with_its_message(tmp_path):
    failed = '<testcase name="b"><failure message="no">assert 1 == 2</failure></testcase>'
    found = results(tmp_path, f'<testcase name="a"/>{failed}<testcase name="c"><error message="lost"/></testcase>')
    assert found == [Result("a", None), Result("b", "assert 1 == 2"), Result("c", "lost")]


def test_a_bench_without_tests_is_a_failure(tmp_path):
    with pytest.raises(AssertionError, match="names no test"):
        results(tmp_path, "")


def test_a_simulation_that_cannot_be_built_says_why(simulations):
    with pytest.raises(AssertionError, match="no_such_module"):
        simulations.results(Run("crt_ram", "icarus", module="no_such_module"))
