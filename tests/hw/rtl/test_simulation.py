"""The driver on the simulated RTL, and the commands that use it."""

import json
import random

import pytest

from silbo.cli import main
from silbo.cli.hw import sim
from silbo.errors import Closed, DeviceError, DeviceFull, DeviceNotAnswering, InvalidValue
from silbo.hw.build.simulation import Parameters
from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.driver.registers import Register
from silbo.hw.driver.sim import SimDevice
from silbo.hw.driver.x2cbbr import X2cbbr

HERE = DeviceBox(-20, 20, -20, 20)


@pytest.fixture
def device(matcher):
    made = SimDevice(matcher)
    yield made
    made.close()


@pytest.fixture
def driver(device):
    return X2cbbr(device)


# the driver on the RTL


def test_the_device_tells_what_it_was_built_with(driver, matcher):
    shape = driver.shape
    assert (shape.crt_mode, shape.filters, shape.sids) == (matcher.crt_mode, 256, 255)
    assert (shape.subscribers, shape.lanes) == (256, 16)


def test_a_subscription_is_matched_by_all_its_words_inside_its_box(driver):
    tsid = driver.register([7, 8], row=3, osid=0xFEDC_BA98_7654_3210)
    assert driver.match((0, 0), [8, 7]) == []
    driver.set_context(3, HERE)
    assert driver.match((20, -20), [8, 9, 7]) == [tsid]
    assert driver.match((21, 0), [7, 8]) == []
    assert driver.match((0, 0), [7]) == []
    assert driver.match(None, [7, 8]) == []
    assert driver.osid(tsid) == 0xFEDC_BA98_7654_3210


def test_it_answers_what_a_scan_of_all_subscriptions_answers(driver):
    chance, model, boxes = random.Random(7), {}, {}
    for _ in range(1_500):
        match chance.choice(["register", "register", "remove", "context", "match", "match", "match"]):
            case "register":
                words, row = chance.choices(range(60), k=chance.randint(1, 4)), chance.choice([None, *range(8)])
                if len(model) < 255:
                    model[driver.register(words, row)] = (set(words), row)
            case "remove" if model:
                tsid = chance.choice(list(model))
                driver.remove(tsid)
                del model[tsid]
            case "context":
                row = chance.randrange(8)
                boxes[row] = chance.choice([None, DeviceBox(*(sorted(chance.sample(range(-9, 9), 2)) * 2))])
                driver.set_context(row, boxes[row])
            case "match":
                words = chance.choices(range(60), k=chance.randint(0, 50))
                position = chance.choice([None, (chance.randrange(-9, 9), chance.randrange(-9, 9))])
                expected = [
                    tsid
                    for tsid, (wanted, row) in sorted(model.items())
                    if wanted <= set(words) and (row is None or contains(boxes.get(row), position))
                ]
                assert driver.match(position, words) == expected
    assert driver.usage.subscriptions == len(model)
    assert driver.usage.publications > 500


def contains(box, position):
    return (
        None not in (box, position)
        and box.x_low <= position[0] <= box.x_high
        and box.y_low <= position[1] <= box.y_high
    )


def test_without_a_free_tsid_the_device_is_full_until_one_is_removed(driver):
    assert [driver.register([number % 100]) for number in range(255)] == list(range(1, 256))
    with pytest.raises(DeviceFull, match="SMT_FULL"):
        driver.register([5])
    assert driver.match(None, [5]) == [6, 106, 206]
    driver.remove(106)
    assert driver.register([5]) == 106


def test_without_room_for_all_its_filters_a_subscription_is_refused_whole(driver):
    for first in range(0, 240, 16):
        driver.register(range(first, first + 16))
    driver.register([*range(1_000, 1_015), 1])
    with pytest.raises(DeviceFull, match="CRT_FULL"):
        driver.register([2_000, 2_001])
    assert driver.usage.subscriptions == 16
    assert driver.match(None, [2_000, 2_001]) == []
    assert driver.register([2_000]) == 17


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (lambda driver: driver.register([]), "NO_FILTERS"),
        (lambda driver: driver.register(range(17)), "TOO_MANY_FILTERS"),
        (lambda driver: driver.remove(5), "NO_SUCH_TSID"),
        (lambda driver: driver.remove(0), "NO_SUCH_TSID"),
    ],
)
def test_a_refusal_of_the_device_leaves_it_ready(driver, verb, said):
    with pytest.raises(DeviceError, match=said):
        verb(driver)
    assert driver.register([3]) == 1
    assert driver.match(None, [3]) == [1]


def test_a_new_driver_finds_the_device_empty_though_a_result_was_left_there(driver, device):
    driver.register([3])
    device.send([0, 0, 3])
    again = X2cbbr(device)
    assert again.match(None, [3]) == []
    assert again.usage.subscriptions == 0


def test_cycles_are_counted_by_the_device(driver):
    driver.register([1, 2])
    driver.match((0, 0), range(252))
    assert driver.cycles.init <= 260
    assert 0 < driver.cycles.register <= 20
    assert 252 < driver.cycles.match
    assert 0 < driver.cycles.context < driver.cycles.match


# faults


def test_a_flipped_bit_of_the_cam_changes_what_is_matched(driver, device):
    for number in range(40):
        driver.register([number])
    device.flip_filter(33, 31)
    assert driver.match(None, [33]) == []
    assert driver.match(None, [33 | 1 << 31]) == [34]
    device.flip_filter(33, 31)
    assert driver.match(None, [33]) == [34]


