"""The contextManager: a write changes one row, and a scan sees the table as it was when it began."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.tb.boxes import BORDERS, bits, contains
from silbo.hw.tb.core import WORD
from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


async def started(dut):
    manager = await Module.started(
        dut, "zero write start", "write_ready scanning contained_valid contained_group contained", "rst",
        zero_group=0, write_row=0, write_valid=0, write_box=0, x=0, y=0,
    )  # fmt: skip
    for group in range(manager.size("GROUPS")):
        assert not (await manager.step(zero=1, zero_group=group, write=1)).write_ready
    return manager


def inside(manager, seen):
    """The rows that a scan found inside, each reported once."""
    lanes = manager.size("LANES")
    contained = [(each.contained_group, each.contained) for each in seen if each.contained_valid]
    assert [group for group, _ in contained] == list(range(manager.size("GROUPS")))
    return {group * lanes + lane for group, found in contained for lane in range(lanes) if found >> lane & 1}


async def scan(manager, x, y, write=None):
    """Run a scan, with a write requested from cycle `at` on; returns its cycles, and the one that took the write."""
    at, row, box = write or (None, 0, None)
    seen, taken = [], None
    while len(seen) < 3 or seen[-1].scanning or (write and taken is None):
        cycle = len(seen)
        asks = write is not None and cycle >= at and taken is None
        place = {"start": 1, "x": x & WORD, "y": y & WORD} if not seen else {"x": 0, "y": 0}
        change = {"write": 1, "write_row": row, "write_valid": box is not None, "write_box": bits(box)} if asks else {}
        seen.append(await manager.step(**place, **change))
        taken = cycle if asks and seen[-1].write_ready else taken
        assert cycle < 1000
    return seen, taken


@cocotb.test()
async def after_initialisation_nobody_is_inside(dut):
    manager = await started(dut)
    seen, _ = await scan(manager, 0, 0)
    assert inside(manager, seen) == set()


@cocotb.test()
@cocotb.parametrize(idle=NAMES)
async def a_scan_tells_whose_box_contains_the_position(dut, idle):
    manager = await started(dut)
    chance, boxes = random.Random(idle), {}
    for _ in range(12):
        for pause, _ in zip(PAUSES[idle](), range(8), strict=False):
            if pause:
                await manager.step()
                continue
            row = chance.randrange(manager.size("SUBSCRIBERS"))
            boxes[row] = DeviceBox(*chance.choices(BORDERS, k=4)) if chance.random() < 0.85 else None
            seen = await manager.step(
                write=1, write_row=row, write_valid=boxes[row] is not None, write_box=bits(boxes[row])
            )
            assert seen.write_ready
        x, y = chance.choice(BORDERS), chance.choice(BORDERS)
        seen, _ = await scan(manager, x, y)
        assert inside(manager, seen) == {row for row, box in boxes.items() if contains(box, x, y)}
        assert len(seen) <= manager.size("GROUPS") + 5


@cocotb.test()
async def a_write_in_a_scan_waits_for_its_end_and_counts_for_the_next(dut):
    manager = await started(dut)
    everywhere = DeviceBox(BORDERS[0], BORDERS[-1], BORDERS[0], BORDERS[-1])
    last = manager.size("SUBSCRIBERS") - 1
    for row in (0, last // 2, last):
        for at in range(manager.size("GROUPS") + 3):
            await manager.step(write=1, write_row=row, write_valid=0)
            seen, taken = await scan(manager, 5, 5, (at, row, everywhere))
            assert inside(manager, seen) == set()
            assert not seen[taken].scanning
            assert taken <= manager.size("GROUPS") + 4
            seen, _ = await scan(manager, 5, 5)
            assert inside(manager, seen) == {row}
        await manager.step(write=1, write_row=row, write_valid=0)


@cocotb.test()
async def a_scan_may_follow_another_at_once(dut):
    manager = await started(dut)
    await manager.step(write=1, write_row=3, write_valid=1, write_box=bits(DeviceBox(0, 1, 0, 1)))
    for x in (0, 5, 1, 2):
        seen, _ = await scan(manager, x, 0)
        assert inside(manager, seen) == ({3} if x <= 1 else set())
