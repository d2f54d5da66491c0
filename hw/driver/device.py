"""What the driver speaks to: a bus with registers, and a stream that takes publications.

The board, the simulated RTL and the recording fake stand behind it; what the registers mean is the driver's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Device(Protocol):
    """A matcher as its two interfaces show it. One caller at a time."""

    def read(self, address: int) -> int:
        """The register at this address: 32 bits, not negative."""

    def write(self, address: int, value: int) -> None:
        """Write a register, and wait until it is written."""

    def send(self, words: Sequence[int]) -> None:
        """Send a publication: its beats in order, the last one marked as the last."""

    def close(self) -> None:
        """Let go of it; nothing may be asked of it afterwards."""
