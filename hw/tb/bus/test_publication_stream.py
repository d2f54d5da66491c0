"""Publications as beats: a position, then words. A publication waits until it may begin, and then is not stopped."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.driver.registers import NO_POSITION
from silbo.hw.tb.module import Module
from silbo.hw.tb.pauses import NAMES, PAUSES


@cocotb.test()
@cocotb.parametrize(idle=NAMES, pressure=NAMES)
async def beats_are_positions_and_words(dut, idle, pressure):
    stream = await Module.started(
        dut, "s_axis_tvalid allowed", "s_axis_tready start position_valid x y word_valid word_last word", "rst",
        s_axis_tdata=0, s_axis_tlast=0,
    )  # fmt: skip
    chance = random.Random(1)
    sender_pauses, pauses = PAUSES[idle](), PAUSES[pressure]()
    for count in (0, 1, 2, 3, 9, 1, 0, 30):
        x = chance.choice((NO_POSITION, chance.getrandbits(32)))
        beats = [x, *(chance.getrandbits(32) for _ in range(1 + count))]
        taken = []
        while len(taken) < len(beats):
            at = len(taken)
            is_sent, allowed = not next(sender_pauses), not next(pauses)
            seen = await stream.step(
                s_axis_tvalid=is_sent, s_axis_tdata=beats[at], s_axis_tlast=at + 1 == len(beats), allowed=allowed
            )
            assert seen.s_axis_tready == (allowed or at > 0), "nothing stops a publication that has begun"
            takes = is_sent and seen.s_axis_tready
            assert seen.start == (takes and at == 0)
            assert seen.position_valid == (takes and at == 1 and x != NO_POSITION)
            assert not seen.position_valid or (seen.x, seen.y) == (x, beats[1])
            assert seen.word_valid == (takes and at > 1)
            assert not seen.word_valid or seen.word == beats[at]
            assert seen.word_last == (takes and at + 1 == len(beats))
            taken += [beats[at]] if takes else []


@cocotb.test()
async def after_a_reset_a_beat_is_the_first_of_a_publication(dut):
    stream = await Module.started(
        dut, "s_axis_tvalid", "start position_valid", "rst", s_axis_tdata=5, s_axis_tlast=0, allowed=1
    )
    assert (await stream.step(s_axis_tvalid=1)).start
    await stream.step(rst=1)
    assert (await stream.step(rst=0, s_axis_tvalid=1)).start
    assert (await stream.step(s_axis_tvalid=1)).position_valid
