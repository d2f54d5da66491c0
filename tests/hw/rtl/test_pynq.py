"""The unmodified driver through pynq's own classes, over the simulated RTL, from the installed wheel.

pynq wants a numpy and a grpcio that do not fit the other tests: it has an environment of its own, which the cache
keeps until pynq's pins, Verilator or Python change. numba, shapely and msgpack are not in it.
"""

import subprocess
import textwrap
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from silbo.hw.build.cache import folder
from silbo.hw.build.simulation import Parameters, library
from silbo.testing.own.environments import environment, pip, without_pythonpath

BEGIN = """
    import sys
    from pathlib import Path
    import pynq
    from silbo.errors import Closed, DeviceError, DeviceNotAnswering, HardwareUnavailable
    from silbo.hw.driver import pynq_board
    from silbo.hw.driver.sim import SimDevice
    from silbo.hw.driver.device_box import DeviceBox
    from silbo.hw.driver.x2cbbr import X2cbbr

    def board():
        from silbo.testing.board import SimulatedBoard
        made = pynq.Device.active_device = SimulatedBoard(SimDevice())
        Path("x2cbbr.bit").touch()
        return made
"""


ROOT = Path(__file__).parents[3]


def requirements():
    """pynq as the project pins it, and the Verilator that compiled the simulation; nothing else that silbo wants."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [*project["project"]["optional-dependencies"]["pynq"], f"verilator=={version('verilator')}"]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The Python of a kept environment with pynq, and a folder with the wheel: installed as on a board, by itself."""
    library(Parameters())  # the one that was compiled for the others
    kept = environment(folder(), requirements())
    site = tmp_path_factory.mktemp("pynq") / "site"
    pip(kept, "install", "--no-deps", "--no-compile", "--target", site, wheel)
    return kept / "bin" / "python", site


