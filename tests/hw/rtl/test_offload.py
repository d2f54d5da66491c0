"""The offload over the RTL, simulated: it answers what the model does, and a fault in it is seen."""

import pytest

import silbo
from silbo.bench import hw_workload
from silbo.core.fold import Fold
from silbo.hw.build.simulation import Parameters
from silbo.hw.driver.registers import CrtMode
from silbo.hw.driver.sim import SimDevice
from silbo.hw.driver.x2cbbr import X2cbbr
from silbo.testing import Player, generate_log
from silbo.testing.comparison import lines, oracle_lines
from silbo.testing.own.matching_unit import ModelUnit, over
from silbo.wire.jsonl import event_json

NEAR = "abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20"
EVENTS = 1_000
SMALL = Parameters(filters=16, sids=16, subscribers=16, lanes=4)  # as in test_recovery.py: one build for both


class Doubled:
    """The driver over the RTL and the model side by side: each must answer what the other does."""

    def __init__(self, parameters):
        self.rtl = X2cbbr(SimDevice(parameters))
        self.model = ModelUnit(parameters.sids - 1, parameters.filters, parameters.subscribers)

    def __getattr__(self, verb):
        ask, expect = getattr(self.rtl, verb), getattr(self.model, verb)
        if not callable(ask):
            assert ask == expect
            return ask
        return lambda *given, **named: agreed(outcome(ask, *given, **named), outcome(expect, *given, **named))


def outcome(verb, *given, **named):
    try:
        return verb(*given, **named), None
    except silbo.SilboError as error:
        return None, error


def agreed(got, expected):
    assert (got[0], type(got[1])) == (expected[0], type(expected[1]))
    if got[1] is not None:
        raise got[1]
    return got[0]


@pytest.mark.parametrize("mode", CrtMode, ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("seed", [1, 2])
def test_generated_logs_on_the_rtl_give_the_oracles_notifications(seed, mode):
    log = generate_log(seed, EVENTS)
    # rows of lists overflow into others, so that a CAM is full earlier than the model's: this one is never full
    parameters = SMALL if mode is CrtMode.BITMAP else Parameters(crt_mode=mode)
    expected = oracle_lines(log)
    for batch in (None, 7):
        fold = Fold("plain", offload=over(Doubled(parameters)))
        assert lines(silbo.replay(log, engine=fold, batch=batch)) == expected
        assert fold.core.index.stats()["offload"]["matches"] > 100
        fold.close()


def test_a_broker_over_the_rtl_by_name_gives_the_oracles_notifications():
    log = generate_log(3, EVENTS)
    with silbo.Broker(offload="sim") as broker:
        player = Player(broker)
        player.play(log)
        received = player.received()
        assert broker.stats()["offload"]["matches"] > 100
    assert sorted(lines(received)) == sorted(oracle_lines(log))


def test_the_workload_on_the_rtl_gives_the_oracles_notifications():
    log = hw_workload.log(publications=150)
    assert hw_workload.device_share("sim", log) >= 0.9
    expected = oracle_lines(log)
    fold = Fold(offload=over(Doubled(Parameters())))
    assert lines(fold.apply(log)) == expected
    assert len(expected) / 2 < fold.core.index.stats()["offload"]["matches"] < 2 * len(expected)
    fold.close()


def test_a_log_replayed_on_the_engine_hw(tmp_path):
    from silbo.cli import main

    log = generate_log(4, 300)
    path = tmp_path / "log.jsonl"
    path.write_text("".join(event_json(event) + "\n" for event in log), encoding="utf-8")
    assert main(["replay", str(path), "--engine", "hw"]) == 0
    assert lines(silbo.replay(log, engine="hw", batch=50)) == oracle_lines(log)


@pytest.fixture
def one():
    """One subscription on a small device, in its first row; how many notifications a message near it gives."""
    device = SimDevice(SMALL)
    with silbo.Broker(offload=over(X2cbbr(device)), index="plain") as broker:
        car, cam = broker.connect("car"), broker.connect("cam")
        car.set_context(x=0, y=0)
        alerts = car.subscribe("a = 1", context=NEAR)
        cam.advertise("true")

        def notified():
            cam.publish({"a": 1}, context={"x": 10, "y": 10})
            return len(alerts.drain())

        yield device, notified


@pytest.mark.parametrize("bit", [0, 7, 31])
def test_a_flipped_bit_of_the_cam_is_seen(one, bit):
    device, notified = one
    assert notified() == 1
    without = []
    for entry in range(SMALL.filters):
        device.flip_filter(entry, bit)
        without.append(notified() == 0)
        device.flip_filter(entry, bit)
    assert sum(without) == 1  # the entry that holds the word, and no other
    assert notified() == 1


# the sign of an end turns the box inside out or away; 128 is whether the row has a position
@pytest.mark.parametrize("bit", [31, 63, 95, 127, 128])
def test_a_flipped_bit_of_a_context_is_seen(one, bit):
    device, notified = one
    assert notified() == 1
    device.flip_context(0, bit)
    assert notified() == 0
    device.flip_context(0, bit)
    assert notified() == 1
