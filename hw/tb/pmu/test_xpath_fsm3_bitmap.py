"""FSM3 on bitmap rows: a t-SID is set in one row, and a sweep removes it from all."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES
from silbo.hw.tb.rows import RowMemories


class Bitmaps(RowMemories):
    @classmethod
    async def started(cls, dut):
        fsm = await Module.started(
            dut, "append sweep_start",
            "append_done append_is_new hcd sweep_done read read_address write write_address write_row write_visitors"
            " give give_address", "rst",
            who=0, append_address=0, row=0, visitors=0,
        )  # fmt: skip
        rows = cls(fsm, has_visitor_ports=False)
        rows.slots, rows.sids, rows.depth = fsm.size("SLOTS"), fsm.size("SIDS"), fsm.size("ROWS")
        return rows

    async def pause(self, pauses):
        """Run idle cycles while the pattern says so; an address and a t-SID without a request must do nothing."""
        while next(pauses):
            seen = await self.step(append_address=3, who=2)
            assert not (seen.append_done or seen.sweep_done or seen.write or seen.give)

    async def append(self, sid, address):
        await self.step(append=1, append_address=address, who=1 << sid)
        seen = await self.step()
        assert seen.append_done
        return seen

    async def sweep(self, sid):
        """Sweep a t-SID; returns the rows that were freed, and the cycles it took."""
        given = []
        seen = await self.step(sweep_start=1, who=1 << sid)
        for cycle in range(200):
            given += [seen.give_address] if seen.give else []
            if seen.sweep_done:
                return given, cycle
            seen = await self.step()
        raise AssertionError("it never ends")


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def a_t_sid_is_new_to_a_row_once_and_too_many_are_told(dut, idle):
    rows = await Bitmaps.started(dut)
    pauses = PAUSES[idle]()
    for count, sid in enumerate(random.Random(2).sample(range(1, rows.sids), rows.sids - 1)):
        await rows.pause(pauses)
        seen = await rows.append(sid, 5)
        await rows.pause(pauses)
        assert (seen.append_is_new, seen.hcd) == (1, count >= rows.slots)
        again = await rows.append(sid, 5)
        assert (again.append_is_new, again.hcd, again.write) == (0, 0, 0)
    assert rows.rows == {5: (1 << rows.sids) - 2}
    assert rows.visitors == {5: rows.sids - 1}


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def a_sweep_takes_it_out_of_all_rows_and_gives_up_those_that_are_empty(dut, idle):
    rows = await Bitmaps.started(dut)
    chance, pauses = random.Random(4), PAUSES[idle]()
    for address in range(rows.depth):
        for sid in chance.sample((1, 2, 3), 1 + address % 3):
            await rows.pause(pauses)
            await rows.append(sid, address)
    for sid in (2, 1, 3):
        alone = [address for address, row in sorted(rows.rows.items()) if row == 1 << sid]
        expected = {address: row & ~(1 << sid) for address, row in rows.rows.items()}
        await rows.pause(pauses)
        given, cycles = await rows.sweep(sid)
        assert given == alone
        assert rows.rows == expected
        assert all(rows.visitors[address] == row.bit_count() for address, row in expected.items())
        assert cycles <= rows.depth + 3
