"""The registers as an AXI4-Lite slave: whole writes, late answers for contexts, and no loss with any pauses."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import RisingEdge

from silbo.hw.driver.registers import ID, VALID, VERSION, Command, Register, Status
from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES

OKAY, SLVERR = 0, 2
STATE = (
    "done matching scanning hcd crt_is_full smt_is_full failure filters_waiting asked_osid s s_max rows_used"
    " match_cycles register_cycles init_cycles context_cycles publications match registered_sid"
)


class Slave:
    """A bus master that pauses each channel independently, and records the outputs towards the core in `recorded`."""

    def __init__(self, module, idle, pressure):
        self.module = module
        self._idle = {name: PAUSES[idle]() for name in ("aw", "w", "ar")}
        self._pressure = {name: PAUSES[pressure]() for name in ("b", "r")}
        self.inputs = {}
        self.recorded = []

    @classmethod
    async def started(cls, dut, idle="never", pressure="never"):
        module = await Module.started(
            dut, "s_axi_awvalid s_axi_wvalid s_axi_bready s_axi_arvalid s_axi_rready registered",
            "s_axi_awready s_axi_wready s_axi_bresp s_axi_bvalid s_axi_arready s_axi_rdata s_axi_rresp s_axi_rvalid"
            " command_valid command push push_filter osid subscriber in_context sid context_write context_row"
            " context_valid context_box", "rst",
            s_axi_awaddr=0, s_axi_wdata=0, s_axi_wstrb=0, s_axi_araddr=0, context_ready=1, busy=0, initialising=0,
            **dict.fromkeys(STATE.split(), 0),
        )  # fmt: skip
        return cls(module, idle, pressure)

    async def step(self, **inputs):
        inputs = self.inputs | inputs
        seen = await self.module.step(**inputs)
        self.recorded += [("command", seen.command)] if seen.command_valid else []
        self.recorded += [("push", seen.push_filter)] if seen.push else []
        if seen.context_write and inputs.get("context_ready", 1):
            self.recorded.append(("context", seen.context_row, seen.context_valid, seen.context_box))
        return seen

    async def write(self, address, value, strobe=0xF):
        """Write a register; returns the response of the bus."""
        left = {"aw", "w", "b"}
        for _ in range(200):
            valid = {name: name in left and not next(self._idle[name]) for name in ("aw", "w")}
            is_ready = not next(self._pressure["b"])
            seen = await self.step(
                s_axi_awvalid=valid["aw"], s_axi_awaddr=address >> 2, s_axi_wvalid=valid["w"], s_axi_wdata=value,
                s_axi_wstrb=strobe, s_axi_bready=is_ready,
            )  # fmt: skip
            left -= {name for name in ("aw", "w") if valid[name] and getattr(seen, f"s_axi_{name}ready")}
            if seen.s_axi_bvalid:
                assert left == {"b"}, "no answer before address and data have arrived"
                if is_ready:
                    return seen.s_axi_bresp
        raise AssertionError("no answer")

    async def read(self, address):
        is_asked, seen = False, None
        for _ in range(200):
            valid = not is_asked and not next(self._idle["ar"])
            is_ready = not next(self._pressure["r"])
            seen = await self.step(s_axi_arvalid=valid, s_axi_araddr=address >> 2, s_axi_rready=is_ready)
            is_asked = is_asked or (valid and seen.s_axi_arready)
            if seen.s_axi_rvalid and is_ready:
                assert seen.s_axi_rresp == OKAY
                return seen.s_axi_rdata
        raise AssertionError("no answer")


@cocotb.test()
@cocotb.parametrize(idle=NAMES, pressure=NAMES)
async def every_write_is_told_once_and_every_read_answered(dut, idle, pressure):
    slave = await Slave.started(dut, idle, pressure)
    chance, expected = random.Random(3), []
    box = dict.fromkeys(("X_LOW", "X_HIGH", "Y_LOW", "Y_HIGH"), 0)
    for name in box:
        await slave.write(Register[name], 0)
    for _ in range(40):
        value = chance.getrandbits(32)
        match chance.choice(("command", "push", "box", "context", "read")):
            case "command":
                assert await slave.write(Register.COMMAND, value & 7) == OKAY
                expected.append(("command", value & 7))
            case "push":
                assert await slave.write(Register.FILTER, value) == OKAY
                expected.append(("push", value))
            case "box":
                name = chance.choice(list(box))
                box[name] = value
                assert await slave.write(Register[name], value) == OKAY
            case "context":
                row = value % slave.module.size("SUBSCRIBERS")
                assert await slave.write(Register.CONTEXT, row | value & VALID) == OKAY
                bits = sum(each << 32 * i for i, each in enumerate(box.values()))
                expected.append(("context", row, value >> 31, bits))
            case "read":
                assert await slave.read(Register.ID) == ID
                assert await slave.read(Register.VERSION) == VERSION
    assert slave.recorded == expected


@cocotb.test()
@cocotb.parametrize(wait=[0, 1, 3, 20])
async def a_context_is_answered_when_its_row_is_written(dut, wait):
    slave = await Slave.started(dut)
    slave.inputs["context_ready"] = 0
    writing = cocotb.start_soon(slave.write(Register.CONTEXT, 3 | VALID))
    for _ in range(wait + 3):
        await RisingEdge(dut.clk)
    assert not writing.done()
    assert slave.recorded == []
    slave.inputs["context_ready"] = 1
    assert await writing == OKAY
    assert [each[:3] for each in slave.recorded] == [("context", 3, 1)]


@cocotb.test()
async def a_context_that_comes_while_memories_are_initialised_is_dropped_and_told(dut):
    slave = await Slave.started(dut)
    slave.inputs |= {"busy": 1, "initialising": 1, "context_ready": 0}
    assert await slave.write(Register.CONTEXT, 3 | VALID) == OKAY
    assert slave.recorded == []
    assert await slave.read(Register.STATUS) & Status.REFUSED


@cocotb.test()
@cocotb.parametrize(strobe=[0b0000, 0b0001, 0b0111, 0b1110, 0b1011])
async def a_write_of_some_bytes_is_an_error_and_tells_nothing(dut, strobe):
    slave = await Slave.started(dut)
    for register in (Register.COMMAND, Register.FILTER, Register.CONTEXT, Register.X_LOW, Register.TSID):
        assert await slave.write(register, 1, strobe) == SLVERR
    assert slave.recorded == []


@cocotb.test()
async def what_a_command_at_work_needs_is_not_written_over(dut):
    slave = await Slave.started(dut)
    for register, value in ((Register.TSID, 5), (Register.OSID_LOW, 6), (Register.OSID_HIGH, 7)):
        await slave.write(register, value)
    await slave.write(Register.SUBSCRIBER, 2 | VALID)
    slave.inputs["busy"] = 1
    for register in (Register.TSID, Register.OSID_LOW, Register.OSID_HIGH, Register.SUBSCRIBER, Register.FILTER):
        assert await slave.write(register, 1) == OKAY
        assert await slave.read(Register.STATUS) & Status.REFUSED
    for command in (Command.REGISTER, Command.INIT, Command.REMOVE, Command.DROP):
        await slave.write(Register.COMMAND, command)
    assert slave.recorded == []
    seen = await slave.step()
    assert (seen.sid, seen.osid, seen.subscriber, seen.in_context) == (5, 7 << 32 | 6, 2, 1)
    await slave.write(Register.COMMAND, Command.TAKE)
    await slave.write(Register.CONTEXT, 1)
    assert [each[0] for each in slave.recorded] == ["command", "context"]


@cocotb.test()
async def a_dropped_write_is_told_until_the_next_command(dut):
    slave = await Slave.started(dut)
    slave.inputs["busy"] = 1
    await slave.write(Register.FILTER, 1)
    slave.inputs["busy"] = 0
    assert await slave.read(Register.STATUS) & Status.REFUSED
    await slave.write(Register.COMMAND, Command.REGISTER)
    assert not await slave.read(Register.STATUS) & Status.REFUSED


@cocotb.test()
async def a_registered_t_sid_is_read_where_one_is_written(dut):
    slave = await Slave.started(dut)
    await slave.write(Register.TSID, 5)
    assert await slave.read(Register.TSID) == 5
    await slave.step(registered=1, registered_sid=9)
    assert await slave.read(Register.TSID) == 9


@cocotb.test()
async def what_the_core_says_of_itself_is_read(dut):
    slave = await Slave.started(dut)
    values = {name: 1 + i for i, name in enumerate(("s", "s_max", "rows_used", "filters_waiting", "publications"))}
    values |= {f"{name}_cycles": 100 + i for i, name in enumerate(("match", "register", "init", "context"))}
    match = random.Random(9).getrandbits(256) & ~(0xFFFF_FFFF << 64)
    slave.inputs |= {**values, "match": match, "asked_osid": 0xAAAA_BBBB_CCCC_DDDD}
    names = {"s": "S", "rows_used": "FILTERS_USED", "filters_waiting": "FILTER"}
    for name, value in values.items():
        assert await slave.read(Register[names.get(name, name.upper())]) == value
    words = [await slave.read(Register.MATCH + 4 * i) for i in range(8)]
    assert words == [match >> 32 * i & 0xFFFF_FFFF for i in range(8)]
    assert (await slave.read(Register.OSID_LOW), await slave.read(Register.OSID_HIGH)) == (0xCCCC_DDDD, 0xAAAA_BBBB)
    assert await slave.read(Register.STATUS) == 0, "only a result sets the bits for words that are not zero"
    slave.inputs |= {"done": 1, "failure": 3, "hcd": 1}
    assert await slave.read(Register.STATUS) == 0b1111_1011 << 24 | 3 << 8 | Status.DONE | Status.HCD
