"""The pipelined CAM: one search a cycle, each answered with the fourth edge."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES

LATENCY = 4  # edges


async def started(dut):
    return await Module.started(
        dut, "key_valid key_once key_last forget write write_used",
        "answer_valid answer_last answer_hit answer_address used", "clear",
        key=0, write_address=0, write_filter=0,
    )  # fmt: skip


async def filled(cam, chance):
    """Fill all entries but three, in a random order, with filters that have bytes in common."""
    kinds = [a << 24 | b << 16 | c << 8 | d for a in (0, 1, 255) for b in (0, 9) for c in (0, 1, 7) for d in (0, 2, 77)]
    addresses = chance.sample(range(cam.size("FILTERS")), cam.size("FILTERS") - 3)
    filters = dict(zip(chance.sample(kinds, min(len(kinds), len(addresses))), addresses, strict=False))
    for filter, address in filters.items():
        await cam.step(write=1, write_used=1, write_address=address, write_filter=filter)
    assert (await cam.step()).used == sum(1 << address for address in filters.values())
    return filters, [kind for kind in kinds if kind not in filters]


@cocotb.test()
@cocotb.parametrize(idle=NAMES, once=[0, 1])
async def every_search_is_answered_four_edges_later(dut, idle, once):
    cam = await started(dut)
    chance = random.Random(2)
    filters, absent = await filled(cam, chance)
    await cam.step(forget=1)
    keys = chance.choices([*filters, *absent], k=120)
    expected, seen, reported = [], [], set()
    for pause in PAUSES[idle]():
        if not keys:
            break
        key = 0xDEAD_BEEF if pause else keys.pop()
        hits = not pause and key in filters and not (once and key in reported)
        reported |= {key}
        expected.append((not pause, hits and filters[key], len(keys) % 7 == 0))
        seen.append(await cam.step(key_valid=not pause, key_once=once, key_last=len(keys) % 7 == 0, key=key))
    seen += await cam.steps(LATENCY)
    for (is_valid, address, is_last), answer in zip(expected, seen[LATENCY:], strict=True):
        assert answer.answer_valid == is_valid
        assert answer.answer_last == is_last
        if is_valid:
            assert answer.answer_hit == (address is not False)
            assert not answer.answer_hit or answer.answer_address == address


@cocotb.test()
async def entries_that_are_given_up_are_used_again(dut):
    cam = await started(dut)
    for round in range(3):
        for address in range(cam.size("FILTERS")):
            filter = round << 16 | address
            await cam.step(write=1, write_used=1, write_address=address, write_filter=filter)
            await cam.step(key_valid=1, key=filter)
            await cam.steps(LATENCY - 1, key_valid=1, key=(round - 1 & 0xFF) << 16 | address)
            answer = await cam.step()
            assert (answer.answer_hit, answer.answer_address) == (1, address)
            assert not (await cam.step()).answer_hit, "the filter that was in this entry before"


@cocotb.test()
async def clear_ends_searches(dut):
    cam = await started(dut)
    await cam.step(write=1, write_used=1, write_address=1, write_filter=5)
    await cam.steps(3, key_valid=1, key=5)
    await cam.step(clear=1)
    assert not any(each.answer_valid for each in await cam.steps(6, clear=0))
