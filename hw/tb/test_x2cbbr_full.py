"""The core at full size: long traffic against the oracle, and cycles, counted by the core and by the bench."""

from __future__ import annotations

import random

import cocotb

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.driver.registers import Command, CrtMode, Failure, Register
from silbo.hw.tb.core import CoreUnderTest, timed
from silbo.hw.tb.meaning import word
from silbo.hw.tb.traffic import Traffic

WORDS = [word(name, 1) for name in range(252)]
MOST = 260  # cycles


async def timed_publication(core, position, words):
    """The result, and the cycles that the bench counts; the core must count the same."""
    timing = cocotb.start_soon(timed(core))
    found = await core.publish(position, words)
    cycles = await timing
    assert await core.read(Register.MATCH_CYCLES) == cycles
    return found, cycles


@cocotb.test()
async def a_publication_of_252_words_against_252_subscriptions(dut):
    """With bitmaps it takes at most `MOST` cycles, the same for all data; with lists the cycles are not checked."""
    core = await CoreUnderTest.started(dut)
    tsids = {await core.registered([each], 0) for each in WORDS}
    assert len(tsids) == 252
    await core.set_context(0, DeviceBox(-5, 5, -5, 5))
    absent = [word(name, 2) for name in range(252)]
    shuffled = random.Random(5).sample(WORDS, 252)
    taken = {}
    for what, position, words, expected in (
        ("all match", (0, 0), WORDS, tsids),
        ("in another order", (0, 0), shuffled, tsids),
        ("nobody is there", (9, 9), WORDS, set()),
        ("none is known", (0, 0), absent, set()),
        ("one, again and again", (0, 0), [WORDS[7]] * 252, {8}),
        ("no position", None, WORDS, set()),
    ):
        found, taken[what] = await timed_publication(core, position, words)
        assert found == expected, what
    if core.size("CRT_MODE") == CrtMode.BITMAP:
        assert len(set(taken.values())) == 1, taken
        assert max(taken.values()) <= MOST, taken


@cocotb.test()
async def init_takes_no_longer_than_260_cycles(dut):
    core = await CoreUnderTest.started(dut)
    assert 0 < await core.read(Register.INIT_CYCLES) <= MOST
    await core.registered(WORDS[:16])
    assert await core.command(Command.INIT) == Failure.NONE
    assert 0 < await core.read(Register.INIT_CYCLES) <= MOST


@cocotb.test()
async def registering_takes_no_longer_than_8_cycles_a_filter(dut):
    core = await CoreUnderTest.started(dut)
    for first in range(0, 240, 12):
        count = 1 + first // 12 % 16
        await core.registered(WORDS[first : first + count])
        assert 0 < await core.read(Register.REGISTER_CYCLES) <= 8 * count, count


@cocotb.test()
async def the_scan_is_hidden_behind_the_words(dut):
    core = await CoreUnderTest.started(dut)
    inside, outside = await core.registered([WORDS[0]], 0), await core.registered([WORDS[0]])
    last = await core.registered([WORDS[0]], core.size("SUBSCRIBERS") - 1)
    for row in (0, core.size("SUBSCRIBERS") - 1):
        await core.set_context(row, DeviceBox(-5, 5, -5, 5))
    found, with_position = await timed_publication(core, (0, 0), WORDS)
    assert found == {inside, outside, last}
    assert await core.read(Register.CONTEXT_CYCLES) <= MOST
    found, without = await timed_publication(core, None, WORDS)
    assert found == {outside}
    assert with_position == without <= MOST


@cocotb.test()
async def what_it_matches_in_the_long_run_is_what_the_oracle_matches(dut):
    traffic = Traffic(await CoreUnderTest.started(dut), "long", names=60)
    await traffic.run(200)
