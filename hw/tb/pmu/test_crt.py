"""The content routing table in both modes: registering with FSM2 and FSM3, matching, and removing."""

from __future__ import annotations

import random
from collections import Counter

import cocotb

from silbo.hw.driver.registers import CrtMode
from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES

PATIENCE = 2000  # cycles


class Table:
    """The CRT, and its expected content: the t-SIDs of each filter."""

    def __init__(self, crt):
        self.crt = crt
        self.filters = {}

    @classmethod
    async def started(cls, dut):
        crt = await Module.started(
            dut, "clear zero filter_valid sweep_start forget word_valid word_last",
            "filter_done filter_failed filter_is_new hcd sweep_done is_full rows_used found found_all", "rst",
            sid=0, who=0, filter=0, word=0, zero_address=0,
        )  # fmt: skip
        for row in range(crt.size("FILTERS")):
            await crt.step(zero=1, zero_address=row)
        return cls(crt)

    async def register(self, sid, filter):
        """Register a filter as FSM1 does; returns the outputs of the last cycle."""
        for _ in range(PATIENCE):
            seen = await self.crt.step(filter_valid=1, filter=filter, sid=sid, who=1 << sid)
            if seen.filter_done or seen.filter_failed:
                break
        else:
            raise AssertionError("never done")
        if seen.filter_done:
            assert seen.filter_is_new == (sid not in self.filters.get(filter, ()))
            self.filters.setdefault(filter, set()).add(sid)
        await self.crt.step()
        return seen

    async def sweep(self, sid):
        await self.crt.step(sweep_start=1, sid=sid, who=1 << sid)
        for _ in range(PATIENCE):
            if (await self.crt.step()).sweep_done:
                break
        else:
            raise AssertionError("never done")
        self.filters = {filter: sids - {sid} for filter, sids in self.filters.items() if sids - {sid}}
        await self.crt.steps(3)

    async def match(self, words, idle, is_last_with_a_word):
        """Match words; returns how often each t-SID was found."""
        await self.crt.step(forget=1)
        counts, pauses, cycles = Counter(), PAUSES[idle](), 0
        words = list(words)
        is_over = False
        while True:
            inputs = {}
            if words and not next(pauses):
                inputs = {"word_valid": 1, "word": words.pop(0), "word_last": is_last_with_a_word and not words}
                is_over = is_over or bool(inputs["word_last"])
            elif not words and not is_over:
                inputs, is_over = {"word_last": 1}, True
            seen = await self.crt.step(**inputs)
            counts.update(t for t in range(self.crt.size("SIDS")) if seen.found >> t & 1)
            cycles += 1
            assert cycles < PATIENCE
            if seen.found_all:
                return counts

    def expected_counts(self, words):
        return Counter(sid for word in set(words) for sid in self.filters.get(word, ()))

    def rows(self):
        slots = self.crt.size("SLOTS")
        if self.crt.size("CRT_MODE") == CrtMode.BITMAP:
            return len(self.filters)
        return sum(-(-len(sids) // slots) for sids in self.filters.values())


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def what_is_found_is_what_was_registered(dut, idle):
    table = await Table.started(dut)
    chance = random.Random(idle)
    filters = [chance.getrandbits(32) for _ in range(8)]
    for _ in range(25):
        await table.register(chance.randrange(1, table.crt.size("SIDS")), chance.choice(filters))
    assert (await table.crt.step()).rows_used == table.rows()
    for _ in range(8):
        words = chance.choices([*filters, 0, 1], k=chance.randrange(12))
        assert await table.match(words, idle, chance.random() < 0.5 and bool(words)) == table.expected_counts(words)
        await table.sweep(chance.randrange(1, table.crt.size("SIDS")))
        assert await table.match(filters, idle, is_last_with_a_word=True) == table.expected_counts(filters)


@cocotb.test()
async def a_full_table_takes_no_new_filter_and_lets_go_of_what_is_swept(dut):
    table = await Table.started(dut)
    rows = table.crt.size("FILTERS")
    for filter in range(rows):
        assert (await table.register(1 + filter % 3, filter + 1)).filter_done
    await table.crt.steps(3)
    assert (await table.crt.step()).is_full
    assert (await table.register(1, 99)).filter_failed
    assert (await table.register(4, 1)).filter_done, "a filter that is already in the table"
    await table.sweep(2)
    seen = await table.crt.step()
    assert (seen.is_full, seen.rows_used) == (0, table.rows())
    words = range(1, rows + 1)
    assert await table.match(words, "never", is_last_with_a_word=True) == table.expected_counts(words)


@cocotb.test()
async def a_filter_may_have_all_t_sids_and_one_more_than_a_row_holds_is_told(dut):
    table = await Table.started(dut)
    slots = table.crt.size("SLOTS")
    for sid in range(1, table.crt.size("SIDS")):
        seen = await table.register(sid, 42)
        assert seen.filter_done
        assert seen.hcd == (sid > slots)
        again = await table.register(sid, 42)
        assert (again.filter_is_new, again.hcd) == (0, 0)
    assert await table.match([42], "never", is_last_with_a_word=True) == table.expected_counts([42])
    assert (await table.crt.step()).rows_used == table.rows()
    for sid in random.Random(8).sample(range(1, table.crt.size("SIDS")), table.crt.size("SIDS") - 1):
        await table.sweep(sid)
        assert await table.match([42], "never", is_last_with_a_word=True) == table.expected_counts([42])
    assert (await table.crt.step()).rows_used == 0


@cocotb.test()
async def a_chain_that_finds_no_row_fails(dut):
    """With lists only: other filters take all rows."""
    table = await Table.started(dut)
    if table.crt.size("CRT_MODE") == CrtMode.BITMAP:
        return
    rows, slots = table.crt.size("FILTERS"), table.crt.size("SLOTS")
    for filter in range(rows):
        await table.register(1, filter + 1)
    for sid in range(2, slots + 1):
        assert (await table.register(sid, 7)).filter_done
    assert (await table.register(slots + 1, 7)).filter_failed
    assert (await table.register(slots + 1, 8)).filter_done
    assert await table.match([7, 8], "never", is_last_with_a_word=True) == table.expected_counts([7, 8])
