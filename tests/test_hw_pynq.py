"""The unmodified driver through pynq's own classes, over the simulated RTL, from the installed wheel.

pynq wants a numpy and a grpcio that do not fit the other tests: it has an environment of its own here.
"""

import os
import subprocess
import textwrap
import venv

import pytest

from silbo.hw.simulation import Parameters, library

BEGIN = """
    from pathlib import Path
    import pynq
    from silbo.errors import DeviceError, DeviceNotAnswering, HardwareUnavailable
    from silbo.hw.driver import pynq_board
    from silbo.hw.driver.sim import SimDevice
    from silbo.hw.driver.x2cbbr import Box, X2cbbr

    def board():
        from silbo.testing.board import SimulatedBoard
        made = pynq.Device.active_device = SimulatedBoard(SimDevice())
        Path("x2cbbr.bit").touch()
        return made
"""


# the wheel is what is tested, wherever else silbo could be found
VARIABLES = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """An environment with pynq and the wheel; the simulation is the one that was compiled for the others."""
    library(Parameters())
    folder = tmp_path_factory.mktemp("pynq")
    venv.create(folder / "venv", with_pip=True)
    subprocess.run(
        [folder / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--no-compile", f"silbo[hw,pynq] @ {wheel.as_uri()}"],
        check=True, env=VARIABLES,
    )  # fmt: skip
    return folder


@pytest.fixture
def run(environment, tmp_path):
    """Run a program there; what it prints."""

    def run(program, *arguments):
        python = environment / "venv" / "bin" / "python"
        code = textwrap.dedent(BEGIN) + textwrap.dedent(program)
        command = [python.with_name("silbo"), *arguments] if arguments else [python, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, env=VARIABLES, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.rtl
def test_the_driver_on_pynqs_classes_matches_as_the_rtl_does(run):
    said = run("""
        board()
        driver = X2cbbr(pynq_board.open_board("x2cbbr.bit"))
        print(type(driver._device._core).__mro__[1] is pynq.DefaultIP, type(driver._device._channel).__module__)
        tsid = driver.register([7, 8], row=3, osid=1 << 40)
        driver.set_context(3, Box(-5, 5, -5, 5))
        print(tsid, driver.match((5, -5), [8, 7]), driver.match((6, 0), [7, 8]), driver.match(None, [7, 8]))
        print(driver.match((0, 0), range(3_000)), driver.osid(1) == 1 << 40, driver.usage.publications)
        driver.remove(tsid)
        print(driver.match((0, 0), [7, 8]))
        driver.close()
        driver.close()
    """)
    assert said.splitlines() == ["True pynq.lib.dma", "1 [1] [] []", "[1] True 4", "[]"]


@pytest.mark.rtl
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
    told = "{'device': 1, 'software': 0, 'tsids': 1, 'words': 1, 'rows': 1, 'matches': 1}"
    assert said.splitlines() == [f"1 {told}"] * 2


@pytest.mark.rtl
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


@pytest.mark.rtl
def test_a_dma_that_comes_to_no_end_is_given_up(run):
    said = run("""
        made = board()
        pynq_board.PATIENCE = 0.05
        device = pynq_board.open_board("x2cbbr.bit")
        made.dma._send = lambda length: None  # and is never idle
        try:
            device.send([1, 2])
        except DeviceNotAnswering as error:
            print(error)
    """)
    assert "does not come to an end with a publication" in said


@pytest.mark.rtl
def test_without_a_board_and_without_a_bitstream_it_is_told_what_helps(run):
    said = run("""
        for step in (lambda: None, board):
            step()
            try:
                pynq_board.open_board()
            except HardwareUnavailable as error:
                print(error)
    """)
    assert "a PYNQ board is not there. What helps: pip install 'silbo[pynq]' on the board" in said
    assert "x2cbbr.bit is not there. What helps: SILBO_BITSTREAM=FILE" in said


@pytest.mark.rtl
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


@pytest.mark.rtl
def test_the_installed_wheel_has_the_very_verilog_that_was_compiled(run):
    assert '"cached": true' in run("", "hw", "build", "--json")
    assert "match     words 1 3, at 5 5" in run("", "hw", "sim")
