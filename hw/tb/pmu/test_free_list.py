"""The free list: the lowest and the highest free place, two cycles after a change."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


async def started(dut):
    return await Module.started(
        dut, "take give", "used lowest_reg highest_reg is_full_reg has_no_high_reg count_reg", "clear",
        take_address=0, give_address=0,
    )  # fmt: skip


def check(seen, used, places):
    free = sorted(set(places) - used)
    assert seen.used == sum(1 << place for place in used)
    assert seen.count_reg == len(used)
    assert seen.is_full_reg == (not free)
    assert not free or seen.lowest_reg == free[0]
    assert seen.has_no_high_reg == (not [place for place in free if place])
    assert seen.has_no_high_reg or seen.highest_reg == free[-1]


@cocotb.test()
@cocotb.parametrize(end=["lowest", "highest"])
async def all_places_can_be_taken_and_given_back(dut, end):
    places = await started(dut)
    depth = range(places.size("FIRST"), places.size("DEPTH"))
    used = set()
    for _ in range(len(depth) - (end == "highest" and 0 in depth)):
        seen = (await places.steps(3))[-1]
        check(seen, used, depth)
        taken = seen.lowest_reg if end == "lowest" else seen.highest_reg
        await places.step(take=1, take_address=taken)
        used.add(taken)
    assert used >= set(depth) - {0}
    for place in random.Random(1).sample(sorted(used), len(used)):
        await places.step(give=1, give_address=place)
        used.remove(place)
        check((await places.steps(3))[-1], used, depth)


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def changes_at_random_are_known_two_cycles_later(dut, idle):
    places = await started(dut)
    depth = range(places.size("FIRST"), places.size("DEPTH"))
    chance, used = random.Random(idle), set()
    for _, pause in zip(range(80), PAUSES[idle](), strict=False):
        if pause:
            check((await places.steps(3))[-1], used, depth)
            continue
        taken, given = chance.choice(sorted(set(depth) - used)), chance.choice([None, *used])
        await places.step(take=1, take_address=taken, give=given is not None, give_address=given or 0)
        used = used - {given} | {taken}
        if len(used) == len(depth):
            await places.step(clear=1)
            await places.step(clear=0)
            used = set()
    check((await places.steps(3))[-1], used, depth)
