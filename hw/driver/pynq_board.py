"""A PYNQ board as a device: pynq reads and writes the core's registers, and publications are sent by DMA.

This module needs pynq (3.1.2, the last version for the Zynq-7020) and is imported only if a board is asked for. It
knows how to reach the core; the meaning of the registers is left to the driver.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from silbo.errors import Closed, DeviceError, DeviceNotAnswering, HardwareUnavailable
from silbo.hw.driver.board_environment import board_missing, pynq_missing

try:
    with warnings.catch_warnings():  # pynq warns on any architecture but a Zynq
        warnings.simplefilter("ignore")
        import pynq
except ImportError:
    raise pynq_missing() from None

log = logging.getLogger("silbo")

VLNV = "silbo:hw:x2cbbr:1.0"
DMA = "xilinx.com:ip:axi_dma"
BITSTREAM = Path(__file__).parent.parent / "boards" / "pynq-z2" / "x2cbbr.bit"
BEATS = 1024  # of the first buffer: more than a publication has if every word is in the CAM
# a publication waits for one command at most, which takes less than a millisecond
PATIENCE = 2.0  # seconds
DMA_CONTROL = 0x00  # the control register of the DMA's sending half
DMA_RESET = 1 << 2  # set: begin a reset; it reads as set until the reset is over
# Buffers of DMAs that did not stop. They are not freed: the DMA might read memory that others use by then.
_abandoned: list[Any] = []


class X2cbbrCore(pynq.DefaultIP):  # type: ignore[misc]  # pynq has no types
    """The core in an overlay: pynq makes an instance for each core that it finds."""

    bindto = [VLNV]  # noqa: RUF012  # pynq reads it from the class


class BoardDevice:
    """The core and the DMA of an overlay that is loaded on the board."""

    def __init__(self, overlay: Any) -> None:
        self._overlay = overlay
        self._core: Any = getattr(overlay, _named(overlay, VLNV))
        self._dma: Any = getattr(overlay, _named(overlay, DMA))
        self._channel: Any = self._dma.sendchannel
        self._buffer: Any = self._allocated(BEATS)  # None once the device is closed
        self._is_sending = False

    def read(self, address: int) -> int:
        """Read the register at this address."""
        return int(self._core.read(address))

    def write(self, address: int, value: int) -> None:
        """Write a register."""
        self._core.write(address, value)

    def send(self, words: Sequence[int]) -> None:
        """Send a publication as one transfer; its last beat has the stream's TLAST."""
        if self._buffer is None:
            raise Closed("the board")
        self._wait()  # a transfer that has not ended still reads the buffer
        if len(words) > self._buffer.size:
            larger = self._allocated(2 * len(words))
            self._buffer.freebuffer()
            self._buffer = larger
        self._buffer[: len(words)] = words
        try:
            self._channel.transfer(self._buffer, nbytes=4 * len(words))
        except (RuntimeError, ValueError) as error:
            raise DeviceError(f"the DMA takes no publication of {len(words)} beats: {error}") from error
        self._is_sending = True
        self._wait()

    def close(self) -> None:
        """Free the buffer after the DMA has stopped reading it; the overlay stays on the board.

        If the DMA does not stop in time, its buffer stays allocated until the process ends, so that this call ends.
        """
        if self._buffer is None:
            return
        if self._is_sending and not self._is_reset():
            log.warning(
                "the DMA did not stop within %s seconds. Its buffer of %s bytes stays allocated until this process "
                "ends. Load the bitstream again.", PATIENCE, self._buffer.nbytes,
            )  # fmt: skip
            _abandoned.append(self._buffer)
        else:
            self._buffer.freebuffer()
        self._buffer = None

    def _is_reset(self) -> bool:
        """Reset the DMA; whether the reset ended in time. pynq's own stop() waits without a bound."""
        self._dma.write(DMA_CONTROL, DMA_RESET)
        deadline = time.monotonic() + PATIENCE
        while self._dma.read(DMA_CONTROL) & DMA_RESET:
            if time.monotonic() > deadline:
                return False
        return True

    def _wait(self) -> None:
        """Wait until the transfer is over, if there is one; pynq's own wait has no bound."""
        if not self._is_sending:
            return
        deadline = time.monotonic() + PATIENCE
        while not (self._channel.idle or self._channel.error):
            if time.monotonic() > deadline:
                raise DeviceNotAnswering("a publication", f"the DMA has been busy for {PATIENCE} seconds")
        if self._channel.error:
            raise DeviceError("the DMA stopped with an error, and sends nothing more. Load the bitstream again.")
        self._channel.wait()  # the transfer is over; this makes pynq release the buffer
        self._is_sending = False

    def _allocated(self, beats: int) -> Any:
        return pynq.allocate(shape=(beats,), dtype="u4", target=self._overlay.device)


def open_board(bitstream: Path | str | None = None) -> BoardDevice:
    """Load a bitstream (this one, SILBO_BITSTREAM, or the one in boards/pynq-z2) onto the board, and open it."""
    check_board()
    path = Path(bitstream or os.environ.get("SILBO_BITSTREAM") or BITSTREAM)
    if not path.exists():
        raise HardwareUnavailable(
            f"the bitstream {path}", command="SILBO_BITSTREAM=FILE",
            why=f"{BITSTREAM.parent} has the scripts with which Vivado builds it.",
        )  # fmt: skip
    try:
        return BoardDevice(pynq.Overlay(str(path)))
    except (OSError, RuntimeError) as error:
        raise DeviceError(f"the board did not load the bitstream {path}: {error}. pynq needs root for this.") from error


def check_board() -> None:
    """Raise if pynq finds no device."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pynq warns if there is none; the error says so too
        try:
            found = pynq.Device.active_device
        except RuntimeError:
            found = None
    if found is None:
        raise board_missing()


def _named(overlay: Any, vlnv: str) -> str:
    """The name of the only core of this kind in an overlay."""
    names = [name for name, core in overlay.ip_dict.items() if core["type"].startswith(vlnv)]
    if len(names) != 1:
        raise DeviceError(f"this overlay has {len(names)} cores {vlnv}; one is expected. Load the matcher's bitstream.")
    return str(names[0])
