"""A memory that reads one row and writes another in one cycle."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


@cocotb.test()
@cocotb.parametrize(idle=NAMES, pressure=NAMES)
async def what_was_written_is_read_with_the_next_edge_and_stays(dut, idle, pressure):
    ram = await Module.started(dut, "read write", "row_reg", read_address=0, write_address=0, write_row=0)
    chance = random.Random(4)
    rows, expected = {}, None
    for _, no_write, no_read in zip(range(200), PAUSES[idle](), PAUSES[pressure](), strict=False):
        read, write = chance.randrange(ram.size("DEPTH")), chance.randrange(ram.size("DEPTH"))
        value = chance.getrandbits(ram.size("WIDTH"))
        seen = await ram.step(
            read=not no_read, read_address=read, write=not no_write, write_address=write, write_row=value
        )
        assert expected is None or seen.row_reg == expected
        expected = rows.get(read) if not no_read else expected  # the row as it was before the write
        if not no_write:
            rows[write] = value
