"""A PYNQ board whose core is simulated: a `pynq.Device` over a `SimDevice`, for pynq's own classes.

`Overlay`, `DefaultIP`, `MMIO`, `allocate` and the DMA's driver are pynq's and unchanged; behind them stand the
simulated RTL, and here the registers of a DMA that reads what was flushed, as hardware reads what left the cache.
It needs pynq (`pip install 'silbo[pynq]'`).
"""

from __future__ import annotations

from ctypes import string_at
from types import SimpleNamespace
from typing import Any

import numpy as np
import pynq
from pynq.buffer import PynqBuffer

from silbo.hw.driver.pynq_board import VLNV
from silbo.hw.driver.registers import SPAN
from silbo.hw.driver.sim import SimDevice

CORE = 0x4000_0000  # where the core's registers are
DMA = 0x4040_0000  # and the DMA's
DMA_SPAN = 0x1_0000
MEMORY = 0x1000_0000  # where buffers begin

DMA_VLNV = "xilinx.com:ip:axi_dma:7.1"
DMA_PARAMETERS = {
    "c_include_mm2s": "1", "c_include_s2mm": "0", "c_include_sg": "0", "c_m_axi_mm2s_data_width": "32",
    "c_sg_length_width": "23",
}  # fmt: skip

# the DMA's registers for sending, as its manual (PG021) has them
CONTROL, STATUS, SOURCE, LENGTH = 0x00, 0x04, 0x18, 0x28
RUN, RESET = 1 << 0, 1 << 2
HALTED, IDLE, DECODE_ERROR = 1 << 0, 1 << 1, 1 << 6


class SimulatedDma:
    """The registers of a DMA's sending half, in its simple mode.

    With `is_stuck` transfers never end: such a DMA does not halt when it is stopped, but a reset ends it. With
    `is_dead` a reset does not end either.
    """

    def __init__(self, board: SimulatedBoard) -> None:
        self._board = board
        self._registers = {STATUS: HALTED}
        self._is_sending = False
        self.is_stuck = False
        self.is_dead = False

    def read(self, address: int) -> int:
        """What a register holds."""
        return self._registers.get(address, 0)

    def write(self, address: int, value: int) -> None:
        """Start, stop, reset, or send: the length is what begins a transfer."""
        self._registers[address] = value
        if address == CONTROL:
            self._control(value)
        elif address == LENGTH:
            self._send(value)

    def _control(self, value: int) -> None:
        if value & RESET:
            if not self.is_dead:
                self._registers, self._is_sending = {STATUS: HALTED}, False
        elif value & RUN:
            self._registers[STATUS] = 0
        elif not self._is_sending:
            self._registers[STATUS] = HALTED

    def _send(self, length: int) -> None:
        self._registers[STATUS] &= ~IDLE
        self._is_sending = self.is_stuck
        if self.is_stuck:
            return
        data = self._board.flushed(self._registers[SOURCE], length)
        if data is None:
            self._registers[STATUS] = HALTED | DECODE_ERROR
        else:
            self._board.core.send([int(word) for word in np.frombuffer(data, "<u4")])
            self._registers[STATUS] |= IDLE


class SimulatedBoard(pynq.Device):  # type: ignore[misc]  # pynq has no types
    """A device for pynq that finds one core and one DMA in any bitstream."""

    def __init__(self, core: SimDevice) -> None:
        super().__init__("silbo-simulated")
        self.core = core
        self.dma = SimulatedDma(self)
        self.capabilities = {"REGISTER_RW": True}
        self.name = "simulated"
        self._flushed: dict[int, bytes] = {}
        self._end = MEMORY

    def read_registers(self, address: int, length: int) -> bytes:
        """As MMIO reads: a word."""
        part, offset = self._at(address)
        return int(part.read(offset)).to_bytes(length, "little")

    def write_registers(self, address: int, data: bytes) -> None:
        """As MMIO writes: a word, or several."""
        for begin in range(0, len(data), 4):
            part, offset = self._at(address + begin)
            part.write(offset, int.from_bytes(data[begin : begin + 4], "little"))

    def allocate(self, shape: Any, dtype: Any, **_: Any) -> Any:
        """A buffer at an address of its own."""
        made = PynqBuffer(shape, dtype=dtype, device=self, device_address=self._end, bo=self._end)
        self._end += made.nbytes + 0x1000
        return made

    def flush(self, buffer: int, offset: int, pointer: int, length: int) -> None:
        """From now on the DMA sees what is in a buffer now."""
        self._flushed[buffer + offset] = string_at(pointer, length)

    def flushed(self, address: int, length: int) -> bytes | None:
        """What the DMA sees at an address; nothing where no buffer was flushed."""
        data = self._flushed.get(address)
        return None if data is None or len(data) < length else data[:length]

    def get_bitfile_metadata(self, _: str) -> Any:
        """What a block design's metadata says, as pynq's parser gives it."""
        return SimpleNamespace(
            ip_dict={"x2cbbr_0": _described("x2cbbr_0", VLNV, CORE, SPAN, {}),
                     "axi_dma_0": _described("axi_dma_0", DMA_VLNV, DMA, DMA_SPAN, DMA_PARAMETERS)},
            mem_dict={}, gpio_dict={}, interrupt_pins={}, interrupt_controllers={}, hierarchy_dict={}, clock_dict={},
            systemgraph=None,
        )  # fmt: skip

    def download(self, bitstream: Any, parser: Any = None) -> None:
        """A bitstream is on the board."""
        self.post_download(bitstream, parser, self.name)

    def _at(self, address: int) -> tuple[Any, int]:
        """Who answers at an address, and the offset there."""
        if DMA <= address < DMA + DMA_SPAN:
            return self.dma, address - DMA
        return self.core, address - CORE


def _described(name: str, vlnv: str, address: int, span: int, parameters: dict[str, str]) -> dict[str, Any]:
    """A core as pynq's parser describes it."""
    return {
        "type": vlnv, "phys_addr": address, "addr_range": span, "fullpath": name, "parameters": parameters,
        "interrupts": {}, "gpio": {}, "state": None,
    }  # fmt: skip
