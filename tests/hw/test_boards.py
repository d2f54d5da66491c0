"""What was written for a board that is not here, as far as it can be checked: the scripts against stand-ins for Vivado's
commands, their names against the RTL's and the driver's, and the notebook against the simulated matcher.
"""

import ast
import json
import re
import subprocess

import pytest

from silbo.hw.build.simulation import HW, RTL, sources
from silbo.hw.driver.registers import SPAN

FOLDER = (HW / "boards" / "pynq-z2").resolve()

# a command that Tcl has not is one of Vivado's: it is written down, and answers what the scripts ask for
VIVADO = r"""
proc unknown {command args} {
    puts [string map [list \n " "] [join [list $command {*}$args] \x1f]]
    switch -glob -- $command {
        get_bd_* - get_files - ipx::get_* - get_board_parts {return [lindex $args end]}
        ipx::add_* - ipx::current_core - make_wrapper {return $command}
        get_property {return [dict get {PROGRESS 100% SLACK @SLACK@} [lindex $args 0]]}
    }
}
rename file real_file
proc file {verb args} {
    if {$verb eq "copy"} {return [unknown file copy {*}$args]}
    return [real_file $verb {*}$args]
}
"""


def played(script="build.tcl", slack="0.5"):
    """The calls of Vivado's commands in a script, each as a list of words; and what went wrong."""
    code = VIVADO.replace("@SLACK@", slack) + f"source {{{FOLDER / script}}}\n"
    done = subprocess.run(["tclsh"], input=code, capture_output=True, text=True)
    return [line.split("\x1f") for line in done.stdout.splitlines()], done.stderr


@pytest.fixture(scope="module")
def calls():
    made, wrong = played()
    assert wrong == ""
    return made


def properties(calls, of):
    """What is set of a cell, by name."""
    found = {}
    for call in calls:
        if call[0] == "set_property" and call[-1] == of:
            words = call[2].split() if call[1] == "-dict" else call[1:3]
            found |= dict(zip(words[::2], words[1::2], strict=True))
    return {name.removeprefix("CONFIG."): value for name, value in found.items()}


def ends(calls):
    """The pins that nets connect, in pairs."""
    return [call[1:] for call in calls if call[0] in ("connect_bd_net", "connect_bd_intf_net")]


def of_driver(name):
    """A constant of the driver's module for the board, which nobody imports without pynq."""
    tree = ast.parse((HW / "driver" / "pynq_board.py").read_text(encoding="utf-8"))
    (value,) = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == name]
    return ast.literal_eval(value)


def top():
    """The parameters and ports of the top level, as they stand in its file."""
    text = (RTL / "x2cbbr.v").read_text(encoding="utf-8")
    head = text[text.index("module x2cbbr") : text.index(");")]
    ports = re.findall(r"(?:in|out)put +wire +(?:\[.*?\])? *(\w+)", head)
    return dict(re.findall(r"parameter (\w+) += (\w+)", head)), ports


def test_every_script_is_whole_tcl():
    for script in FOLDER.glob("*.tcl"):
        code = f"set text [read [open {{{script}}}]]; puts [info complete $text]"
        assert subprocess.run(["tclsh"], input=code, capture_output=True, text=True).stdout == "1\n", script


def test_the_packaged_core_has_the_name_that_the_driver_binds_to(calls):
    package = next(call for call in calls if call[0] == "ipx::package_project")
    vendor, library = (package[package.index(option) + 1] for option in ("-vendor", "-library"))
    named = properties(calls, "ipx::current_core")
    assert f"{vendor}:{library}:{named['name']}:{named['version']}" == of_driver("VLNV")
    assert ["create_bd_cell", "-type", "ip", "-vlnv", of_driver("VLNV"), "matcher"] in calls


def test_the_packaged_core_has_every_verilog_file(calls):
    (added,) = (call[1] for call in calls if call[0] == "add_files" and call[1] != "-norecurse")
    assert sorted(added.split()) == sorted(str(path.resolve()) for path in sources())


def test_both_buses_have_the_clock_and_the_registers_their_span(calls):
    associated = [call[1:] for call in calls if call[0] == "ipx::associate_bus_interfaces"]
    assert [call[1] for call in associated if call[0] == "-busif" and call[3] == "aclk"] == ["s_axi", "s_axis"]
    assert ["-clock", "aclk", "-reset", "aresetn", "ipx::current_core"] in associated
    assert properties(calls, "ipx::add_address_block")["range"] == str(SPAN)


def test_the_design_sets_the_parameters_of_the_rtl_to_what_they_are_there(calls):
    assert properties(calls, "matcher") == top()[0]


def test_every_port_of_the_core_is_connected_once_and_no_other(calls):
    found = [pin.partition("/")[2] for pair in ends(calls) for pin in pair if pin.startswith("matcher/")]
    ports = {port if not port.startswith("s_axi") else port.rpartition("_")[0] for port in top()[1]}
    assert sorted(found) == sorted(ports) == ["aclk", "aresetn", "irq", "s_axi", "s_axis"]


def test_nets_end_at_cells_that_were_made(calls):
    cells = {call[-1] for call in calls if call[0] == "create_bd_cell"}
    assert {pin.partition("/")[0] for pair in ends(calls) for pin in pair} == cells


def test_the_dma_sends_words_of_32_bits_and_does_nothing_else(calls):
    assert ["create_bd_cell", "-type", "ip", "-vlnv", of_driver("DMA"), "dma"] in calls
    found = properties(calls, "dma")
    assert (found["c_include_sg"], found["c_include_mm2s"], found["c_include_s2mm"]) == ("0", "1", "0")
    assert found["c_m_axis_mm2s_tdata_width"] == "32"
    assert ["dma/M_AXIS_MM2S", "matcher/s_axis"] in ends(calls)


def test_everything_runs_on_one_clock_whose_frequency_the_processor_makes(calls):
    clocks = {pair[0] for pair in ends(calls) if "clk" in pair[1].lower()}
    assert clocks == {"processor/FCLK_CLK0"}
    assert float(properties(calls, "processor")["PCW_FPGA0_PERIPHERAL_FREQMHZ"]) > 0


def test_the_two_files_are_delivered_where_the_driver_looks(calls):
    delivered = [call[-1] for call in calls if call[:2] == ["file", "copy"]]
    assert delivered == [str(FOLDER / "x2cbbr.bit"), str(FOLDER / "x2cbbr.hwh")]


def test_a_design_that_misses_its_clock_is_not_delivered():
    calls, wrong = played(slack="-0.3")
    assert "-0.3 ns short" in wrong
    assert not [call for call in calls if call[:2] == ["file", "copy"]]


# the notebook


@pytest.fixture(scope="module")
def notebook():
    return json.loads((FOLDER / "matcher.ipynb").read_text(encoding="utf-8"))


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_is_well_formed_and_shows_nothing_that_was_not_run(notebook):
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"].keys() == {"display_name", "language", "name"}
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        expected = {"cell_type", "id", "metadata", "source"}
        assert cell.keys() - {"outputs", "execution_count"} == expected
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in code_cells(notebook))
