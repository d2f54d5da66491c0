"""The cycles of the last time something ran."""

from __future__ import annotations

import cocotb

from silbo.hw.tb.module import Module


@cocotb.test()
async def it_counts_the_cycles_of_the_last_run_and_keeps_them(dut):
    watch = await Module.started(dut, "running", "cycles_reg", "rst")
    assert (await watch.step()).cycles_reg == 0
    for count in (1, 7, 2):
        await watch.steps(count, running=1)
        assert [each.cycles_reg for each in await watch.steps(4)] == [count] * 4
