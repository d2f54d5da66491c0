"""The matcher's driver: its exact traffic on a device that plays a script, and what it makes of refusals."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from silbo.errors import DeviceError, DeviceFull, DeviceNotAnswering, InvalidValue
from silbo.hw.driver import registers
from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.driver.fake import FakeDevice, Read, Send, UnexpectedAccess, Write
from silbo.hw.driver.registers import ID, NO_POSITION, VALID, VERSION, Command, CrtMode, Failure, Register, Status
from silbo.hw.driver.x2cbbr import Cycles, Shape, Usage, X2cbbr

RTL = Path(registers.__file__).parents[1] / "rtl"
REGISTER_FILE = RTL / "bus" / "register_file.v"

BEGIN = [
    Read(Register.ID, ID),
    Read(Register.VERSION, VERSION),
    Read(Register.CRT_MODE, CrtMode.LIST),
    Read(Register.FILTERS, 64),
    Read(Register.SIDS, 63),
    Read(Register.SUBSCRIBERS, 32),
    Read(Register.LANES, 8),
    Read(Register.STATUS, 0),
    Write(Register.COMMAND, Command.INIT),
    Read(Register.STATUS, Status.BUSY),
    Read(Register.STATUS, 0),
]


def failed(failure, **more):
    return Read(Register.STATUS, failure << 8)


@pytest.fixture
def driver():
    """A driver that has begun, over a fake to which a test adds what must come."""
    made = X2cbbr(FakeDevice(BEGIN))
    yield made
    made._device.finish()


def then(driver, *accesses):
    driver._device._script.extend(accesses)


# the register map


def constants(prefix):
    """What the Verilog calls A_NAME = 12'h034 and so on, by name."""
    found = {}
    for path in RTL.rglob("*.v"):
        for name, base, digits in re.findall(rf"\b{prefix}_(\w+)\s*=\s*\d+'([hd])([0-9A-Fa-f]+)", path.read_text()):
            value = int(digits, 16 if base == "h" else 10)
            assert found.setdefault(name, value) == value, f"{path}: {prefix}_{name} is told twice"
    return found


@pytest.mark.parametrize(("prefix", "codes"), [("A", Register), ("C", Command), ("F", Failure)])
def test_the_verilog_has_the_same_registers_commands_and_failures(prefix, codes):
    assert constants(prefix) == {each.name: each.value for each in codes}


def test_the_verilog_has_the_same_identity():
    text = REGISTER_FILE.read_text()
    assert re.search(r"\bID\s*=\s*32'h([0-9A-F]+)", text).group(1) == f"{ID:08X}"
    assert re.search(r"\bVERSION\s*=\s*32'd(\d+)", text).group(1) == str(VERSION)


def test_the_verilog_has_the_same_bits_of_status():
    """STATUS is one concatenation there, from the highest bit down."""
    text = REGISTER_FILE.read_text()
    parts = re.search(r"\bstatus\s*=\s*\{(.*?)\};", text, re.DOTALL).group(1)
    names = [part.strip().removesuffix("_reg").replace("_is", "").upper() for part in parts.split(",")][-9:]
    assert names == ["FAILURE", *(bit.name for bit in sorted(Status, reverse=True))]
    assert registers.FAILURE_SHIFT == len(Status)


def test_the_page_shows_the_same_registers_commands_and_bits():
    page = (Path(__file__).parents[3] / "docs" / "hardware.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| 0x([0-9A-F]{3}) \| (\w+) \| (.*) \|$", page, re.MULTILINE)
    assert [(int(address, 16), name) for address, name, _ in rows] == [(each.value, each.name) for each in Register]
    meaning = {name: text for _, name, text in rows}
    assert re.findall(r"([A-Z]+) (\d)", meaning["COMMAND"]) == [(each.name, str(each.value)) for each in Command]
    bits = [(bit.name, str(bit.bit_length() - 1)) for bit in Status]
    assert re.findall(r"([A-Z_]+) (\d)", meaning["STATUS"].partition(";")[0]) == bits


# traffic


def test_a_driver_identifies_the_device_reads_its_shape_and_empties_it(driver):
    assert driver.shape == Shape(CrtMode.LIST, filters=64, sids=63, subscribers=32, lanes=8)
    assert driver.subscribers == 32


def test_a_result_that_another_program_left_is_taken_first():
    script = [*BEGIN[:7], Read(Register.STATUS, Status.BUSY), Read(Register.STATUS, Status.DONE)]
    fake = FakeDevice([*script, Write(Register.COMMAND, Command.TAKE), *BEGIN[8:]])
    X2cbbr(fake)
    fake.finish()


