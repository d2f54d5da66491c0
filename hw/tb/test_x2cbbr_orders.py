"""The whole core at the wrong time: commands in publications, publications in commands, resets, refused writes."""

from __future__ import annotations

import cocotb
from cocotbext.axi import AxiResp, AxiStreamFrame

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.driver.registers import (
    NOT_ZERO_SHIFT,
    VALID,
    WORDS,
    Command,
    Failure,
    Register,
    Status,
)  # fmt: skip
from silbo.hw.tb.core import CoreUnderTest
from silbo.hw.tb.meaning import word, words_of
from silbo.hw.tb.pauses import NAMES

HERE = (10, 10)
AROUND = DeviceBox(0, 20, 0, 20)


# commands at the wrong time


@cocotb.test()
async def a_command_in_a_publication_waits_for_its_result(dut):
    core = await CoreUnderTest.started(dut, "alternating")
    old = await core.registered([word(1, 1)])
    await core.stage([word(1, 1)], None, 5)
    await core.send(None, [word(1, 1), *words_of([(9, i) for i in range(60)])])
    while not await core.status() & Status.MATCHING:
        pass
    await core.write(Register.COMMAND, Command.REGISTER)
    assert await core.status() & Status.BUSY
    assert await core.result() == {old}
    await core.idle()
    assert await core.failure() == Failure.NONE
    new = await core.read(Register.TSID)
    assert await core.publish(None, [word(1, 1)]) == {old, new}


@cocotb.test()
async def a_removal_in_a_publication_waits_for_its_result(dut):
    core = await CoreUnderTest.started(dut, "alternating")
    leaving = await core.registered([word(1, 1), word(9, 59)])
    await core.write(Register.TSID, leaving)
    await core.send(None, [word(1, 1), *words_of([(9, i) for i in range(60)])])
    while not await core.status() & Status.MATCHING:
        pass
    await core.write(Register.COMMAND, Command.REMOVE)
    assert await core.result() == {leaving}
    await core.idle()
    assert await core.publish(None, [word(1, 1), word(9, 59)]) == set()


@cocotb.test()
async def a_publication_in_a_command_waits_for_its_end(dut):
    core = await CoreUnderTest.started(dut)
    words = words_of([(name, 1) for name in range(12)])
    await core.stage(words, None, 5)
    await core.write(Register.COMMAND, Command.REGISTER)
    await core.send(None, words)
    assert await core.result() == {1}
    await core.write(Register.TSID, 1)
    await core.write(Register.COMMAND, Command.REMOVE)
    await core.send(None, words)
    assert await core.result() == set()


@cocotb.test()
async def a_result_is_held_until_it_is_taken(dut):
    core = await CoreUnderTest.started(dut)
    first = await core.registered([word(1, 1)])
    second = await core.registered([word(2, 1)])
    await core.send(None, [word(1, 1)])
    await core.send(None, [word(2, 1)])
    await core.interrupt()
    await core.cycles(100)
    assert await core.matches() == {first}
    assert await core.status() & Status.DONE
    assert await core.remove(first) == Failure.NONE
    assert await core.matches() == {first}, "a command in between does not touch it"
    await core.write(Register.COMMAND, Command.TAKE)
    assert await core.result() == {second}
    assert not await core.status() & Status.DONE
    assert await core.read(Register.PUBLICATIONS) == 2


