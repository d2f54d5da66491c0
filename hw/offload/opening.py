"""Open a device by its name, for `Broker(offload=…)`."""

from __future__ import annotations

import logging
from collections.abc import Callable

from silbo.context.table import ContextTable
from silbo.errors import HardwareUnavailable
from silbo.hw.driver.board_environment import is_image
from silbo.hw.driver.device import Device
from silbo.hw.driver.x2cbbr import X2cbbr
from silbo.hw.offload.offload import Offload
from silbo.matching.candidates import Candidates

log = logging.getLogger("silbo")


def opened(name: str, contexts: ContextTable, make_index: Callable[[], Candidates]) -> Offload | None:
    """Open the device of this name and return an offload over it; None if the name is "auto" and there is no board."""
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
    """Whether there is a board; logs the choice. A missing bitstream raises later, when the board is opened."""
    try:
        from silbo.hw.driver.pynq_board import check_board  # imports pynq

        check_board()
    except HardwareUnavailable as error:
        level = logging.WARNING if is_image() else logging.INFO  # on a board, software was not intended
        log.log(level, 'offload="auto": matching in software. %s', error.line)
        return False
    log.info('offload="auto": matching on the PYNQ board')
    return True


def _on_board() -> Device:
    from silbo.hw.driver.pynq_board import open_board  # imports pynq

    return open_board()
