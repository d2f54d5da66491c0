"""The matching counters: how many filters of each subscription a publication has; one step counts for all."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES
from silbo.hw.tb.planes import counts


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def all_that_are_found_are_counted(dut, idle):
    counters = await Module.started(dut, "found", "planes", "clear")
    chance = random.Random(6)
    for _ in range(3):
        expected = [0] * counters.size("SIDS")
        for _, pause in zip(range(16), PAUSES[idle](), strict=False):
            found = 0 if pause else chance.getrandbits(len(expected))
            await counters.step(found=found)
            expected = [count + (found >> t & 1) for t, count in enumerate(expected)]
        assert counts(counters, (await counters.step()).planes) == expected
        await counters.step(clear=1)
        assert (await counters.step(clear=0)).planes == 0
