"""FSM2: a filter is found in the CAM or written to a free entry, and its row is handed to FSM3."""

from __future__ import annotations

import cocotb

from silbo.hw.tb.module import Module

DELAYS = [1, 4, 9]  # cycles that FSM3 takes
LATENCIES = [1, 4, 7]  # of the CAM. It has 4, but FSM2 waits for the answer and must not depend on that.


async def started(dut):
    return await Module.started(
        dut, "filter_valid answer_valid answer_hit append_done append_failed",
        "filter_done filter_failed key_valid key write write_address append append_address", "rst",
        filter=0, answer_address=0, crt_is_full=0, crt_free=0,
    )  # fmt: skip


async def answered(fsm, latency=4, **answer):
    """Give a filter and, `latency` cycles later, the CAM's answer; returns the outputs of that cycle."""
    first = await fsm.step(filter_valid=1, filter=77)
    assert (first.key_valid, first.key) == (1, 77)
    for seen in await fsm.steps(latency - 1, filter_valid=1):
        assert not (seen.key_valid or seen.write or seen.append or seen.filter_done or seen.filter_failed)
    return await fsm.step(filter_valid=1, answer_valid=1, **answer)


async def appended(fsm, delay, **how):
    for seen in await fsm.steps(delay - 1, filter_valid=1):
        assert not (seen.filter_done or seen.filter_failed or seen.key_valid)
    return await fsm.step(filter_valid=1, **how)


@cocotb.test()
@cocotb.parametrize(delay=DELAYS, latency=LATENCIES, full=[0, 1])
async def a_filter_that_is_there_is_appended_to_its_row(dut, delay, latency, full):
    fsm = await started(dut)
    seen = await answered(fsm, latency, answer_hit=1, answer_address=6, crt_free=3, crt_is_full=full)
    assert (seen.append, seen.append_address, seen.write, seen.filter_failed) == (1, 6, 0, 0)
    assert (await appended(fsm, delay, append_done=1)).filter_done
    assert (await fsm.step(filter_valid=1, filter=8)).key_valid, "the next filter may follow at once"


@cocotb.test()
@cocotb.parametrize(delay=DELAYS, latency=LATENCIES)
async def a_new_filter_is_written_into_the_free_entry(dut, delay, latency):
    fsm = await started(dut)
    seen = await answered(fsm, latency, answer_hit=0, answer_address=6, crt_free=3)
    assert (seen.append, seen.append_address, seen.write, seen.write_address) == (1, 3, 1, 3)
    assert (await appended(fsm, delay, append_done=1)).filter_done


@cocotb.test()
@cocotb.parametrize(latency=LATENCIES)
async def a_new_filter_without_a_free_entry_fails_and_nothing_is_written(dut, latency):
    fsm = await started(dut)
    seen = await answered(fsm, latency, answer_hit=0, crt_is_full=1)
    assert (seen.append, seen.write, seen.filter_failed) == (0, 0, 1)
    assert not (await fsm.step()).key_valid


@cocotb.test()
@cocotb.parametrize(delay=DELAYS)
async def a_row_that_cannot_grow_fails(dut, delay):
    fsm = await started(dut)
    await answered(fsm, answer_hit=1, answer_address=6)
    seen = await appended(fsm, delay, append_failed=1)
    assert (seen.filter_failed, seen.filter_done) == (1, 0)
