"""The simulated matcher as a device: the library that `simulation` compiles, called through ctypes.

A call runs the clock until the device has answered; between calls the clock stops. So `cycles` counts only the cycles
of the device and its two buses, whatever time Python takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import CDLL, POINTER, byref, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from enum import IntEnum
from pathlib import Path
from typing import Any

from silbo.errors import Closed, DeviceError, DeviceNotAnswering, InvalidValue
from silbo.hw.build.simulation import Parameters, library

WAITED = "it did not answer for a million cycles"


class _Outcome(IntEnum):
    """The results of the library's functions, as named in sim/x2cbbr_sim.cpp."""

    FINE = 0
    NO_ANSWER = 1
    BUS_ERROR = 2
    NO_SUCH_CELL = 3
    NO_TRACE = 4


class SimDevice:
    """A simulated matcher, just reset. Instances share no state."""

    def __init__(self, parameters: Parameters | None = None, *, vcd: Path | str | None = None) -> None:
        """Compile the library if it is not in the cache; with `vcd`, write every signal's changes to this file."""
        self.parameters = parameters or Parameters()
        self._library = _loaded(library(self.parameters, trace=vcd is not None))
        self._sim: int | None = self._library.x2cbbr_new()
        if vcd is not None:
            self.trace(vcd)

    def __del__(self) -> None:
        self.close()

    def read(self, address: int) -> int:
        """Read the register at this address."""
        value = c_uint32()
        self._checked(self._library.x2cbbr_read(self._alive, address, byref(value)), f"a read of {address:#05x}")
        return value.value

    def write(self, address: int, value: int) -> None:
        """Write a register."""
        self._checked(self._library.x2cbbr_write(self._alive, address, value), f"a write of {address:#05x}")

    def send(self, words: Sequence[int]) -> None:
        """Send a publication."""
        beats = (c_uint32 * len(words))(*words)
        self._checked(self._library.x2cbbr_send(self._alive, beats, len(words)), "a publication")

    def close(self) -> None:
        """End the simulation, and close its waveform file."""
        if getattr(self, "_sim", None) is not None:
            self._library.x2cbbr_delete(self._sim)
            self._sim = None

    @property
    def cycles(self) -> int:
        """Cycles of the clock since the simulation began."""
        return int(self._library.x2cbbr_cycles(self._alive))

    def tick(self, cycles: int = 1) -> None:
        """Run the clock for some cycles."""
        self._library.x2cbbr_tick(self._alive, cycles)

    def flip_filter(self, entry: int, bit: int) -> None:
        """Change one bit of the filter that an entry of the CAM holds, as a fault would."""
        self._checked(self._library.x2cbbr_flip_filter(self._alive, entry, bit), f"bit {bit} of entry {entry}")

    def flip_context(self, row: int, bit: int) -> None:
        """Change one bit of a row of the contextManager memory: x_low from 0, x_high from 32, …; bit 128 is VALID."""
        self._checked(self._library.x2cbbr_flip_context(self._alive, row, bit), f"bit {bit} of row {row}")

    def trace(self, vcd: Path | str) -> None:
        """Write every signal's changes to this file from now on."""
        Path(vcd).touch()  # if the file cannot be written, this raises an error with the reason
        self._checked(self._library.x2cbbr_trace(self._alive, str(vcd).encode()), "a waveform")

    @property
    def _alive(self) -> int:
        if self._sim is None:
            raise Closed("the simulated device")
        return self._sim

    def _checked(self, outcome: int, what: str) -> None:
        match _Outcome(outcome):
            case _Outcome.FINE:
                return
            case _Outcome.NO_ANSWER:
                raise DeviceNotAnswering(what, WAITED)
            case _Outcome.BUS_ERROR:
                raise DeviceError(f"the device answered {what} with an error: there is no such row or t-SID.")
            case _Outcome.NO_SUCH_CELL:
                raise InvalidValue("flip", f"the device has no {what}")
            case _Outcome.NO_TRACE:
                raise DeviceError("this device was compiled without waveforms. Open it with SimDevice(vcd=FILE).")


def _loaded(path: Path) -> Any:
    """Load the library and set the types of its functions."""
    loaded = CDLL(str(path))
    for name, gives, takes in (
        ("new", c_void_p, []),
        ("delete", None, [c_void_p]),
        ("tick", None, [c_void_p, c_uint64]),
        ("cycles", c_uint64, [c_void_p]),
        ("write", c_int, [c_void_p, c_uint32, c_uint32]),
        ("read", c_int, [c_void_p, c_uint32, POINTER(c_uint32)]),
        ("send", c_int, [c_void_p, POINTER(c_uint32), c_uint32]),
        ("flip_filter", c_int, [c_void_p, c_uint32, c_uint32]),
        ("flip_context", c_int, [c_void_p, c_uint32, c_uint32]),
        ("trace", c_int, [c_void_p, c_char_p]),
    ):
        function = getattr(loaded, f"x2cbbr_{name}")
        function.restype, function.argtypes = gives, takes
    return loaded
