"""The driver of the X2CBBR matcher: its verbs, as reads and writes of a `Device`.

It knows the register map and the order of accesses, and nothing of silbo's filters and contexts: `silbo.hw.offload`
translates them to words and boxes in fixed point. Only one thread may use a driver at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from silbo.errors import DeviceError, DeviceFull, DeviceNotAnswering, InvalidValue
from silbo.hw.driver.device import Device
from silbo.hw.driver.device_box import BoxLike
from silbo.hw.driver.registers import (
    FAILURE_MASK,
    FAILURE_SHIFT,
    ID,
    NO_POSITION,
    NOT_ZERO_SHIFT,
    VALID,
    VERSION,
    Command,
    CrtMode,
    Failure,
    Register,
    Status,
)

if TYPE_CHECKING:
    from typing_extensions import Self

# reads of STATUS before the driver gives up. The longest operation, a publication that hits every row of lists full of
# t-SIDs (255 subscriptions of 16 filters), takes some 5,000 cycles, and a read takes at least two.
POLLS = 100_000
LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1  # coordinates: signed, 32 bits
MASK = (1 << 32) - 1

REMEDIES = {
    Failure.NO_FILTERS: "Register at least one filter.",
    Failure.TOO_MANY_FILTERS: "Keep this subscription in software.",
    Failure.SMT_FULL: "Remove a subscription first, or keep this one in software.",
    Failure.CRT_FULL: "Remove a subscription first, or keep this one in software.",
    Failure.NO_SUCH_TSID: "Remove only a registered subscription, and only once.",
}


ENDS = (Register.X_LOW, Register.X_HIGH, Register.Y_LOW, Register.Y_HIGH)  # in the order of a box


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters that the device was built with."""

    crt_mode: CrtMode
    filters: int  # entries of the CAM
    sids: int  # t-SIDs that can be assigned
    subscribers: int  # rows of the contextManager memory
    lanes: int  # rows tested in a cycle


@dataclass(frozen=True, slots=True)
class Cycles:
    """How long the last operation of each kind took, in cycles of the device's clock."""

    match: int
    register: int  # or remove
    init: int
    context: int  # the lanes' scan for the last publication


@dataclass(frozen=True, slots=True)
class Usage:
    """How full the tables are, and the publications matched since the last initialisation."""

    subscriptions: int
    s_max: int
    filters: int
    publications: int
    hcd: bool  # a filter of 31 subscriptions got another