@pytest.fixture
def run(installed, tmp_path):
    """Run a program there, or silbo's own; what it prints."""
    python, site = installed

    def run(program, *arguments):
        code = textwrap.dedent(BEGIN) + textwrap.dedent(program)
        command = [python, site / "bin" / "silbo", *arguments] if arguments else [python, "-c", code]
        done = subprocess.run(
            command, cwd=tmp_path, env={**without_pythonpath(), "PYTHONPATH": str(site)}, capture_output=True, text=True,
            timeout=280,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_driver_on_pynqs_classes_matches_as_the_rtl_does(run):
    said = run("""
        board()
        driver = X2cbbr(pynq_board.open_board("x2cbbr.bit"))
        print(type(driver._device._core).__mro__[1] is pynq.DefaultIP, type(driver._device._channel).__module__)
        tsid = driver.register([7, 8], row=3, osid=1 << 40)
        driver.set_context(3, DeviceBox(-5, 5, -5, 5))
        print(tsid, driver.match((5, -5), [8, 7]), driver.match((6, 0), [7, 8]), driver.match(None, [7, 8]))
        print(driver.match((0, 0), range(3_000)), driver.osid(1) == 1 << 40, driver.usage.publications)
        driver.remove(tsid)
        print(driver.match((0, 0), [7, 8]))
        driver.close()
        driver.close()
    """)
    assert said.splitlines() == ["True pynq.lib.dma", "1 [1] [] []", "[1] True 4", "[]"]


def test_a_broker_offloads_onto_the_board(run):
    said = run("""
        import os
        import silbo
        os.environ["SILBO_BITSTREAM"] = "x2cbbr.bit"
        for name in ("pynq", "auto"):
            board()
            with silbo.Broker(offload=name, index="plain") as broker:
                car = broker.connect("car")
                car.set_context(x=1, y=2)
                car.advertise("true")
                alerts = car.subscribe("a = 1", context="abs(pub.x - this.x) <= 20")
                car.publish({"a": 1})
                car.publish({"a": 1}, context={"x": 22})
                print(len(alerts.drain()), broker.stats()["offload"])
    """)
    stats = "{'device': 1, 'software': 0, 'tsids': 1, 'words': 1, 'rows': 1, 'matches': 1}"
    assert said.splitlines() == [f"1 {stats}"] * 2


def test_a_publication_that_the_dma_cannot_send_is_told(run):
    said = run("""
        made = board()
        device = pynq_board.open_board("x2cbbr.bit")
        try:
            device.send(range(2_100_000))
        except DeviceError as error:
            print(error)
        made.flush = lambda *_: None  # what the DMA sees then was never written
        made._flushed.clear()
        try:
            device.send([1, 2])
        except DeviceError as error:
            print(error)
    """)
    assert "exceeds the maximum DMA buffer size 8388607" in said
    assert "the DMA stopped with an error" in said


def test_a_dma_that_comes_to_no_end_is_given_up(run):
    said = run("""
        made = board()
        pynq_board.PATIENCE = 0.05
        device = pynq_board.open_board("x2cbbr.bit")
        made.dma.is_stuck = True
        try:
            device.send([1, 2])
        except DeviceNotAnswering as error:
            print(error)
    """)
    assert "does not come to an end with a publication" in said


STUCK = """
    import logging, time
    logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s")
    pynq_board.PATIENCE = 0.05
    made = board()
    freed = []
    device = pynq_board.open_board("x2cbbr.bit")
    device._buffer.freebuffer = lambda: freed.append(True)
    made.dma.is_stuck = True
    try:
        device.send([1, 2])
    except DeviceNotAnswering:
        pass
"""


def test_a_device_whose_dma_is_stuck_is_closed_and_opened_again(run):
    """The reset ends the transfer: pynq's own stop() would wait for the transfer's end without a bound."""
    said = run(
        STUCK
        + """
    device.close()
    device.close()
    print(freed, pynq_board._abandoned)
    made.dma.is_stuck = False
    driver = X2cbbr(pynq_board.open_board("x2cbbr.bit"))
    print(driver.register([7]), driver.match(None, [7]))
    """
    )
    assert said.splitlines() == ["[True] []", "1 [1]"]


def test_a_dma_that_cannot_be_reset_keeps_its_buffer_and_closing_ends(run):
    said = run(
        STUCK
        + """
    made.dma.is_dead = True
    device.close()
    device.close()
    print(freed, len(pynq_board._abandoned))
    try:
        device.send([1, 2])
    except Closed as error:
        print(error)
    """
    )
    logged, *printed = said.splitlines()
    assert logged.startswith(
        "WARNING the DMA did not stop within 0.05 seconds. Its buffer of 4096 bytes stays allocated"
    )
    assert printed == ["[] 1", "the board is closed. Open a new one."]


def test_without_a_board_and_without_a_bitstream_it_is_told_what_helps(run):
    said = run("""
        for step in (lambda: None, board):
            step()
            try:
                pynq_board.open_board()
            except HardwareUnavailable as error:
                print(error)
    """)
    assert "a PYNQ board is not there. What helps: sudo -i, then: source /etc/profile.d/pynq_venv.sh" in said
    assert "XILINX_XRT is not set" in said
    assert "pip install" not in said
    assert "x2cbbr.bit is not there. What helps: SILBO_BITSTREAM=FILE" in said


def test_an_overlay_without_the_core_is_refused(run):
    said = run("""
        made = board()
        metadata = made.get_bitfile_metadata("")
        del metadata.ip_dict["x2cbbr_0"]
        made.get_bitfile_metadata = lambda _: metadata
        try:
            pynq_board.open_board("x2cbbr.bit")
        except DeviceError as error:
            print(error)
    """)
    assert "this overlay has 0 cores silbo:hw:x2cbbr:1.0" in said


def test_the_installed_wheel_has_the_very_verilog_that_was_compiled(run):
    assert '"cached": true' in run("", "hw", "build", "--json")
    assert "match     words 1 3, at 5 5" in run("", "hw", "sim")
