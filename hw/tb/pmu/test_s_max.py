"""S_max and HCD: how many subscriptions there may be, and whether a filter has a high commonality degree.

Inputs other than `hcd` are levels that are read in every cycle, and one `hcd` is remembered until the reset. So
pauses make no difference here.
"""

from __future__ import annotations

import cocotb

from silbo.hw.tb.module import Module


@cocotb.test()
async def a_full_crt_keeps_what_it_has_and_another_all_t_sids(dut):
    judge = await Module.started(dut, "hcd", "s_max_reg hcd_reg", "rst", crt_is_full=0, s=3)
    await judge.step()
    assert (await judge.step()).s_max_reg == judge.size("SIDS") - 1
    await judge.step(crt_is_full=1, s=7)
    assert (await judge.step(crt_is_full=0)).s_max_reg == 7
    assert (await judge.step()).s_max_reg == judge.size("SIDS") - 1


@cocotb.test()
async def high_commonality_is_told_until_it_is_reset(dut):
    judge = await Module.started(dut, "hcd", "s_max_reg hcd_reg", "rst", crt_is_full=0, s=0)
    assert not (await judge.step()).hcd_reg
    await judge.step(hcd=1)
    assert all(each.hcd_reg for each in await judge.steps(9))
    await judge.step(rst=1)
    assert not (await judge.step(rst=0)).hcd_reg
