"""FSM3 on rows of bits: a t-SID is set in one row, and taken out of all."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.rows import Rows


class Bitmaps(Rows):
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

    async def append(self, sid, address):
        await self.step(append=1, append_address=address, who=1 << sid)
        seen = await self.step()
        assert seen.append_done
        return seen

    async def sweep(self, sid):
        """The rows that it gave up, and the cycles it took."""
        given = []
        seen = await self.step(sweep_start=1, who=1 << sid)
        for cycle in range(200):
            given += [seen.give_address] if seen.give else []
            if seen.sweep_done:
                return given, cycle
            seen = await self.step()
        raise AssertionError("it never ends")


@cocotb.test()
async def a_t_sid_is_new_to_a_row_once_and_too_many_are_told(dut):
    rows = await Bitmaps.started(dut)
    for count, sid in enumerate(random.Random(2).sample(range(1, rows.sids), rows.sids - 1)):
        seen = await rows.append(sid, 5)
        assert (seen.append_is_new, seen.hcd) == (1, count >= rows.slots)
        again = await rows.append(sid, 5)
        assert (again.append_is_new, again.hcd, again.write) == (0, 0, 0)
    assert rows.rows == {5: (1 << rows.sids) - 2}
    assert rows.visitors == {5: rows.sids - 1}


@cocotb.test()
async def a_sweep_takes_it_out_of_all_rows_and_gives_up_those_that_are_empty(dut):
    rows = await Bitmaps.started(dut)
    chance = random.Random(4)
    for address in range(rows.depth):
        for sid in chance.sample((1, 2, 3), 1 + address % 3):
            await rows.append(sid, address)
    for sid in (2, 1, 3):
        alone = [address for address, row in sorted(rows.rows.items()) if row == 1 << sid]
        expected = {address: row & ~(1 << sid) for address, row in rows.rows.items()}
        given, cycles = await rows.sweep(sid)
        assert given == alone
        assert rows.rows == expected
        assert all(rows.visitors[address] == row.bit_count() for address, row in expected.items())
        assert cycles <= rows.depth + 3
