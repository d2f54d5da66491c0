"""The storing counters: how many filters each subscription has."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES
from silbo.hw.tb.planes import counts


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def each_counter_counts_alone_and_forgets_alone(dut, idle):
    counters = await Module.started(dut, "count forget", "planes", "clear", who=0)
    chance, expected = random.Random(6), [0] * counters.size("SIDS")
    for _, pause in zip(range(300), PAUSES[idle](), strict=False):
        sid = chance.randrange(len(expected))
        leaves = chance.random() < 0.1 or expected[sid] == 16
        await counters.step(count=not pause and not leaves, forget=not pause and leaves, who=1 << sid)
        if not pause:
            expected[sid] = 0 if leaves else expected[sid] + 1
    assert counts(counters, (await counters.step()).planes) == expected
    await counters.step(clear=1)
    assert (await counters.step(clear=0)).planes == 0
