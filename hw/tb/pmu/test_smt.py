"""The subscription mapping table: the lowest free t-SID, and the o-SID of each t-SID."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


async def started(dut):
    return await Module.started(
        dut, "take give", "is_full free asked_is_used asked_osid_reg count", "clear",
        take_osid=0, give_sid=0, asked_sid=0,
    )  # fmt: skip


async def settled(smt, **asked):
    return (await smt.steps(4, **asked))[-1]


@cocotb.test()
async def t_sids_begin_with_1_and_end_with_the_last(dut):
    smt = await started(dut)
    for expected in range(1, smt.size("SIDS")):
        seen = await settled(smt)
        assert (seen.free, seen.is_full, seen.count) == (expected, 0, expected - 1)
        await smt.step(take=1, take_osid=expected)
    seen = await settled(smt)
    assert (seen.is_full, seen.count) == (1, smt.size("SIDS") - 1)
    await smt.step(clear=1)
    seen = await settled(smt, clear=0)
    assert (seen.free, seen.is_full, seen.count) == (1, 0, 0)


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def o_sids_are_found_under_their_t_sids(dut, idle):
    smt = await started(dut)
    chance, osids = random.Random(3), {}
    for _, pause in zip(range(150), PAUSES[idle](), strict=False):
        await smt.steps(3 * pause, take_osid=chance.getrandbits(64), give_sid=chance.randrange(smt.size("SIDS")))
        if osids and chance.random() < 0.45:
            sid = chance.choice(sorted(osids))
            await smt.step(give=1, give_sid=sid)
            del osids[sid]
        elif not (seen := await settled(smt)).is_full:
            assert seen.free == min(set(range(1, smt.size("SIDS"))) - set(osids))
            osids[seen.free] = chance.getrandbits(64)
            await smt.step(take=1, take_osid=osids[seen.free])
        asked = chance.randrange(smt.size("SIDS"))
        seen = await settled(smt, asked_sid=asked)
        assert seen.asked_is_used == (asked in osids)
        assert asked not in osids or seen.asked_osid_reg == osids[asked]
        assert seen.count == len(osids)