@cocotb.test()
async def status_says_of_a_result_which_words_are_not_zero(dut):
    core = await CoreUnderTest.started(dut)
    for tsid in range(1, core.size("SIDS")):
        await core.registered([word(tsid // 32, 1)])
    for number in range(core.size("SIDS") // 32):
        await core.send(None, [word(number, 1)])
        await core.interrupt()
        assert await core.read(Register.STATUS) >> NOT_ZERO_SHIFT == 1 << number
        words = [await core.read(Register.MATCH + 4 * i) for i in range(WORDS)]
        assert [bool(each) for each in words] == [i == number for i in range(WORDS)]
        await core.write(Register.COMMAND, Command.TAKE)
        assert await core.read(Register.STATUS) >> NOT_ZERO_SHIFT == 0


@cocotb.test()
async def what_is_written_while_a_command_is_at_work_is_refused(dut):
    core = await CoreUnderTest.started(dut)
    kept_tsid = await core.registered([word(1, 1)], None, 77)
    await core.stage([word(2, 1), word(3, 1)], None, 88)
    await core.send(None, words_of([(9, i) for i in range(100)]))  # REGISTER waits for its end
    while not await core.status() & Status.MATCHING:
        pass
    await core.write(Register.COMMAND, Command.REGISTER)
    for register, value in (
        (Register.COMMAND, Command.INIT), (Register.FILTER, word(4, 1)), (Register.OSID_LOW, 1),
        (Register.OSID_HIGH, 1), (Register.SUBSCRIBER, 1 | VALID), (Register.TSID, kept_tsid),
    ):  # fmt: skip
        assert await core.status() & Status.BUSY
        await core.write(register, value)
        assert await core.status() & Status.REFUSED
    assert await core.result() == set()
    await core.idle()
    assert await core.read(Register.TSID) == kept_tsid + 1
    assert await core.osid(kept_tsid + 1) == 88
    assert await core.publish(None, words_of([(1, 1), (2, 1), (3, 1)])) == {kept_tsid, kept_tsid + 1}


@cocotb.test()
async def a_command_that_comes_just_when_another_ends_is_refused_or_done_right(dut):
    """STATUS is not read in between. The SMT is full until REMOVE ends, so REGISTER shows whether it knows of that."""
    core = await CoreUnderTest.started(dut)
    for tsid in range(1, core.size("SIDS")):
        await core.registered([word(tsid % 4, 1)])
    for delay in range(core.size("FILTERS") - 12, core.size("FILTERS") + 14):
        await core.stage([word(2, 1)], None, 0)
        await core.write(Register.TSID, 3)
        await core.write(Register.COMMAND, Command.REMOVE)
        await core.cycles(delay)
        await core.write(Register.COMMAND, Command.REGISTER)
        await core.idle()
        if await core.status() & Status.REFUSED:
            await core.command(Command.REGISTER)
        assert await core.failure() == Failure.NONE, delay
        assert await core.read(Register.TSID) == 3


@cocotb.test()
async def a_command_that_there_is_not_does_nothing(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered([word(1, 1)])
    for code in (0, 6, 7, 0x100 | Command.INIT, 0xFFFF_FFFF):
        await core.command(code)
    assert await core.publish(None, [word(1, 1)]) == {tsid}


@cocotb.test()
async def init_forgets_everything(dut):
    core = await CoreUnderTest.started(dut)
    await core.registered([word(1, 1)])
    await core.registered([word(1, 1), word(2, 1)], 3)
    await core.set_context(3, AROUND)
    assert await core.publish(HERE, words_of([(1, 1), (2, 1)])) == {1, 2}
    assert await core.command(Command.INIT) == Failure.NONE
    assert [await core.read(each) for each in (Register.S, Register.FILTERS_USED, Register.PUBLICATIONS)] == [0, 0, 0]
    assert await core.publish(HERE, words_of([(1, 1), (2, 1)])) == set()
    assert await core.registered([word(2, 1)], 3) == 1
    assert await core.publish(HERE, words_of([(1, 1), (2, 1)])) == set(), "the context was cleared too"
    assert await core.read(Register.PUBLICATIONS) == 2


# reset


@cocotb.test()
@cocotb.parametrize(at=[1, 2, 5, 9, 14])
async def a_reset_in_the_middle_leaves_an_empty_core(dut, at):
    """A publication, a scan and a command are running; each moment leaves another step half done."""
    core = await CoreUnderTest.started(dut)
    words = words_of([(name, 1) for name in range(8)])
    for _ in range(3):
        await core.registered(words, 1)
    await core.set_context(1, AROUND)
    await core.stage(words, 1, 1)
    await core.send(HERE, words * 4)
    await core.cycles(at)
    await core.reset()
    assert [await core.read(each) for each in (Register.S, Register.FILTERS_USED, Register.FILTER)] == [0, 0, 0]
    assert await core.publish(HERE, words) == set()
    assert await core.registered(words, 1) == 1
    assert await core.publish(HERE, words) == set(), "the context was cleared too"
    await core.stage(words, None, 1)
    writing = cocotb.start_soon(core.write(Register.COMMAND, Command.REGISTER))
    await core.cycles(at + 2)
    writing.cancel()
    await core.reset()
    assert await core.registered(words) == 1
    assert await core.publish(None, words) == {1}


# publications of odd sizes


@cocotb.test()
async def publications_may_be_short(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered([word(1, 1)])
    assert await core.publish(HERE, []) == set()
    assert await core.publish(None, [word(1, 1)]) == {tsid}
    assert await core.publish(None, []) == set()


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def publications_may_follow_each_other_at_once(dut, idle):
    core = await CoreUnderTest.started(dut, idle)
    tsids = [await core.registered([word(name, 1)]) for name in range(4)]
    for i in range(12):
        await core.send(None, [word(i % 4, 1), word(8, i)])
    for i in range(12):
        assert await core.result() == {tsids[i % 4]}


@cocotb.test()
async def a_publication_of_a_single_beat_has_no_words_and_no_position(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered([word(1, 1)])
    await core.stream.send(AxiStreamFrame([5]))
    assert await core.result() == set()
    assert await core.publish(None, [word(1, 1)]) == {tsid}


# refused writes


@cocotb.test()
async def a_write_of_less_than_four_bytes_is_an_error_and_changes_nothing(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered([word(1, 1)], 1)
    await core.set_context(1, AROUND)
    for register in (Register.COMMAND, Register.FILTER, Register.X_LOW, Register.CONTEXT, Register.TSID):
        for at, data in ((0, b"\x01"), (1, b"\x01"), (2, b"\x01\x00"), (0, b"\x01\x00\x00")):
            assert await core.answer(register + at, data) == AxiResp.SLVERR
    await core.write(Register.CONTEXT, 1 | VALID)
    await core.idle()
    assert await core.read(Register.FILTER) == 0
    assert await core.publish(HERE, [word(1, 1)]) == {tsid}


@cocotb.test()
async def a_row_or_a_t_sid_that_there_is_not_is_an_error_and_changes_nothing(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered([word(1, 1)], 1)
    await core.set_context(1, AROUND)
    rows, sids = core.size("SUBSCRIBERS"), core.size("SIDS")
    for register, value in (
        (Register.CONTEXT, rows | 1), (Register.CONTEXT, 1 << 30 | 1), (Register.SUBSCRIBER, rows | VALID),
        (Register.TSID, sids | tsid), (Register.TSID, VALID | tsid),
    ):  # fmt: skip
        assert await core.answer(register, value.to_bytes(4, "little")) == AxiResp.SLVERR
    assert await core.read(Register.TSID) == tsid
    assert await core.publish(HERE, [word(1, 1)]) == {tsid}