def test_a_registration_is_the_osid_the_subscriber_the_filters_and_the_command(driver):
    then(
        driver,
        Write(Register.OSID_LOW, 0x89ABCDEF),
        Write(Register.OSID_HIGH, 0x01234567),
        Write(Register.SUBSCRIBER, 5 | VALID),
        Write(Register.FILTER, 7),
        Write(Register.FILTER, 0xFFFF_FFFF),
        Write(Register.COMMAND, Command.REGISTER),
        Read(Register.STATUS, Status.BUSY),
        Read(Register.STATUS, Status.BUSY),
        Read(Register.STATUS, 0),
        Read(Register.TSID, 12),
    )
    assert driver.register([7, 0xFFFF_FFFF], row=5, osid=0x0123456789ABCDEF) == 12


def test_a_subscription_without_context_names_no_row(driver):
    then(
        driver, Write(Register.OSID_LOW, 0), Write(Register.OSID_HIGH, 0), Write(Register.SUBSCRIBER, 0),
        Write(Register.FILTER, 1), Write(Register.COMMAND, Command.REGISTER), Read(Register.STATUS, 0),
        Read(Register.TSID, 1),
    )  # fmt: skip
    assert driver.register([1]) == 1


def test_a_removal_is_the_tsid_and_the_command(driver):
    then(driver, Write(Register.TSID, 63), Write(Register.COMMAND, Command.REMOVE), Read(Register.STATUS, 0))
    driver.remove(63)


def test_an_osid_is_read_from_the_smt(driver):
    then(driver, Write(Register.TSID, 3), Read(Register.OSID_HIGH, 1), Read(Register.OSID_LOW, 2))
    assert driver.osid(3) == 1 << 32 | 2


def test_a_context_is_four_ends_and_the_row(driver):
    then(
        driver,
        Write(Register.X_LOW, 0x8000_0000),
        Write(Register.X_HIGH, 0xFFFF_FFFF),
        Write(Register.Y_LOW, 0),
        Write(Register.Y_HIGH, 0x7FFF_FFFF),
        Write(Register.CONTEXT, 31 | VALID),
    )
    driver.set_context(31, DeviceBox(-(2**31), -1, 0, 2**31 - 1))


def test_a_context_without_a_position_is_the_row_alone(driver):
    then(driver, Write(Register.CONTEXT, 4))
    driver.set_context(4, None)


def test_a_publication_is_sent_and_only_words_of_the_result_that_are_not_zero_are_read(driver):
    then(
        driver,
        Send([0xFFFF_FFFF, 2, 10, 11]),
        Read(Register.STATUS, Status.MATCHING),
        Read(Register.STATUS, Status.DONE | 0b1000_0001 << 24),
        Read(Register.MATCH, 0b110),
        Read(Register.MATCH + 28, 1 << 31),
        Write(Register.COMMAND, Command.TAKE),
    )
    assert driver.match((-1, 2), [10, 11]) == [1, 2, 255]


def test_a_publication_without_a_position_says_so_and_one_that_matches_nobody_reads_nothing(driver):
    then(driver, Send([NO_POSITION, 0]), Read(Register.STATUS, Status.DONE), Write(Register.COMMAND, Command.TAKE))
    assert driver.match(None, []) == []


def test_figures_are_read_when_they_are_asked_for(driver):
    then(
        driver, Read(Register.MATCH_CYCLES, 1), Read(Register.REGISTER_CYCLES, 2), Read(Register.INIT_CYCLES, 3),
        Read(Register.CONTEXT_CYCLES, 4),
    )  # fmt: skip
    assert driver.cycles == Cycles(match=1, register=2, init=3, context=4)
    then(
        driver, Read(Register.S, 5), Read(Register.S_MAX, 6), Read(Register.FILTERS_USED, 7),
        Read(Register.PUBLICATIONS, 8), Read(Register.STATUS, Status.HCD),
    )  # fmt: skip
    assert driver.usage == Usage(subscriptions=5, s_max=6, filters=7, publications=8, hcd=True)


# refusals


@pytest.mark.parametrize("failure", [each for each in Failure if each is not Failure.NONE])
def test_a_refusal_tells_the_devices_word_and_what_to_do(driver, failure):
    then(driver, Write(Register.TSID, 1), Write(Register.COMMAND, Command.REMOVE), failed(failure))
    with pytest.raises(DeviceError, match=rf"refused REMOVE: {failure.name}\. \w.*\.$") as raised:
        driver.remove(1)
    assert raised.value.failure == failure.name
    assert isinstance(raised.value, DeviceFull) == (
        failure in (Failure.SMT_FULL, Failure.CRT_FULL, Failure.TOO_MANY_FILTERS)
    )


def test_a_command_that_was_dropped_is_told(driver):
    then(driver, Write(Register.COMMAND, Command.REMOVE), Read(Register.STATUS, Status.REFUSED))
    driver._device._script.insert(len(BEGIN), Write(Register.TSID, 1))
    with pytest.raises(DeviceError, match="another program uses it"):
        driver.remove(1)


