"""A PYNQ board as a device: its registers by pynq's driver of the core, its publications by DMA.

This module needs pynq (3.1.2, the last that knows the Zynq-7020) and is imported where a board is wanted. It knows
how to reach the core, and nothing of what the registers mean.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from silbo.errors import DeviceError, DeviceNotAnswering, HardwareUnavailable

try:
    with warnings.catch_warnings():  # on anything but a Zynq, pynq warns of the architecture
        warnings.simplefilter("ignore")
        import pynq
except ImportError:
    raise HardwareUnavailable("pynq", extra="pynq") from None

VLNV = "silbo:hw:x2cbbr:1.0"
DMA = "xilinx.com:ip:axi_dma"
BITSTREAM = Path(__file__).parent.parent / "boards" / "pynq-z2" / "x2cbbr.bit"
BEATS = 1024  # of the first buffer: more than a publication has that the device knows every word of
# a publication waits for a command at most, which takes less than a millisecond
PATIENCE = 2.0  # seconds


class X2cbbrCore(pynq.DefaultIP):  # type: ignore[misc]  # pynq has no types
    """The core in an overlay: pynq makes one of these for each that it finds."""

    bindto = [VLNV]  # noqa: RUF012  # pynq reads it from the class


class BoardDevice:
    """The core and the DMA of an overlay that is on the board."""

    def __init__(self, overlay: Any) -> None:
        self._overlay = overlay
        self._core: Any = getattr(overlay, _named(overlay, VLNV))
        self._channel: Any = getattr(overlay, _named(overlay, DMA)).sendchannel
        self._buffer = self._allocated(BEATS)
        self._is_sending = False

    def read(self, address: int) -> int:
        """The register at this address."""
        return int(self._core.read(address))

    def write(self, address: int, value: int) -> None:
        """Write a register."""
        self._core.write(address, value)

    def send(self, words: Sequence[int]) -> None:
        """Send a publication: one transfer, whose end is the stream's TLAST."""
        self._wait()  # one that did not come to its end reads the buffer still
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
        """Give the buffer back, once the DMA reads it no more; the overlay stays on the board."""
        if self._is_sending:
            self._channel.stop()
        self._buffer.freebuffer()

    def _wait(self) -> None:
        """Until the transfer is over, if there is one; pynq's own wait has no bound."""
        if not self._is_sending:
            return
        deadline = time.monotonic() + PATIENCE
        while not (self._channel.idle or self._channel.error):
            if time.monotonic() > deadline:
                raise DeviceNotAnswering("a publication", f"the DMA is at work since {PATIENCE} seconds")
        if self._channel.error:
            raise DeviceError("the DMA stopped with an error, and sends nothing more. Load the bitstream anew.")
        self._channel.wait()  # it is over; this lets go of the buffer
        self._is_sending = False

    def _allocated(self, beats: int) -> Any:
        return pynq.allocate(shape=(beats,), dtype="u4", target=self._overlay.device)


def open_board(bitstream: Path | str | None = None) -> BoardDevice:
    """The board that this program runs on, with this bitstream, SILBO_BITSTREAM or the one beside the sources."""
    if not is_board():
        raise HardwareUnavailable(
            "a PYNQ board", command="pip install 'silbo[pynq]' on the board",
            why='pynq finds no device here. The simulated matcher runs anywhere: offload="sim".',
        )  # fmt: skip
    path = Path(bitstream or os.environ.get("SILBO_BITSTREAM") or BITSTREAM)
    if not path.exists():
        raise HardwareUnavailable(
            f"the bitstream {path}", command="SILBO_BITSTREAM=FILE",
            why=f"{BITSTREAM.parent} has what Vivado makes it from.",
        )  # fmt: skip
    try:
        return BoardDevice(pynq.Overlay(str(path)))
    except (OSError, RuntimeError) as error:
        raise DeviceError(f"the board did not take the bitstream {path}: {error}. pynq loads one as root.") from error


def is_board() -> bool:
    """Whether pynq finds a device."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that there is none, and so do we
        try:
            return pynq.Device.active_device is not None
        except RuntimeError:
            return False


def _named(overlay: Any, vlnv: str) -> str:
    """The name of the one core of this kind in an overlay."""
    names = [name for name, core in overlay.ip_dict.items() if core["type"].startswith(vlnv)]
    if len(names) != 1:
        raise DeviceError(
            f"this overlay has {len(names)} cores {vlnv}, and must have one. Load the matcher's bitstream."
        )
    return str(names[0])
