"""Memory initialisation: each row and each group is written once, in as many cycles as there are of the larger number.

`start` is the only strobe, and the module waits for nothing. So the only pauses are gaps between two walks.
"""

from __future__ import annotations

import cocotb

from silbo.hw.tb.module import Module


@cocotb.test()
@cocotb.parametrize(gap=[0, 1, 5])
async def each_row_and_each_group_is_zeroed_once(dut, gap):
    walk = await Module.started(dut, "start", "clear zero_row zero_group step done", "rst")
    rows, groups = range(walk.size("ROWS")), range(walk.size("GROUPS"))
    for _ in range(2):
        seen = [await walk.step(start=1)]
        assert seen[0].clear
        while not seen[-1].done:
            seen.append(await walk.step())
        assert [each.step for each in seen if each.zero_row] == list(rows)
        assert [each.step for each in seen if each.zero_group] == list(groups)
        assert not any(each.clear for each in seen[1:])
        assert len(seen) == 1 + max(len(rows), len(groups))
        assert not any(each.zero_row or each.zero_group or each.done for each in await walk.steps(gap))
