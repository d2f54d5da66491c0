"""One module under test, cycle by cycle.

Inputs change while the clock is low, and the outputs of a cycle are read before the edge that ends it. So a step shows
inputs and outputs of the same cycle, as a waveform does.
"""

from __future__ import annotations

from types import SimpleNamespace

from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, Timer

PERIOD = 10  # ns


class Module:
    """A clocked module. `pulses` are inputs that are 0 in every step that does not set them."""

    def __init__(self, dut: HierarchyObject, pulses: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        self.dut = dut
        self._pulses = pulses
        self._outputs = outputs

    @classmethod
    async def started(cls, dut: HierarchyObject, pulses: str, outputs: str, reset: str = "", **inputs: int) -> Module:
        """Start the clock, set these inputs, and give the reset (or another clearing input) once."""
        module = cls(dut, tuple(pulses.split()), tuple(outputs.split()))
        Clock(dut.clk, PERIOD, "ns").start(start_high=False)
        await FallingEdge(dut.clk)
        for _ in range(3 if reset else 0):
            await module.step(**inputs, **{reset: 1})
        await module.step(**inputs, **({reset: 0} if reset else {}))
        return module

    async def step(self, **inputs: int) -> SimpleNamespace:
        """Run one cycle with these inputs; returns its outputs, None for those that are undefined."""
        for name, value in {**dict.fromkeys(self._pulses, 0), **inputs}.items():
            getattr(self.dut, name).value = value
        await Timer(1, "ns")  # for outputs that depend on the inputs combinationally
        seen = SimpleNamespace(**{name: self._value(name) for name in self._outputs})
        await FallingEdge(self.dut.clk)
        return seen

    async def steps(self, count: int, **inputs: int) -> list[SimpleNamespace]:
        """Run `count` cycles with these inputs; returns the outputs of each."""
        return [await self.step(**inputs) for _ in range(count)]

    def size(self, name: str) -> int:
        """The value of a parameter."""
        return int(getattr(self.dut, name).value)

    def _value(self, name: str) -> int | None:
        value = getattr(self.dut, name).value
        return int(value) if value.is_resolvable else None
