"""A match needs a matching counter equal to the storing counter, a storing counter above 0, and the right context."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


async def started(dut):
    return await Module.started(
        dut, "store forget start found finish", "match_reg", "rst", who=0, is_selected=(1 << int(dut.SIDS.value)) - 1
    )


async def stored(engine, sid, count):
    for _ in range(count):
        await engine.step(store=1, who=1 << sid)


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def who_has_as_many_as_it_stored_matches(dut, idle):
    engine = await started(dut)
    sids = engine.size("SIDS")
    has = [0] + [1 + t % engine.size("MOST") for t in range(1, sids)]
    for t in range(1, sids):
        await stored(engine, t, has[t])
    chance = random.Random(idle)
    for _ in range(5):
        gets = [chance.choice((max(count - 1, 0), count, count)) for count in has]
        selected = chance.getrandbits(sids)
        left = list(gets)
        await engine.step(start=1)
        for pause in PAUSES[idle]():
            if not any(left):
                break
            found = [bool(count) and not pause and chance.random() < 0.7 for count in left]
            left = [count - is_found for count, is_found in zip(left, found, strict=True)]
            await engine.step(found=sum(is_found << t for t, is_found in enumerate(found)))
        await engine.step(finish=1, is_selected=selected)
        expected = {t for t in range(sids) if has[t] and gets[t] == has[t] and selected >> t & 1}
        for seen in await engine.steps(3, is_selected=0):
            assert {t for t in range(sids) if seen.match_reg >> t & 1} == expected


@cocotb.test()
async def who_is_gone_has_no_filters_and_does_not_match(dut):
    engine = await started(dut)
    await stored(engine, 3, 2)
    await engine.step(forget=1, who=1 << 3)
    for found in (0, 1):
        await engine.step(start=1)
        await engine.step(found=found << 3)
        await engine.step(finish=1)
        assert (await engine.step()).match_reg == 0
    await stored(engine, 3, 1)
    await engine.step(start=1)
    await engine.step(found=1 << 3)
    await engine.step(finish=1)
    assert (await engine.step()).match_reg == 1 << 3
