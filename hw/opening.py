"""Devices by name: what `Broker(offload=…)` opens."""

from __future__ import annotations

from collections.abc import Callable

from silbo.context.table import ContextTable
from silbo.errors import HardwareUnavailable
from silbo.hw.driver.device import Device
from silbo.hw.driver.x2cbbr import X2cbbr
from silbo.hw.offload import Offload
from silbo.matching.candidates import Candidates


def opened(name: str, contexts: ContextTable, make_index: Callable[[], Candidates]) -> Offload | None:
    """An offload over the device of this name; None if any would do and there is none."""
    if name == "auto" and not _is_on_board():
        return None
    device = _simulated() if name == "sim" else _on_board()
    try:
        return Offload(X2cbbr(device), contexts, make_index)
    except BaseException:
        device.close()
        raise


def _simulated() -> Device:
    from silbo.hw.driver.sim import SimDevice

    return SimDevice()


def _is_on_board() -> bool:
    """Whether there is a board; what it lacks, a bitstream say, is told when it is opened."""
    try:
        from silbo.hw.driver.pynq_board import is_board  # with pynq
    except HardwareUnavailable:
        return False
    return is_board()


def _on_board() -> Device:
    from silbo.hw.driver.pynq_board import open_board  # with pynq

    return open_board()
