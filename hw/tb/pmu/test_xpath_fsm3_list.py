"""FSM3 on the paper's rows: chains grow from the top down, and shrink when a row is empty."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES
from silbo.hw.tb.rows import RowMemories

PATIENCE = 500  # cycles


class Lists(RowMemories):
    """Chains of rows. The bench also plays the free list, and the CAM's record of which rows are first."""

    @classmethod
    async def started(cls, dut):
        fsm = await Module.started(
            dut, "append sweep_start",
            "append_done append_failed append_is_new hcd sweep_done read read_address read_visitors write write_address"
            " write_row write_visitors_valid write_visitors_address write_visitors take give give_address"
            " give_is_first", "rst",
            sid=0, append_address=0, row=0, visitors=0, is_first=0, has_no_row=0, free_row=0,
        )  # fmt: skip
        lists = cls(fsm, has_visitor_ports=True)
        lists.slots, lists.sids, lists.sid = fsm.size("SLOTS"), fsm.size("SIDS"), fsm.size("SID")
        lists.free = set(range(fsm.size("ROWS")))
        lists.first = set()
        return lists

    async def cycle(self, **inputs):
        high = self.free - {0}
        seen = await self.step(
            has_no_row=not high, free_row=max(high, default=0), is_first=sum(1 << at for at in self.first), **inputs
        )
        if seen.take:
            self.free.remove(max(high))
        if seen.give:
            self.free.add(seen.give_address)
            assert (seen.give_address in self.first) == seen.give_is_first
            self.first.discard(seen.give_address)
        return seen

    async def pause(self, pauses):
        """Run idle cycles while the pattern says so; an address and a t-SID without a request must do nothing."""
        while next(pauses):
            seen = await self.cycle(append_address=3, sid=1)
            assert not (seen.append_done or seen.sweep_done or seen.write or seen.take or seen.give)

    async def append(self, sid, address):
        if address not in self.first:
            self.free.remove(address)
            self.first.add(address)
        seen = await self.cycle(append=1, append_address=address, sid=sid)
        for _ in range(PATIENCE):
            if seen.append_done or seen.append_failed:
                await self.cycle()
                return seen
            seen = await self.cycle()
        raise AssertionError("it never ends")

    async def sweep(self, sid):
        seen = await self.cycle(sweep_start=1, sid=sid)
        for _ in range(PATIENCE):
            if seen.sweep_done:
                await self.cycle()
                assert not any(self.rows.get(at) for at in self.free), "a row that was freed is empty"
                return
            seen = await self.cycle()
        raise AssertionError("it never ends")

    def chain(self, address):
        """The t-SIDs of a chain, row by row."""
        rows, mask = [], (1 << self.sid) - 1
        while True:
            row = self.rows.get(address, 0)
            rows.append([row >> i * self.sid & mask for i in range(self.slots)])
            address = row >> self.slots * self.sid
            if not address:
                return rows

    def held(self):
        return {at: {sid for row in self.chain(at) for sid in row if sid} for at in self.first}


@cocotb.test()
async def a_full_row_is_followed_by_the_highest_free_one(dut):
    lists = await Lists.started(dut)
    top = max(lists.free)
    for count, sid in enumerate(range(1, 2 * lists.slots + 2)):
        seen = await lists.append(sid, 2)
        assert (seen.append_done, seen.append_is_new, seen.hcd) == (1, 1, count >= lists.slots)
        again = await lists.append(sid, 2)
        assert (again.append_done, again.append_is_new, again.hcd) == (1, 0, 0)
    assert lists.rows[2] >> lists.slots * lists.sid == top
    assert lists.rows[top] >> lists.slots * lists.sid == top - 1
    assert [len([sid for sid in row if sid]) for row in lists.chain(2)] == [lists.slots, lists.slots, 1]
    assert lists.visitors[2] == 2 * lists.slots + 1


@cocotb.test()
async def where_no_row_is_left_it_fails_and_writes_nothing(dut):
    lists = await Lists.started(dut)
    for sid in range(1, lists.slots + 1):
        await lists.append(sid, 2)
    lists.free = {0}  # row 0 never follows another row
    before = dict(lists.rows)
    seen = await lists.append(lists.slots + 1, 2)
    assert (seen.append_failed, seen.append_done, seen.append_is_new) == (1, 0, 0)
    assert lists.rows == before


@cocotb.test()
@cocotb.parametrize(seed=range(3), idle=NAMES)
async def chains_hold_whom_they_should_whoever_comes_and_goes(dut, seed, idle):
    """As FSM1 does, a t-SID is appended to several rows only while it is being registered: see the RTL's header."""
    lists = await Lists.started(dut)
    chance, pauses, expected = random.Random(f"{seed} {idle}"), PAUSES[idle](), {}
    registering = None
    for _ in range(80):
        await lists.pause(pauses)
        sid = chance.choice([chance.randrange(1, lists.sids), registering or 1])
        if chance.random() < 0.35:
            await lists.sweep(sid)
            registering = None
            expected = {at: sids - {sid} for at, sids in expected.items() if sids - {sid}}
        elif sid == registering or not any(sid in sids for sids in expected.values()):
            registering = sid
            address = chance.choice([*expected, *sorted(lists.free)[:1], *sorted(lists.free)[:1]] or [0])
            if address not in lists.first and address not in lists.free:
                continue
            seen = await lists.append(sid, address)
            if seen.append_done:
                assert seen.append_is_new == (sid not in expected.get(address, ()))
                expected.setdefault(address, set()).add(sid)
        assert lists.held() == expected
        assert {at: lists.visitors[at] for at in expected} == {at: len(sids) for at, sids in expected.items()}
    for sid in range(1, lists.sids):
        await lists.sweep(sid)
    assert lists.first == set()
    assert not any(lists.rows.values())
