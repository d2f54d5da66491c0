"""The stopwatch: the cycles of the last run."""

from __future__ import annotations

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


@cocotb.test()
async def it_counts_the_cycles_of_the_last_run_and_keeps_them(dut):
    watch = await Module.started(dut, "running", "cycles_reg", "rst")
    assert (await watch.step()).cycles_reg == 0
    for count in (1, 7, 2):
        await watch.steps(count, running=1)
        assert [each.cycles_reg for each in await watch.steps(4)] == [count] * 4


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def each_pause_ends_a_run_and_the_next_one_is_counted_from_1(dut, idle):
    watch = await Module.started(dut, "running", "cycles_reg", "rst")
    last = count = 0
    for _, pause in zip(range(60), PAUSES[idle](), strict=False):
        assert (await watch.step(running=not pause)).cycles_reg == last
        count = 0 if pause else count + 1
        last = count or last
