"""Run the driver on the simulated RTL. Cycles are the device's own counts; every answer is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from silbo.hw.build.simulation import Parameters
from silbo.hw.driver.device import Device
from silbo.hw.driver.registers import CrtMode
from silbo.hw.driver.sim import SimDevice
from silbo.hw.driver.x2cbbr import X2cbbr
from silbo.papers.x2cbbr import paper_cycles, sets

MODES = {"bitmap": CrtMode.BITMAP, "list": CrtMode.LIST}


@dataclass(slots=True)
class BusTraffic:
    """The transactions on the two buses."""

    writes: int = 0
    reads: int = 0
    beats: int = 0  # of publications


class Counting:
    """A device that counts the accesses of the driver."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.traffic = BusTraffic()

    def read(self, address: int) -> int:
        """Count a read."""
        self.traffic.reads += 1
        return self._device.read(address)

    def write(self, address: int, value: int) -> None:
        """Count a write."""
        self.traffic.writes += 1
        self._device.write(address, value)

    def send(self, words: Sequence[int]) -> None:
        """Count beats."""
        self.traffic.beats += len(words)
        self._device.send(words)

    def close(self) -> None:
        """Close the device."""
        self._device.close()


class CheckedDriver:
    """The driver on one simulated device; `agrees` says whether all its answers were right so far."""

    def __init__(self, mode: str) -> None:
        self.device = SimDevice(Parameters(crt_mode=MODES[mode]))
        self.bus = Counting(self.device)
        self.driver = X2cbbr(self.bus)
        self.agrees = True

    def close(self) -> None:
        """End the simulation."""
        self.driver.close()

    def registered(self, filters: Iterable[int]) -> int:
        """Register subscriptions on an empty device; returns the core's cycles for all of them."""
        self.driver.init()
        total = 0
        for number, filter in enumerate(filters, 1):
            self.agrees &= self.driver.register([filter], osid=number) == number
            total += self.driver.cycles.register
        return total

    def matched(self, publication: sets.SamplePublication, filters: Sequence[int]) -> int:
        """Match a publication against the registered subscriptions; returns the core's cycles."""
        found = self.driver.match(None, publication.words)
        said = set(publication.words)
        self.agrees &= found == [tsid for tsid, filter in enumerate(filters, 1) if filter in said]
        return self.driver.cycles.match


def run(mode: str) -> dict[str, Any]:
    """Measure everything with one mode of rows."""
    at = CheckedDriver(mode)
    try:
        return {
            "init_cycles": at.driver.cycles.init,
            "table_1": [_load(at, sets.set1(count)) for count in paper_cycles.LOADS],
            "one_filter": [_load(at, sets.one_filter(count)) for count in paper_cycles.LOADS],
            "publications": _publications(at),
            "case_2": {name: _crossed(at, way) for name, way in (("worst", _worst), ("regular", _regular))},
            "agrees": at.agrees,
        }
    finally:
        at.close()


def _load(at: CheckedDriver, filters: list[int]) -> dict[str, int]:
    """Case I: map and register, then match one publication against all."""
    register = at.registered(filters)
    match = at.matched(sets.matching(), filters)
    return {"subscriptions": len(filters), "filters": len(set(filters)), "register": register, "match": match}


def _publications(at: CheckedDriver) -> list[dict[str, Any]]:
    """Tables 2 and 3: further publications against 252 registered subscriptions."""
    filters = sets.set1(paper_cycles.LOADS[-1])
    at.registered(filters)
    return [
        {"publication": each.name, "match": at.matched(each, filters)}
        for each in (sets.matching(), sets.strange(), sets.repetitive())
    ]


# Case II: through the driver


def _crossed(at: CheckedDriver, way: Callable[[CheckedDriver], None]) -> dict[str, int]:
    """The transactions on the buses, and the cycles from the first transaction to the last."""
    before, at.bus.traffic = at.device.cycles, BusTraffic()
    way(at)
    return {**asdict(at.bus.traffic), "cycles": at.device.cycles - before}


def _worst(at: CheckedDriver) -> None:
    """Initialise the device, register 252 subscriptions, send one publication and read its result."""
    at.driver.init()
    for number, filter in enumerate(sets.set1(paper_cycles.LOADS[-1]), 1):
        at.driver.register([filter], osid=number)
    _regular(at)


def _regular(at: CheckedDriver) -> None:
    """Send one publication and read its result."""
    at.agrees &= len(at.driver.match(None, sets.matching().words)) == paper_cycles.LOADS[-1]