class X2cbbr:
    """The driver of a matcher. A new driver initialises the device, so it begins empty."""

    def __init__(self, device: Device, *, polls: int = POLLS) -> None:
        self._device = device
        self._polls = polls
        self._is_settled = True  # False while a verb runs, and after one that was cut off
        self._identify()
        self.shape = self._shape()
        self.init()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the device."""
        self._device.close()

    def init(self) -> None:
        """Remove all subscriptions and contexts, and drop a result that was not taken."""
        if self._until(lambda status: not status & Status.BUSY, "an earlier command") & Status.DONE:
            self._write(Register.COMMAND, Command.TAKE)
        self._do(Command.INIT)

    def register(self, words: Sequence[int], row: int | None = None, osid: int = 0) -> int:
        """Register a subscription for these words, matched in the context of the row if one is given; its t-SID."""
        filters = [_word(word, "words") for word in words]
        subscriber = 0 if row is None else self._row(row) | VALID
        if not 0 <= osid < 1 << 64:
            raise InvalidValue("osid", f"a 64-bit number is expected, not {osid}")
        self._begin()
        self._write(Register.OSID_LOW, osid & MASK)
        self._write(Register.OSID_HIGH, osid >> 32)
        self._write(Register.SUBSCRIBER, subscriber)
        for each in filters:
            self._write(Register.FILTER, each)
        self._do(Command.REGISTER)
        return self._read(Register.TSID)

    def remove(self, tsid: int) -> None:
        """Remove a subscription; its t-SID is free again."""
        self._tsid(tsid)
        self._begin()
        self._write(Register.TSID, tsid)
        self._do(Command.REMOVE)

    def osid(self, tsid: int) -> int:
        """The o-SID of a t-SID, from the SMT."""
        self._write(Register.TSID, self._tsid(tsid))
        return self._read(Register.OSID_HIGH) << 32 | self._read(Register.OSID_LOW)

    @property
    def subscribers(self) -> int:
        """The number of rows of the contextManager memory."""
        return self.shape.subscribers

    def set_context(self, row: int, box: BoxLike | None) -> None:
        """Write a subscriber's box to its row; None removes it."""
        self._row(row)
        if box is None:
            self._write(Register.CONTEXT, row)
            return
        ends = [_coordinate(end, "box") for end in box]
        for register, end in zip(ENDS, ends, strict=True):
            self._write(register, end)
        self._write(Register.CONTEXT, row | VALID)

    def match(self, position: tuple[int, int] | None, words: Iterable[int]) -> list[int]:
        """The t-SIDs, in order, that a publication with these words at this position matches."""
        beats = [*_beats(position), *(_word(word, "words") for word in words)]
        self._begin()
        self._device.send(beats)
        status = self._until(lambda status: status & Status.DONE, "a publication")
        found = [tsid for index in _set_bits(status >> NOT_ZERO_SHIFT) for tsid in self._matches(index)]
        self._write(Register.COMMAND, Command.TAKE)
        self._is_settled = True
        return found

    @property
    def cycles(self) -> Cycles:
        """The cycles of the last operation of each kind."""
        return Cycles(
            match=self._read(Register.MATCH_CYCLES),
            register=self._read(Register.REGISTER_CYCLES),
            init=self._read(Register.INIT_CYCLES),
            context=self._read(Register.CONTEXT_CYCLES),
        )

    @property
    def usage(self) -> Usage:
        """How full the tables are."""
        return Usage(
            subscriptions=self._read(Register.S),
            s_max=self._read(Register.S_MAX),
            filters=self._read(Register.FILTERS_USED),
            publications=self._read(Register.PUBLICATIONS),
            hcd=bool(self._read(Register.STATUS) & Status.HCD),
        )

    def _identify(self) -> None:
        found = self._read(Register.ID), self._read(Register.VERSION)
        if found != (ID, VERSION):
            raise DeviceError(
                f"this is no X2CBBR that this silbo knows: ID {found[0]:#010x}, version {found[1]}; "
                f"expected ID {ID:#010x}, version {VERSION}. Load its bitstream, or build it again."
            )

    def _shape(self) -> Shape:
        return Shape(
            crt_mode=CrtMode(self._read(Register.CRT_MODE)),
            filters=self._read(Register.FILTERS),
            sids=self._read(Register.SIDS),
            subscribers=self._read(Register.SUBSCRIBERS),
            lanes=self._read(Register.LANES),
        )

    def _begin(self) -> None:
        """Begin a verb; if an earlier one was cut off, drop its filters and its result first."""
        if not self._is_settled:
            unfinished = Status.BUSY | Status.MATCHING
            if self._until(lambda status: not status & unfinished, "an earlier verb") & Status.DONE:
                self._write(Register.COMMAND, Command.TAKE)
            self._write(Register.COMMAND, Command.DROP)
        self._is_settled = False

    def _do(self, command: Command) -> None:
        """Run a command to its end, and raise if it was refused."""
        self._write(Register.COMMAND, command)
        status = self._until(lambda status: not status & Status.BUSY, command.name)
        self._is_settled = True
        if status & Status.REFUSED:
            raise DeviceError(
                f"the device was busy, and dropped {command.name}: another program uses it. Stop that program."
            )
        match Failure(status >> FAILURE_SHIFT & FAILURE_MASK):
            case Failure.NONE:
                return
            case Failure.SMT_FULL | Failure.CRT_FULL | Failure.TOO_MANY_FILTERS as full:
                raise DeviceFull.of(command.name, full.name, REMEDIES[full])
            case failure:
                raise DeviceError.of(command.name, failure.name, REMEDIES[failure])

    def _until(self, over: Callable[[int], object], what: str) -> int:
        """Read STATUS until `over` is true for it; returns it."""
        for _ in range(self._polls):
            status = self._read(Register.STATUS)
            if over(status):
                return status
        raise DeviceNotAnswering(what, f"STATUS is still {status:#010x} after {self._polls:,} reads")

    def _matches(self, index: int) -> Iterable[int]:
        """The t-SIDs in one word of the result."""
        return (32 * index + bit for bit in _set_bits(self._read(Register.MATCH + 4 * index)))

    def _row(self, row: int) -> int:
        if not 0 <= row < self.shape.subscribers:
            raise InvalidValue("row", f"the device has rows 0 to {self.shape.subscribers - 1}, not {row}")
        return row

    def _tsid(self, tsid: int) -> int:
        if not 0 <= tsid <= self.shape.sids:
            raise InvalidValue("tsid", f"the device has t-SIDs 1 to {self.shape.sids}, not {tsid}")
        return tsid

    def _read(self, address: int) -> int:
        return self._device.read(int(address))

    def _write(self, address: int, value: int) -> None:
        self._device.write(int(address), int(value))  # plain integers: pynq accepts no IntEnum


def _beats(position: tuple[int, int] | None) -> tuple[int, int]:
    """The two first beats of a publication: its position, or that it has none."""
    if position is None:
        return NO_POSITION, 0
    x, y = (_coordinate(each, "position") for each in position)
    if x == NO_POSITION:
        raise InvalidValue("position", f"{LOWEST} as x means that there is no position. The lowest x is {LOWEST + 1}.")
    return x, y


def _coordinate(value: int, path: str) -> int:
    """A signed coordinate as a word of the bus."""
    if not LOWEST <= value <= HIGHEST:
        raise InvalidValue(path, f"{value} is not a signed 32-bit number. Clamp it.")
    return value & MASK


def _word(value: int, path: str) -> int:
    if not 0 <= value <= MASK:
        raise InvalidValue(path, f"{value} is not a 32-bit number")
    return value


def _set_bits(word: int) -> list[int]:
    return [bit for bit in range(word.bit_length()) if word >> bit & 1]