@pytest.mark.parametrize("bit", [4, 32 + 31, 64 + 4, 96 + 31, 128])
def test_a_flipped_bit_of_a_row_changes_who_is_near(driver, device, bit):
    """Bit 4 makes -32 to -16, bit 31 makes 20 negative: the position at -20 is no more between them."""
    row = 37
    tsid = driver.register([1], row=row)
    driver.set_context(row, DeviceBox(-32, 20, -32, 20))
    position = (-20, -20)
    assert driver.match(position, [1]) == [tsid]
    device.flip_context(row, bit)
    assert driver.match(position, [1]) == []
    device.flip_context(row, bit)
    assert driver.match(position, [1]) == [tsid]


@pytest.mark.parametrize(
    "flip",
    [
        lambda device: device.flip_filter(256, 0),
        lambda device: device.flip_filter(0, 32),
        lambda device: device.flip_context(256, 0),
        lambda device: device.flip_context(0, 129),
    ],
)
def test_a_bit_that_there_is_not_cannot_be_flipped(device, flip):
    with pytest.raises(InvalidValue, match="the device has no bit"):
        flip(device)


def test_two_devices_of_one_process_have_memories_of_their_own(matcher):
    one, other = (X2cbbr(SimDevice(matcher)) for _ in range(2))
    assert one.register([1]) == other.register([1]) == 1
    other._device.flip_filter(0, 0)
    assert one.match(None, [1]) == [1]
    assert other.match(None, [1]) == []


# the simulation as a device


def test_a_publication_that_is_never_taken_is_given_up(driver, device):
    device.send([0, 0, 1])
    with pytest.raises(DeviceNotAnswering, match="a publication: it did not answer for a million cycles"):
        device.send([0, 0, 1])


def test_an_error_on_the_bus_is_told(device, driver):
    with pytest.raises(DeviceError, match="a write of 0x070"):
        device.write(Register.CONTEXT, 256)


def test_the_clock_stands_still_between_calls(device):
    before = device.cycles
    assert device.cycles == before
    device.tick(10)
    assert device.cycles == before + 10


def test_nothing_can_be_asked_of_a_closed_device(device):
    device.close()
    device.close()
    for verb in (lambda: device.read(0), lambda: device.write(0, 0), lambda: device.send([1]), lambda: device.cycles):
        with pytest.raises(Closed):
            verb()


def test_a_device_made_without_a_waveform_cannot_write_one(device, tmp_path):
    with pytest.raises(DeviceError, match="SimDevice"):
        device.trace(tmp_path / "late.vcd")


# the commands


def test_silbo_hw_sim_prints_cycles(capsys, matcher):
    mode = matcher.crt_mode.name.lower()
    assert main(["hw", "build", "--mode", mode, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cached"]
    assert main(["hw", "sim", "--mode", mode]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"X2CBBR, rows as {mode}s: 256 filters, 255 subscriptions, 256 subscribers in 16 lanes")
    assert lines[-1].endswith("cycles in all, with the buses")
    assert main(["hw", "sim", "--mode", mode, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert [step["result"] for step in output["steps"] if step["verb"] == "match"] == [
        [1, 3],
        [3],
        [1, 3],
        [2, 3],
        [2, 3],
    ]
    assert output["init_cycles"] <= 260


LOG = """\
{"event":"advertise","session":"cam","id":"a","filter":"true"}
{"event":"subscribe","session":"car","id":"s","filter":"msg = \\"accident\\" and severity >= 3","context":"abs(pub.x - this.x) <= 20"}
{"event":"subscribe","session":"van","id":"s","filter":"severity >= 3"}
{"event":"set_context","session":"car","values":{"x":12.0}}
{"event":"publish","session":"cam","attributes":{"msg":"accident","severity":4},"context":{"x":15.0}}
{"event":"publish","session":"cam","attributes":{"msg":"accident","severity":4},"context":{"x":99.0}}
nonsense
"""


def test_silbo_hw_sim_shows_what_of_a_log_the_device_did(capsys, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(LOG)
    assert main(["hw", "sim", str(log), "--json"]) == 0
    output = capsys.readouterr()
    steps = json.loads(output.out)["steps"]
    assert [step["verb"] for step in steps] == ["register", "context", "match", "match"]
    assert [step["result"] for step in steps[2:]] == [[1], []]
    assert output.err.startswith(f"{log}:7: ")


@pytest.fixture
def small(monkeypatch):
    """Let the command build a small matcher: a waveform of the full size takes a minute to compile."""
    small = Parameters(filters=16, sids=16, subscribers=16, lanes=4)
    monkeypatch.setattr(sim, "shape", lambda options: small)


def test_silbo_hw_sim_writes_a_waveform(capsys, tmp_path, small):
    vcd = tmp_path / "matcher.vcd"
    assert main(["hw", "sim", "--vcd", str(vcd)]) == 0
    text = vcd.read_text()
    assert "s_axis_tvalid" in text
    assert text.count("\n#") > 1_000  # times


def test_a_waveform_that_cannot_be_written_is_status_2(capsys, tmp_path, small):
    assert main(["hw", "sim", "--vcd", str(tmp_path / "no" / "folder.vcd")]) == 2
    assert "No such file or directory" in capsys.readouterr().err
