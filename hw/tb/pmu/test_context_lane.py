"""A lane tests one box a cycle. The borders belong to the box, and coordinates are signed."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.tb.boxes import BORDERS, bits, contains
from silbo.hw.tb.core import WORD
from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def a_position_is_inside_if_the_box_contains_it(dut, idle):
    lane = await Module.started(
        dut, "write read", "contained_reg", write_address=0, write_valid=0, write_box=0, read_address=0, x=0, y=0
    )
    chance, rows = random.Random(idle), {}
    for row in range(lane.size("ROWS")):
        await lane.step(write=1, write_address=row, write_valid=0, write_box=chance.getrandbits(128))
        rows[row] = None
    for pause, _ in zip(PAUSES[idle](), range(300), strict=False):
        if not pause:
            row = chance.randrange(len(rows))
            rows[row] = box = DeviceBox(*chance.choices(BORDERS, k=4)) if chance.random() < 0.8 else None
            await lane.step(write=1, write_address=row, write_valid=box is not None, write_box=bits(box))
        asked, x, y = chance.randrange(len(rows)), chance.choice(BORDERS), chance.choice(BORDERS)
        await lane.step(read=1, read_address=asked)
        await lane.step(x=x & WORD, y=y & WORD)
        assert (await lane.step()).contained_reg == contains(rows[asked], x, y)
