"""The context selector: each subscription gets the answer for its subscriber's row."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def who_is_matched_in_context_is_selected_if_its_row_is_inside(dut, idle):
    selector = await Module.started(
        dut, "link forget contained_valid", "is_selected", "rst",
        link_sid=0, link_in_context=0, link_row=0, contained_group=0, contained=0,
    )  # fmt: skip
    sids, lanes, groups = selector.size("SIDS"), selector.size("LANES"), 1 << selector.size("GROUP")
    chance, rows = random.Random(idle), {}
    for _ in range(10):
        for _ in range(5):
            sid = chance.randrange(sids)
            rows[sid] = chance.choice((None, chance.randrange(groups * lanes)))
            row = 9 if rows[sid] is None else rows[sid]
            await selector.step(link=1, link_sid=sid, link_in_context=rows[sid] is not None, link_row=row)
        await selector.step(forget=1)
        out = {sid for sid, row in rows.items() if row is not None}
        assert (await selector.step()).is_selected == sum(1 << t for t in range(sids) if t not in out)
        answers = [chance.getrandbits(lanes) for _ in range(groups)]
        pauses = PAUSES[idle]()
        for group, inside in enumerate(answers):
            while next(pauses):
                await selector.step(contained_group=group, contained=~inside & (1 << lanes) - 1)
            await selector.step(contained_valid=1, contained_group=group, contained=inside)
        out = {sid for sid in out if not answers[rows[sid] // lanes] >> rows[sid] % lanes & 1}
        assert (await selector.step()).is_selected == sum(1 << t for t in range(sids) if t not in out)
