"""FSM1: a subscription is registered completely or not at all, however long FSM2 and FSM3 take."""

from __future__ import annotations

import cocotb

from silbo.hw.driver.registers import Failure
from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES

DELAYS = [1, 2, 7]  # cycles that FSM2 and FSM3 take


async def started(dut):
    return await Module.started(
        dut, "push drop start_register start_remove filter_done filter_failed sweep_done",
        "count busy finished failure sid who_reg smt_take smt_give sid_next filter_valid filter sweep_start", "rst",
        push_filter=0, remove_sid=0, smt_is_full=0, smt_free=5, smt_is_used=0,
    )  # fmt: skip


async def pushed(fsm, filters, idle="never"):
    waiting = list(filters)
    for pause in PAUSES[idle]():
        if not waiting:
            return
        await fsm.step(push=not pause, push_filter=0xDEAD if pause else waiting.pop(0))


async def ended(fsm, seen, delay, fails_at=None):
    """Answer for FSM2 and FSM3, each after `delay` cycles; returns what FSM1 did until it was finished."""
    filters, sweeps, gives, waited = [], 0, 0, 0
    for _ in range(400):
        sweeps, gives = sweeps + seen.sweep_start, gives + seen.smt_give
        if seen.finished:
            return filters, sweeps, gives, Failure(seen.failure)
        is_asked = fsm.dut.filter_valid.value or sweeps
        waited = waited + 1 if is_asked and not seen.sweep_start else 0
        answer = "sweep_done" if sweeps else "filter_failed" if len(filters) == fails_at else "filter_done"
        answers = waited > 3 * sweeps + delay - 1  # a sweep takes longer than anything else
        seen = await fsm.step(**{answer: int(answers)})
        filters += [seen.filter] if answers and not sweeps else []
        waited = 0 if answers else waited
    raise AssertionError("it never ends")


@cocotb.test()
@cocotb.parametrize(delay=DELAYS, count=[1, 2, 16], idle=NAMES)
async def each_filter_is_handed_on_once_and_the_t_sid_is_the_free_one(dut, delay, count, idle):
    fsm = await started(dut)
    await pushed(fsm, range(100, 100 + count), idle)
    assert (await fsm.step()).count == count
    first = await fsm.step(start_register=1)
    assert (first.smt_take, first.sid_next) == (1, 5)
    filters, sweeps, gives, failure = await ended(fsm, first, delay)
    assert (filters, sweeps, gives, failure) == (list(range(100, 100 + count)), 0, 0, Failure.NONE)
    after = await fsm.step()
    assert (after.sid, after.who_reg, after.count, after.busy) == (5, 1 << 5, 0, 0)


@cocotb.test()
@cocotb.parametrize((("count", "full", "failure"), [(0, 0, 1), (17, 0, 2), (30, 0, 2), (3, 1, 3)]))
async def what_cannot_be_registered_is_refused_at_once_and_cleared(dut, count, full, failure):
    fsm = await started(dut)
    await pushed(fsm, range(count))
    seen = await fsm.step(start_register=1, smt_is_full=full)
    assert (seen.finished, seen.failure, seen.smt_take, seen.sweep_start) == (1, failure, 0, 0)
    after = await fsm.step()
    assert (after.count, after.busy) == (0, 0)


@cocotb.test()
@cocotb.parametrize(delay=DELAYS, fails_at=[0, 1, 4])
async def a_filter_without_room_takes_the_others_out_again(dut, delay, fails_at):
    fsm = await started(dut)
    await pushed(fsm, range(5))
    filters, sweeps, gives, failure = await ended(fsm, await fsm.step(start_register=1), delay, fails_at)
    assert filters == list(range(fails_at + 1))
    assert (sweeps, gives, failure) == (1, 1, Failure.CRT_FULL)
    assert (await fsm.step()).count == 0


@cocotb.test()
@cocotb.parametrize(delay=DELAYS)
async def a_subscription_is_removed_by_a_sweep_and_the_filters_at_hand_stay(dut, delay):
    fsm = await started(dut)
    await pushed(fsm, [1, 2])
    first = await fsm.step(start_remove=1, remove_sid=9, smt_is_used=1)
    assert not first.finished
    filters, sweeps, gives, failure = await ended(fsm, first, delay)
    assert (filters, sweeps, gives, failure) == ([], 1, 1, Failure.NONE)
    after = await fsm.step()
    assert (after.sid, after.count) == (9, 2)


@cocotb.test()
async def who_is_not_there_is_not_removed(dut):
    fsm = await started(dut)
    seen = await fsm.step(start_remove=1, remove_sid=9, smt_is_used=0)
    assert (seen.finished, seen.failure, seen.sweep_start, seen.smt_give) == (1, Failure.NO_SUCH_TSID, 0, 0)
    assert not (await fsm.step()).busy


@cocotb.test()
async def dropped_filters_are_gone(dut):
    fsm = await started(dut)
    await pushed(fsm, range(17))
    await fsm.step(drop=1)
    await pushed(fsm, [7])
    filters, *_ = await ended(fsm, await fsm.step(start_register=1), 1)
    assert filters == [7]
