"""The whole core against the oracle, with all patterns of pauses on its bus and its stream."""

from __future__ import annotations

import cocotb

from silbo.hw.tb.core import CoreUnderTest
from silbo.hw.tb.pauses import NAMES
from silbo.hw.tb.traffic import Traffic


@cocotb.test()
@cocotb.parametrize(idle=NAMES, pressure=NAMES)
async def what_it_matches_is_what_the_oracle_matches(dut, idle, pressure):
    traffic = Traffic(await CoreUnderTest.started(dut, idle, pressure), f"{idle} {pressure}")
    await traffic.run(40)
