"""The list reader: the paper's rows, read one t-SID a cycle, to the end of each chain."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


class Rows:
    """Chains in a memory, as FSM3 leaves them: slots may be empty, also all slots of a first row."""

    def __init__(self, reader, chance):
        self._slots, self._sid = reader.size("SLOTS"), reader.size("SID")
        self._memory = {}
        self.chains = {}
        free = list(range(1, reader.size("ROWS")))
        chance.shuffle(free)
        while len(free) > 4:
            self._chain([free.pop() for _ in range(chance.choice((1, 1, 2, 3)))], chance, reader.size("SIDS"))

    def _chain(self, addresses, chance, sids):
        listed = []
        for at, following in zip(addresses, [*addresses[1:], 0], strict=True):
            row = [chance.choice((0, chance.randrange(1, sids))) for _ in range(self._slots)]
            listed += [each for each in row if each]
            bits = sum(each << i * self._sid for i, each in enumerate(row))
            self._memory[at] = following << self._slots * self._sid | bits
        self.chains[addresses[0]] = listed

    def row(self, address):
        return self._memory[address]


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def all_t_sids_of_all_hits_are_told_in_order_and_then_it_is_done(dut, idle):
    reader = await Module.started(
        dut, "hit last", "done read read_address found found_sid", "rst", hit_address=0, row=0
    )
    chance = random.Random(idle)
    for _ in range(4):  # publications
        rows = Rows(reader, chance)
        hits = chance.sample(sorted(rows.chains), chance.randrange(len(rows.chains) + 1))
        expected = [sid for hit in hits for sid in rows.chains[hit]]
        listed, is_done, row = [], False, 0
        pauses = PAUSES[idle]()
        ends_with_a_hit = bool(hits) and chance.random() < 0.5
        is_over = False
        for _cycle in range(2000):
            inputs = {}
            if hits and not next(pauses):
                inputs = {"hit": 1, "hit_address": hits.pop(0), "last": ends_with_a_hit and not hits}
                is_over = bool(inputs["last"])
            elif not hits and not is_over:
                inputs, is_over = {"last": 1}, True
            seen = await reader.step(row=row, **inputs)
            assert not (is_done and (seen.found or seen.done))
            listed += [seen.found_sid] if seen.found else []
            row = rows.row(seen.read_address) if seen.read else row
            is_done = is_done or bool(seen.done)
            if is_done:
                break
        assert is_done
        assert listed == expected
        assert not any(each.done or each.found for each in await reader.steps(5, row=row))
