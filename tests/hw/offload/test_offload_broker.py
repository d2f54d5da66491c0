"""The broker with a device: how it finds one, what reaches it, and that it lets it go."""

import sys

import pytest

import silbo
from silbo.errors import HardwareUnavailable
from silbo.hw.driver import board_environment
from silbo.testing.own.matching_unit import ModelUnit, over

NEAR = "abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20"


def test_a_name_that_no_device_has_is_refused_with_those_there_are():
    with pytest.raises(silbo.InvalidValue, match=r"offload: expected one of sim, pynq, auto, not 'fpga'\."):
        silbo.Broker(offload="fpga")


def test_without_a_board_it_is_said_what_is_missing_and_auto_is_software():
    with pytest.raises(HardwareUnavailable, match="is not there"):
        silbo.Broker(offload="pynq")
    with silbo.Broker(offload="auto") as broker:
        assert "offload" not in broker.stats()


@pytest.fixture
def image(monkeypatch, tmp_path):
    """A machine that has the scripts of a PYNQ image."""
    script = tmp_path / "pynq_venv.sh"
    script.touch()
    monkeypatch.setattr(board_environment, "VENV", script)


def test_auto_logs_that_it_matches_in_software_and_why(caplog):
    with caplog.at_level("INFO", "silbo"):
        silbo.Broker(offload="auto").close()
    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert record.getMessage().startswith('offload="auto": matching in software. pynq is not there.')


def test_auto_warns_on_a_board_whose_environment_was_not_entered(image, caplog):
    silbo.Broker(offload="auto").close()
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f"source {board_environment.XRT}" in record.getMessage()
    assert f"{sys.executable} is not the Python of this PYNQ image's environment" in record.getMessage()
    assert "pip install" not in record.getMessage()


@pytest.mark.parametrize(
    ("xrt", "user", "reason"),
    [
        (None, 0, "XILINX_XRT is not set"),
        ("/usr", 1000, "only root may use one"),
        ("/usr", 0, "pynq finds no device here"),
    ],
)
def test_a_board_that_pynq_does_not_find_is_told_with_what_the_shell_lacks(monkeypatch, xrt, user, reason):
    monkeypatch.delenv("XILINX_XRT", raising=False)
    if xrt is not None:
        monkeypatch.setenv("XILINX_XRT", xrt)
    monkeypatch.setattr("os.geteuid", lambda: user)
    said = str(board_environment.board_missing())
    assert reason in said
    assert "sudo -i, then: source" in said
    assert "pip install" not in said


def test_a_broker_that_finds_no_device_matches_in_software():
    with silbo.Broker(offload=lambda *_: None) as broker:
        car = broker.connect("car")
        car.advertise("true")
        subscription = car.subscribe("a = 1")
        car.publish({"a": 1})
        assert subscription.poll() is not None
        assert "offload" not in broker.stats()


def test_a_broker_closes_its_device_once():
    unit = ModelUnit()
    with silbo.Broker(offload=over(unit)) as broker:
        broker.connect("car").subscribe("a = 1")
        assert not unit.closed
        broker.close()
        assert unit.closed
        unit.closed = False
    assert not unit.closed


def test_a_broker_closes_though_its_device_does_not_answer():
    unit = ModelUnit()
    broker = silbo.Broker(offload=over(unit))
    car = broker.connect("car")
    car.subscribe("a = 1", context=NEAR)
    unit.broken = True
    broker.close()
    assert broker.closed
    assert car.closed


@pytest.mark.parametrize("values", ["columns", "lists"])
def test_contexts_set_in_bulk_reach_the_device(values):
    import numpy as np

    unit = ModelUnit()
    with silbo.Broker(offload=over(unit)) as broker:
        cars = [broker.connect(f"car-{i}") for i in range(3)]
        heard = [car.subscribe("a = 1", context=NEAR) for car in cars]
        software = cars[0].subscribe("a > 0", context=NEAR)
        cars[0].advertise("true")
        for places in ([0.0, 500.0, 1_000.0], [1_000.0, 0.0, 500.0]):
            column = np.array(places) if values == "columns" else places
            broker.set_contexts(cars, {"x": column, "y": column})
            cars[0].publish({"a": 1}, context={"x": 0.0, "y": 0.0})
            assert [each.poll() is not None for each in heard] == [place == 0.0 for place in places]
            assert (software.poll() is not None) == (places[0] == 0.0)
        cars[2].set_context(x=0.0, y=0.0)  # floats over floats, which are written past the door where nobody listens
        cars[0].publish({"a": 1}, context={"x": 0.0, "y": 0.0})
        assert heard[2].poll() is not None


def test_a_disconnect_gives_the_row_back():
    unit = ModelUnit(subscribers=1)
    with silbo.Broker(offload=over(unit)) as broker:
        for name in ("car", "van"):
            with broker.connect(name) as session:
                session.set_context(x=0, y=0)
                session.subscribe("a = 1", context=NEAR)
                assert broker.stats()["offload"]["rows"] == 1
        assert broker.stats()["offload"]["rows"] == 0


def test_the_index_beside_the_device_is_the_named_one_and_made_when_it_is_needed():
    with silbo.Broker(offload=over(ModelUnit()), index="fast") as broker:
        car = broker.connect("car")
        car.subscribe("a = 1")
        assert "candidates" not in broker.stats()
        car.subscribe("a > 1")
        assert "candidates" in broker.stats()  # of the kernels
    with silbo.Broker(offload=over(ModelUnit()), index="plain") as broker:
        broker.connect("car").subscribe("a > 1")
        assert "candidates" not in broker.stats()
