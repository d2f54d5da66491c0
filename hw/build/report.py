"""The matcher's figures: cycles of the simulated RTL, cells by Yosys, and the share of a workload that it takes.

The caller measures the share: workloads belong to `silbo.bench`, which stands above this package. Cycles are
the device's own counts, read through the driver. There is no clock, and so no time: only the vendor's tool can say
which clock a board holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from statistics import fmean
from typing import Any

from silbo.errors import DeviceError
from silbo.hw.build import synthesis
from silbo.hw.build.simulation import Parameters, tools
from silbo.hw.build.yowasp import YOSYS, check
from silbo.hw.driver.registers import CrtMode
from silbo.hw.driver.sim import SimDevice
from silbo.hw.driver.x2cbbr import X2cbbr

SUBSCRIPTIONS = 252  # the paper's maximum, of one filter each; the publication has as many words
MOST = 16  # filters that a subscription may have
ALL = (-1_000, 1_000, -1_000, 1_000)  # a box that contains every position sent here
HERE = (12, -7)
BITMAP = Parameters()
LIST = replace(BITMAP, crt_mode=CrtMode.LIST)
MANY = replace(BITMAP, subscribers=4096)


def figures(device_share: Callable[[], float], say: Callable[[str], object] = lambda _: None) -> dict[str, Any]:
    """Return all figures by name; the first run takes some minutes."""
    check(YOSYS)  # Yosys runs last: fail now if it is missing, not after minutes
    say("the simulated matcher")
    found: dict[str, Any] = _cycles()
    say("Yosys; a minute or two the first time")
    found |= _cells()
    say("the workload hw")
    found["device_share"] = round(device_share(), 4)
    found["parameters"] = {name.upper(): int(value) for name, value in asdict(BITMAP).items()}
    found["versions"] |= {"verilator": tools().version}
    return found


def _cycles() -> dict[str, Any]:
    with _matcher(BITMAP) as bitmap, _matcher(LIST) as lists, _matcher(MANY) as many:
        in_list, _ = _match(lists)
        in_bitmap, each = _match(bitmap)
        with_many, _ = _match(many)
        return {
            "match_cycles": in_bitmap,
            "match_cycles_list": in_list,
            "match_cycles_4096": with_many,
            "register_cycles_per_filter": each,
            "register_cycles_per_filter_of_16": _register_full(bitmap),
            "init_cycles": bitmap.cycles.init,
            "context_cycles": many.cycles.context,
        }


def _cells() -> dict[str, Any]:
    taken = synthesis.synthesised(BITMAP)
    return {
        "lut": taken.lut, "ff": taken.ff, "bram": taken.bram,
        "lut_share": round(taken.lut_share, 4), "versions": {"yosys": taken.yosys},
    }  # fmt: skip


@contextmanager
def _matcher(parameters: Parameters) -> Iterator[X2cbbr]:
    with X2cbbr(SimDevice(parameters)) as driver:
        yield driver


def _match(driver: X2cbbr) -> tuple[int, float]:
    """The cycles to match a publication that all subscriptions match in context, and to register one of them."""
    words, took = range(1, SUBSCRIPTIONS + 1), []
    for row, word in enumerate(words):
        driver.set_context(row, ALL)
        driver.register([word], row=row)
        took.append(driver.cycles.register)
    found = driver.match(HERE, words)
    if len(found) != SUBSCRIPTIONS:
        raise DeviceError(f"the device matched {len(found)} of {SUBSCRIPTIONS} subscriptions: a figure would be wrong.")
    return driver.cycles.match, fmean(took)


def _register_full(driver: X2cbbr) -> float:
    """The cycles to register a filter, in subscriptions with the most filters, all of them new to the CAM."""
    driver.init()
    took = []
    for first in range(0, 240, MOST):
        driver.register(range(first, first + MOST))
        took.append(driver.cycles.register / MOST)
    return round(fmean(took), 2)
