"""The interface between the driver and a device: a bus with registers, and a stream that takes publications.

The board, the simulated RTL and the fake implement it. The meaning of the registers is left to the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Device(Protocol):
    """A matcher with its two interfaces. Only one thread may use it at a time."""

    def read(self, address: int) -> int:
        """Read the register at this address: 32 bits, not negative."""

    def write(self, address: int, value: int) -> None:
        """Write a register, and wait until it is written."""

    def send(self, words: Sequence[int]) -> None:
        """Send a publication: its beats in order, the last one marked as the last."""

    def close(self) -> None:
        """Release the device; no other call may follow."""
