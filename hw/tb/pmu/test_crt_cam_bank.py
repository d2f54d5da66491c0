"""A bank of sixteen filters: which entry answers, with the third edge."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES

FILTERS = [0x0102_0304 * (i + 1) & 0xFFFF_FFFF for i in range(16)]


async def started(dut):
    return await Module.started(
        dut, "key_valid key_once forget write write_used", "any_reg index_reg used", "clear",
        key=0, write_index=0, write_filter=0,
    )  # fmt: skip


async def filled(dut):
    bank = await started(dut)
    for index, filter in enumerate(FILTERS):
        await bank.step(write=1, write_used=1, write_index=index, write_filter=filter)
    return bank


async def answer(bank, key, **more):
    await bank.step(key_valid=1, key=key, **more)
    await bank.steps(2)
    seen = await bank.step()
    return seen.index_reg if seen.any_reg else None


@cocotb.test()
async def an_empty_bank_answers_nothing(dut):
    bank = await started(dut)
    assert (await bank.step()).used == 0
    assert await answer(bank, 0) is None


@cocotb.test()
async def each_entry_answers_for_its_filter(dut):
    bank = await filled(dut)
    assert (await bank.step()).used == 0xFFFF
    assert [await answer(bank, filter) for filter in FILTERS] == list(range(16))


@cocotb.test()
async def a_filter_that_differs_in_one_bit_does_not_answer(dut):
    bank = await filled(dut)
    near = [FILTERS[5] ^ 1 << bit for bit in range(32)]
    assert [await answer(bank, each) for each in near if each not in FILTERS] == [None] * len(set(near) - set(FILTERS))


@cocotb.test()
async def an_entry_that_was_given_up_keeps_silent(dut):
    bank = await filled(dut)
    await bank.step(write=1, write_used=0, write_index=7, write_filter=FILTERS[7])
    assert await answer(bank, FILTERS[7]) is None
    assert await answer(bank, FILTERS[8]) == 8
    assert (await bank.step()).used == 0xFF7F


@cocotb.test()
@cocotb.parametrize(apart=[1, 2, 3, 4])
async def in_a_publication_an_entry_answers_once_until_that_is_forgotten(dut, apart):
    bank = await filled(dut)
    for _ in range(2):
        seen = [
            await bank.step(key_valid=cycle in (0, apart, 2 * apart), key_once=1, key=FILTERS[3])
            for cycle in range(2 * apart + 4)
        ]
        assert [each.any_reg for each in seen] == [int(cycle == 3) for cycle in range(len(seen))]
        await bank.step(forget=1)


@cocotb.test()
async def outside_a_publication_it_answers_each_time_and_that_is_not_remembered(dut):
    bank = await filled(dut)
    assert [await answer(bank, FILTERS[3]) for _ in range(2)] == [3, 3]
    assert await answer(bank, FILTERS[3], key_once=1) == 3
    await bank.steps(3, key_once=1)
    assert await answer(bank, FILTERS[3]) == 3


@cocotb.test()
@cocotb.parametrize(idle=NAMES, once=[0, 1])
async def a_gap_between_keys_changes_no_answer(dut, idle, once):
    bank = await filled(dut)
    chance, expected, seen, reported = random.Random(idle), [], [], set()
    for _, pause in zip(range(100), PAUSES[idle](), strict=False):
        index = chance.randrange(16)  # also in a gap the key's bits are those of a filter
        expected.append(None if pause or (once and index in reported) else index)
        reported |= set() if pause else {index}
        seen.append(await bank.step(key_valid=not pause, key_once=once, key=FILTERS[index]))
    seen += await bank.steps(3)
    assert [each.index_reg if each.any_reg else None for each in seen[3:]] == expected


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def a_gap_between_writes_writes_nothing(dut, idle):
    bank = await started(dut)
    chance, entries = random.Random(idle), {}
    for _, pause in zip(range(60), PAUSES[idle](), strict=False):
        index, filter, is_used = chance.randrange(16), chance.choice(FILTERS), chance.random() < 0.7
        entries |= {} if pause else {index: filter if is_used else None}
        await bank.step(write=not pause, write_used=is_used, write_index=index, write_filter=filter)
    used = {index for index, filter in entries.items() if filter is not None}
    assert (await bank.step()).used == sum(1 << index for index in used)
    for filter in FILTERS:
        holders = {index for index in used if entries[index] == filter}
        answered = await answer(bank, filter)
        assert (answered is None) == (not holders)
        assert len(holders) != 1 or {answered} == holders


@cocotb.test()
async def clear_forgets_entries_and_what_was_seen(dut):
    bank = await filled(dut)
    assert await answer(bank, FILTERS[3], key_once=1) == 3
    await bank.step(clear=1)
    await bank.step(clear=0)
    assert await answer(bank, FILTERS[3], key_once=1) is None
    await bank.step(write=1, write_used=1, write_index=3, write_filter=FILTERS[3])
    assert await answer(bank, FILTERS[3], key_once=1) == 3