@pytest.mark.parametrize(("read", "said"), [((0xDEAD, 1), "ID 0x0000dead"), ((ID, 99), "version 99")])
def test_another_device_is_refused_before_anything_is_written(read, said):
    fake = FakeDevice([Read(Register.ID, read[0]), Read(Register.VERSION, read[1])])
    with pytest.raises(DeviceError, match=said):
        X2cbbr(fake)
    fake.finish()


class Stuck:
    """A device whose STATUS never changes."""

    def __init__(self, status):
        self.values = {access.address: access.answer for access in BEGIN[:7]}
        self.status = status
        self.polls = 0

    def read(self, address):
        if address == Register.STATUS:
            self.polls += 1
            return self.status
        return self.values[address]

    def write(self, address, value):
        pass

    def send(self, words):
        pass


def test_a_device_that_stays_busy_is_given_up_after_a_bounded_number_of_reads():
    stuck = Stuck(Status.BUSY)
    with pytest.raises(DeviceNotAnswering, match="STATUS is still 0x00000001 after 50 reads"):
        X2cbbr(stuck, polls=50)
    assert stuck.polls == 50


def test_a_publication_without_a_result_is_given_up():
    driver = X2cbbr(Stuck(0))
    with pytest.raises(DeviceNotAnswering, match="a publication"):
        driver.match(None, [1])


@pytest.mark.parametrize(
    "verb",
    [
        lambda driver: driver.register([1, -1]),
        lambda driver: driver.register([1 << 32]),
        lambda driver: driver.register([1], row=32),
        lambda driver: driver.register([1], row=-1),
        lambda driver: driver.register([1], osid=1 << 64),
        lambda driver: driver.remove(64),
        lambda driver: driver.remove(-1),
        lambda driver: driver.osid(64),
        lambda driver: driver.set_context(32, None),
        lambda driver: driver.set_context(0, (0, 0, 0, 1 << 31)),
        lambda driver: driver.match((1 << 31, 0), []),
        lambda driver: driver.match((-(1 << 31), 0), []),
        lambda driver: driver.match(None, [1, 1 << 32]),
    ],
)
def test_what_the_registers_cannot_hold_is_refused_before_anything_is_written(driver, verb):
    with pytest.raises(InvalidValue):
        verb(driver)


def test_closing_a_driver_closes_its_device():
    fake = FakeDevice(BEGIN)
    with X2cbbr(fake):
        assert not fake.closed
    assert fake.closed


# the fake itself


@pytest.mark.parametrize(
    ("script", "do", "said"),
    [
        ([Read(Register.ID, 1)], lambda fake: fake.read(Register.STATUS), "access 0: expected read ID, found read STATUS"),
        ([Read(Register.ID, 1)], lambda fake: fake.write(Register.ID, 1), "expected read ID, found write ID = 0x1"),
        ([Write(Register.FILTER, 1)], lambda fake: fake.write(Register.FILTER, 2), "found write FILTER = 0x2"),
        ([Send([1, 2])], lambda fake: fake.send([1, 3]), "expected send 0x1 0x2, found send 0x1 0x3"),
        ([], lambda fake: fake.read(0x104), r"expected none, found read MATCH\[1\]"),
        ([], lambda fake: fake.read(0x01C), "found read 0x01c"),
        ([Send([1])], lambda fake: fake.finish(), "expected send 0x1, found the end"),
    ],
)  # fmt: skip
def test_a_fake_fails_at_the_first_access_that_is_not_in_its_script(script, do, said):
    with pytest.raises(UnexpectedAccess, match=said):
        do(FakeDevice(script))


def test_a_fake_keeps_what_was_done():
    fake = FakeDevice([Read(Register.ID, 7), Send([1])])
    assert fake.read(Register.ID) == 7
    fake.send([1])
    assert fake.done == [Read(Register.ID, 7), Send((1,))]


# what is not there


def test_without_pynq_the_command_that_brings_it_is_told():
    code = "import sys; sys.modules['pynq'] = None; import silbo.hw.driver.pynq_board"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "HardwareUnavailable: pynq is not there. What helps: pip install 'silbo[pynq]'" in done.stderr


def test_where_there_is_no_numba_a_broker_has_the_plain_index():
    """As on a board: numba has no wheels for its processor."""
    code = """
import sys
sys.modules["numba"] = None
import silbo
with silbo.Broker() as broker:
    car, camera = broker.connect("car"), broker.connect("camera")
    car.set_context(x=1.0)
    alerts = car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 2")
    camera.set_context(x=2.0)
    camera.advertise("true")
    camera.publish({"msg": "accident"})
    print(alerts.get(timeout=1))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "camera#1 to car/s1" in done.stdout, done.stderr
