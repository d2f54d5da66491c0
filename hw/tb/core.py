"""The whole core for benches: its verbs, over its bus and its stream.

It is driven by cocotbext-axi, an implementation of AXI that is independent of silbo's, so that a mistake in one is not
hidden by the same mistake in the other.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp, AxiStreamBus, AxiStreamFrame, AxiStreamSource

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.driver.registers import (
    FAILURE_MASK,
    FAILURE_SHIFT,
    NO_POSITION,
    NOT_ZERO_SHIFT,
    VALID,
    WORDS,
    Command,
    Failure,
    Register,
    Status,
)
from silbo.hw.tb.pauses import PAUSES

PERIOD = 10  # ns; the value does not matter
PATIENCE = 4_000  # cycles; no operation takes as long, so a longer one hangs
WORD = 0xFFFF_FFFF


@dataclass(frozen=True)
class RegisterAnswer:
    """The answer of REGISTER."""

    failure: Failure
    tsid: int


class CoreUnderTest:
    """The device under test; `idle` and `pressure` are names of `PAUSES`."""

    def __init__(self, dut: HierarchyObject, idle: str = "never", pressure: str = "never") -> None:
        self.dut = dut
        self.bus = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn, reset_active_level=False)
        self.stream = AxiStreamSource(
            AxiStreamBus.from_prefix(dut, "s_axis"), dut.aclk, dut.aresetn, reset_active_level=False, byte_lanes=1
        )
        self._pause(idle, pressure)

    def _pause(self, idle: str, pressure: str) -> None:
        write, read = self.bus.write_if, self.bus.read_if
        for sender in (write.aw_channel, write.w_channel, read.ar_channel, self.stream):
            sender.set_pause_generator(PAUSES[idle]())
        for receiver in (write.b_channel, read.r_channel):
            receiver.set_pause_generator(PAUSES[pressure]())

    @classmethod
    async def started(cls, dut: HierarchyObject, idle: str = "never", pressure: str = "never") -> CoreUnderTest:
        """Start the clock, reset the core, and wait until it is initialised."""
        for name in ("cocotb.x2cbbr", "cocotb.x2cbbr.s_axi", "cocotb.x2cbbr.s_axis"):
            logging.getLogger(name).setLevel(logging.WARNING)
        dut.aresetn.value = 0
        core = cls(dut, idle, pressure)
        Clock(dut.aclk, PERIOD, "ns").start(start_high=False)
        await core.reset()
        return core

    def size(self, name: str) -> int:
        """The value of a parameter."""
        return int(getattr(self.dut, name).value)

    async def reset(self) -> None:
        """Reset, and wait until the core has initialised itself."""
        self.dut.aresetn.value = 0
        await self.cycles(3)
        self.dut.aresetn.value = 1
        await self.idle()

    async def cycles(self, count: int) -> None:
        """Wait for `count` cycles."""
        await ClockCycles(self.dut.aclk, count)

    async def read(self, register: int) -> int:
        """Read a register."""
        answer = await with_timeout(self.bus.read(register, 4), PATIENCE * PERIOD, "ns")
        assert answer.resp == AxiResp.OKAY
        return int.from_bytes(answer.data, "little")

    async def write(self, register: int, value: int) -> None:
        """Write a register, and wait for the answer."""
        await self.write_bytes(register, (value & WORD).to_bytes(4, "little"))

    async def write_bytes(self, address: int, data: bytes) -> None:
        """Write bytes, and check that the answer is OKAY."""
        assert await self.answer(address, data) == AxiResp.OKAY

    async def answer(self, address: int, data: bytes) -> AxiResp:
        """Write bytes; returns the response of the bus."""
        return (await with_timeout(self.bus.write(address, data), PATIENCE * PERIOD, "ns")).resp

    async def status(self) -> Status:
        """The flags in STATUS."""
        return Status(await self.read(Register.STATUS) & 0xFF)

    async def failure(self) -> Failure:
        """Why the last command was refused."""
        return Failure(await self.read(Register.STATUS) >> FAILURE_SHIFT & FAILURE_MASK)

    async def idle(self) -> None:
        """Poll until no command is running."""
        for _ in range(PATIENCE):
            if not await self.status() & Status.BUSY:
                return
        raise AssertionError("BUSY forever")

    async def command(self, command: Command) -> Failure:
        """Run a command to its end; returns its failure."""
        await self.write(Register.COMMAND, command)
        await self.idle()
        return await self.failure()

    async def stage(self, words: list[int], row: int | None, osid: int) -> None:
        """Write a subscription to the registers, without the command."""
        await self.write(Register.OSID_LOW, osid)
        await self.write(Register.OSID_HIGH, osid >> 32)
        await self.write(Register.SUBSCRIBER, 0 if row is None else row | VALID)
        for word in words:
            await self.write(Register.FILTER, word)

    async def register(self, words: list[int], row: int | None = None, osid: int = 0) -> RegisterAnswer:
        """Register a subscription, in context if it has a row."""
        await self.stage(words, row, osid)
        failure = await self.command(Command.REGISTER)
        return RegisterAnswer(failure, await self.read(Register.TSID))

    async def registered(self, words: list[int], row: int | None = None, osid: int = 0) -> int:
        """Register a subscription that must be accepted; its t-SID."""
        answer = await self.register(words, row, osid)
        assert answer.failure == Failure.NONE
        return answer.tsid

    async def remove(self, tsid: int) -> Failure:
        """Remove a subscription."""
        await self.write(Register.TSID, tsid)
        return await self.command(Command.REMOVE)

    async def osid(self, tsid: int) -> int:
        """The o-SID that the SMT holds for a t-SID."""
        await self.write(Register.TSID, tsid)
        return await self.read(Register.OSID_LOW) | await self.read(Register.OSID_HIGH) << 32

    async def set_context(self, row: int, box: DeviceBox | None) -> None:
        """Write a subscriber's box; None removes it."""
        if box is None:
            await self.write(Register.CONTEXT, row)
            return
        await self.stage_box(box)
        await self.write(Register.CONTEXT, row | VALID)

    async def stage_box(self, box: DeviceBox) -> None:
        """Write the four coordinates; this changes no row."""
        await self.write(Register.X_LOW, box.x_low)
        await self.write(Register.X_HIGH, box.x_high)
        await self.write(Register.Y_LOW, box.y_low)
        await self.write(Register.Y_HIGH, box.y_high)

    async def send(self, position: tuple[int, int] | None, words: list[int]) -> None:
        """Queue the beats of a publication, to be sent as fast as the core accepts them."""
        x, y = position or (NO_POSITION, 0)
        await self.stream.send(AxiStreamFrame([x & WORD, y & WORD, *words]))

    async def publish(self, position: tuple[int, int] | None, words: list[int]) -> set[int]:
        """Send a publication; returns the t-SIDs that match."""
        await self.send(position, words)
        return await self.result()

    async def result(self) -> set[int]:
        """Wait for the interrupt, read the result, and take it."""
        await self.interrupt()
        found = await self.matches()
        await self.write(Register.COMMAND, Command.TAKE)
        return found

    async def interrupt(self) -> None:
        """Wait for a result."""
        if not self.dut.irq.value:
            await with_timeout(RisingEdge(self.dut.irq), PATIENCE * PERIOD, "ns")

    async def matches(self) -> set[int]:
        """The t-SIDs in those words of MATCH that STATUS says are not zero."""
        not_zero = await self.read(Register.STATUS) >> NOT_ZERO_SHIFT
        words = {i: await self.read(Register.MATCH + 4 * i) for i in range(WORDS) if not_zero >> i & 1}
        assert all(words.values())
        return {32 * i + bit for i, word in words.items() for bit in range(32) if word >> bit & 1}


async def timed(core: CoreUnderTest) -> int:
    """The cycles from a publication's first beat to its result, counted by the bench."""
    dut = core.dut
    await RisingEdge(dut.aclk)
    while not (dut.s_axis_tvalid.value and dut.s_axis_tready.value):
        await RisingEdge(dut.aclk)
    count = 0
    while not dut.irq.value:
        await RisingEdge(dut.aclk)
        count += 1
    return count
