"""The whole core in context: boxes and their borders, and a row that moves while a scan runs."""

from __future__ import annotations

import cocotb
from cocotb.triggers import RisingEdge

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.driver.registers import (
    VALID,
    Register,
)  # fmt: skip
from silbo.hw.tb.core import CoreUnderTest
from silbo.hw.tb.meaning import word

HERE = (10, 10)
AROUND = DeviceBox(0, 20, 0, 20)
FAR = DeviceBox(1000, 1020, 1000, 1020)


@cocotb.test()
async def the_borders_of_a_box_belong_to_it(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered([word(1, 1)], 2)
    await core.set_context(2, DeviceBox(-3, 5, -7, 11))
    for x in (-4, -3, 0, 5, 6):
        for y in (-8, -7, 0, 11, 12):
            inside = -3 <= x <= 5 and -7 <= y <= 11
            assert await core.publish((x, y), [word(1, 1)]) == ({tsid} if inside else set())


@cocotb.test()
async def a_box_reaches_from_the_lowest_number_to_the_highest(dut):
    core = await CoreUnderTest.started(dut)
    tsid = await core.registered([word(1, 1)], 2)
    await core.set_context(2, DeviceBox(-(2**31), 2**31 - 1, -(2**31), 2**31 - 1))
    for x in (-(2**31) + 1, -1, 0, 2**31 - 1):
        for y in (-(2**31), -1, 0, 2**31 - 1):
            assert await core.publish((x, y), [word(1, 1)]) == {tsid}
    assert await core.publish(None, [word(1, 1)]) == set()


@cocotb.test()
async def who_has_no_position_is_not_matched_in_context(dut):
    core = await CoreUnderTest.started(dut)
    inside = await core.registered([word(1, 1)], 0)
    outside = await core.registered([word(1, 1)])
    assert await core.publish(HERE, [word(1, 1)]) == {outside}
    await core.set_context(0, AROUND)
    assert await core.publish(HERE, [word(1, 1)]) == {inside, outside}
    assert await core.publish(None, [word(1, 1)]) == {outside}
    await core.set_context(0, None)
    assert await core.publish(HERE, [word(1, 1)]) == {outside}


@cocotb.test()
async def every_row_has_a_box_of_its_own(dut):
    core = await CoreUnderTest.started(dut)
    rows = range(0, core.size("SUBSCRIBERS"), max(1, core.size("SUBSCRIBERS") // 12))
    tsids = {row: await core.registered([word(1, 1)], row) for row in rows}
    for row in rows:
        await core.set_context(row, DeviceBox(row, row, -row, -row))
    for row in rows:
        assert await core.publish((row, -row), [word(1, 1)]) == {tsids[row]}


@cocotb.test()
async def one_subscriber_may_have_many_subscriptions(dut):
    core = await CoreUnderTest.started(dut)
    last = core.size("SUBSCRIBERS") - 1
    tsids = {await core.registered([word(1, 1)], last) for _ in range(4)}
    assert await core.publish(HERE, [word(1, 1)]) == set()
    await core.set_context(last, AROUND)
    assert await core.publish(HERE, [word(1, 1)]) == tsids


@cocotb.test()
async def staged_coordinates_change_nothing_and_stay_for_the_next_row(dut):
    core = await CoreUnderTest.started(dut)
    tsids = [await core.registered([word(1, 1)], row) for row in (1, 2)]
    await core.set_context(1, AROUND)
    await core.stage_box(FAR)
    assert await core.publish(HERE, [word(1, 1)]) == {tsids[0]}
    await core.write(Register.CONTEXT, 2 | VALID)
    assert await core.publish((1010, 1010), [word(1, 1)]) == {tsids[1]}
    await core.write(Register.X_LOW, 0)
    await core.write(Register.Y_LOW, 0)
    await core.write(Register.CONTEXT, 2 | VALID)
    assert await core.publish(HERE, [word(1, 1)]) == set(tsids)


@cocotb.test()
async def a_publication_sees_the_contexts_as_they_were_when_its_position_came(dut):
    """A row moves at every moment around a scan: the publication sees one box or the other, and never parts of both."""
    core = await CoreUnderTest.started(dut)
    first, *rows = 0, core.size("SUBSCRIBERS") // 2, core.size("SUBSCRIBERS") - 1
    west, east, in_west, in_east = DeviceBox(0, 20, 1000, 1020), DeviceBox(1000, 1020, 0, 20), (10, 1010), (1010, 10)
    scan = core.size("SUBSCRIBERS") // core.size("LANES")
    constant = await core.registered([word(1, 1)], first)
    await core.set_context(first, AROUND)
    moments = set()
    for row in rows:
        tsid = await core.registered([word(1, 1)], row)
        for delay in range(-8, scan + 10):
            for place in (in_west, in_east, HERE):
                await core.set_context(row, west)
                await core.stage_box(east)
                moved, came, waited = await moved_around(core, place, row, delay)
                moments.add(moved - came)
                seen_in = in_east if moved <= came else in_west
                expected = {constant} if place == HERE else {tsid} if place == seen_in else set()
                assert await core.result() == expected, (row, delay, place, moved, came)
                assert await core.publish(in_east, [word(1, 1)]) == {tsid}
                assert waited <= scan + 8
        await core.set_context(row, None)
    assert min(moments) < 0 < scan < max(moments), "before, and after a wait"
    assert not moments & set(range(1, scan)), "no write is answered while the scan runs"


async def moved_around(core, place, row, delay):
    """Publish, and write the row `delay` cycles later (or before, if it is negative).

    Returns the cycle in which the write was answered, which is the one after the row was written; the cycle in which
    the position arrived; and the cycles that the write took.
    """
    watching = cocotb.start_soon(moments_of(core.dut))
    writing = None
    for cycle in range(min(delay, 0), max(delay, 0) + 1):
        if cycle == 0:
            await core.send(place, [word(1, 1)])
        if cycle == delay:
            writing = cocotb.start_soon(core.write(Register.CONTEXT, row | VALID))
        await core.cycles(1)
    await writing
    return await watching


async def moments_of(dut):
    """The cycles in which the next write is answered and the next position arrives, and how long the write took."""
    answered = asked = came = None
    beats = clock = 0
    while answered is None or came is None:
        await RisingEdge(dut.aclk)
        clock += 1
        beats += bool(dut.s_axis_tvalid.value and dut.s_axis_tready.value)
        came = clock if beats == 2 and came is None else came
        asked = clock if dut.s_axi_awvalid.value and asked is None else asked
        answered = clock if dut.s_axi_bvalid.value and answered is None else answered
    return answered, came, answered - asked
