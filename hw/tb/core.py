"""The whole core as a bench uses it: over its bus and its stream, with the registers' names.

It is driven by cocotbext-axi, whose idea of AXI is not ours: a mistake in the one is not hidden by the other.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp, AxiStreamBus, AxiStreamFrame, AxiStreamSource

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

PERIOD = 10  # ns; it means nothing
PATIENCE = 4_000  # cycles; nothing takes so long, and what does hangs
WORD = 0xFFFF_FFFF


@dataclass(frozen=True)
class Box:
    """Where a subscriber wants publications from, borders included; numbers as the device holds them."""

    x_low: int
    x_high: int
    y_low: int
    y_high: int


@dataclass(frozen=True)
class Registered:
    """What REGISTER answered."""

    failure: Failure
    tsid: int


class Core:
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
    async def started(cls, dut: HierarchyObject, idle: str = "never", pressure: str = "never") -> Core:
        """Out of reset and initialised."""
        for name in ("cocotb.x2cbbr", "cocotb.x2cbbr.s_axi", "cocotb.x2cbbr.s_axis"):
            logging.getLogger(name).setLevel(logging.WARNING)
        dut.aresetn.value = 0
        core = cls(dut, idle, pressure)
        Clock(dut.aclk, PERIOD, "ns").start(start_high=False)
        await core.reset()
        return core

    def size(self, name: str) -> int:
        """A parameter."""
        return int(getattr(self.dut, name).value)

    async def reset(self) -> None:
        """Reset, and wait until the core has initialised itself."""
        self.dut.aresetn.value = 0
        await self.cycles(3)
        self.dut.aresetn.value = 1
        await self.idle()

    async def cycles(self, count: int) -> None:
        """Let so many pass."""
        await ClockCycles(self.dut.aclk, count)

    async def read(self, register: int) -> int:
        """A register's value."""
        answer = await with_timeout(self.bus.read(register, 4), PATIENCE * PERIOD, "ns")
        assert answer.resp == AxiResp.OKAY
        return int.from_bytes(answer.data, "little")

    async def write(self, register: int, value: int) -> None:
        """Write one, and wait for the answer."""
        await self.write_bytes(register, (value & WORD).to_bytes(4, "little"))

    async def write_bytes(self, address: int, data: bytes) -> None:
        """Write them, and see that they were taken."""
        assert await self.answer(address, data) == AxiResp.OKAY

    async def answer(self, address: int, data: bytes) -> AxiResp:
        """What the bus says to a write."""
        return (await with_timeout(self.bus.write(address, data), PATIENCE * PERIOD, "ns")).resp

    async def status(self) -> Status:
        """The bits of STATUS that say what the core does."""
        return Status(await self.read(Register.STATUS) & 0xFF)

    async def failure(self) -> Failure:
        """Why the last command was refused."""
        return Failure(await self.read(Register.STATUS) >> FAILURE_SHIFT & FAILURE_MASK)

    async def idle(self) -> None:
        """Poll until no command is at work."""
        for _ in range(PATIENCE):
            if not await self.status() & Status.BUSY:
                return
        raise AssertionError("BUSY for ever")

    async def command(self, command: Command) -> Failure:
        """Do it, to its end."""
        await self.write(Register.COMMAND, command)
        await self.idle()
        return await self.failure()

    async def stage(self, words: list[int], row: int | None, osid: int) -> None:
        """Write a subscription down, all but the command."""
        await self.write(Register.OSID_LOW, osid)
        await self.write(Register.OSID_HIGH, osid >> 32)
        await self.write(Register.SUBSCRIBER, 0 if row is None else row | VALID)
        for word in words:
            await self.write(Register.FILTER, word)

    async def register(self, words: list[int], row: int | None = None, osid: int = 0) -> Registered:
        """One more subscription; in context if it has a row."""
        await self.stage(words, row, osid)
        failure = await self.command(Command.REGISTER)
        return Registered(failure, await self.read(Register.TSID))

    async def registered(self, words: list[int], row: int | None = None, osid: int = 0) -> int:
        """The t-SID of one that must be taken."""
        answer = await self.register(words, row, osid)
        assert answer.failure == Failure.NONE
        return answer.tsid

    async def remove(self, tsid: int) -> Failure:
        """One subscription less."""
        await self.write(Register.TSID, tsid)
        return await self.command(Command.REMOVE)

    async def osid(self, tsid: int) -> int:
        """What the SMT holds for a t-SID."""
        await self.write(Register.TSID, tsid)
        return await self.read(Register.OSID_LOW) | await self.read(Register.OSID_HIGH) << 32

    async def set_context(self, row: int, box: Box | None) -> None:
        """Where a subscriber is; None: nowhere."""
        if box is None:
            await self.write(Register.CONTEXT, row)
            return
        await self.stage_box(box)
        await self.write(Register.CONTEXT, row | VALID)

    async def stage_box(self, box: Box) -> None:
        """Write the four coordinates down, which changes no row."""
        await self.write(Register.X_LOW, box.x_low)
        await self.write(Register.X_HIGH, box.x_high)
        await self.write(Register.Y_LOW, box.y_low)
        await self.write(Register.Y_HIGH, box.y_high)

    async def send(self, position: tuple[int, int] | None, words: list[int]) -> None:
        """A publication's beats, to be sent as fast as the core takes them."""
        x, y = position or (NO_POSITION, 0)
        await self.stream.send(AxiStreamFrame([x & WORD, y & WORD, *words]))

    async def publish(self, position: tuple[int, int] | None, words: list[int]) -> set[int]:
        """The t-SIDs that a publication matches."""
        await self.send(position, words)
        return await self.result()

    async def result(self) -> set[int]:
        """Wait for the interrupt, read what it is about, and take it."""
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


async def timed(core: Core) -> int:
    """The cycles from a publication's first beat to its result, by the bench's own count of clocks."""
    dut = core.dut
    await RisingEdge(dut.aclk)
    while not (dut.s_axis_tvalid.value and dut.s_axis_tready.value):
        await RisingEdge(dut.aclk)
    count = 0
    while not dut.irq.value:
        await RisingEdge(dut.aclk)
        count += 1
    return count
