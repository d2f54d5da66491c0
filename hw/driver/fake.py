"""A device with a script of expected accesses; a read gets the answer that the script has for it.

    fake = FakeDevice([Read(Register.ID, ID), Write(Register.COMMAND, Command.INIT), Send([1, 2, 3])])
    …
    fake.finish()

It knows nothing of the matcher. It tests the exact accesses of a driver, and gives answers that a real device would not
give on request. The first access that differs raises `UnexpectedAccess`, and so does `finish` if some are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from silbo.hw.driver.registers import Register


@dataclass(frozen=True, slots=True)
class Read:
    """A read of a register, and its answer."""

    address: int
    answer: int

    def __str__(self) -> str:
        return f"read {_name(self.address)}"


@dataclass(frozen=True, slots=True)
class Write:
    """A write of a register."""

    address: int
    value: int

    def __str__(self) -> str:
        return f"write {_name(self.address)} = {self.value:#x}"


@dataclass(frozen=True, slots=True)
class Send:
    """A publication on the stream."""

    words: tuple[int, ...]

    def __init__(self, words: Iterable[int]) -> None:
        object.__setattr__(self, "words", tuple(words))

    def __str__(self) -> str:
        return f"send {' '.join(f'{word:#x}' for word in self.words)}"


Access: TypeAlias = Read | Write | Send


class UnexpectedAccess(AssertionError):
    """An access that differs from the script; `number` is the number of accesses before it."""

    def __init__(self, number: int, expected: Access | None, found: str) -> None:
        super().__init__(f"access {number}: expected {expected or 'none'}, found {found}")
        self.number = number
        self.expected = expected


class FakeDevice:
    """A device that follows a script; `done` has the accesses so far."""

    def __init__(self, script: Iterable[Access]) -> None:
        self._script = list(script)
        self.done: list[Access] = []
        self.closed = False

    def read(self, address: int) -> int:
        """Return the script's answer, if the script expects this read."""
        match self._next():
            case Read(expected, answer) if expected == address:
                self._advance()
                return answer
        raise self._deviation(f"read {_name(address)}")

    def write(self, address: int, value: int) -> None:
        """Do nothing, if the script expects this write."""
        self._expect(Write(address, value))

    def send(self, words: Sequence[int]) -> None:
        """Do nothing, if the script expects this publication."""
        self._expect(Send(words))

    def close(self) -> None:
        """Set `closed`."""
        self.closed = True

    def finish(self) -> None:
        """Raise if accesses of the script are left."""
        if self._next() is not None:
            raise self._deviation("the end")

    def _expect(self, access: Access) -> None:
        if self._next() != access:
            raise self._deviation(str(access))
        self._advance()

    def _next(self) -> Access | None:
        return self._script[len(self.done)] if len(self.done) < len(self._script) else None

    def _advance(self) -> None:
        self.done.append(self._script[len(self.done)])

    def _deviation(self, found: str) -> UnexpectedAccess:
        return UnexpectedAccess(len(self.done), self._next(), found)


def _name(address: int) -> str:
    """The register's name for an address; words of the result have their number."""
    if address >= Register.MATCH:
        return f"MATCH[{(address - Register.MATCH) // 4}]"
    try:
        return Register(address).name
    except ValueError:
        return f"{address:#05x}"
