"""Ids for names: of the attributes and publishers' variables that filters and functions mention."""

from __future__ import annotations

from silbo.context.scalars import KIND, NUMBER


class Names:
    """Ids by name. A freed id is given to the next new name."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.numbers: dict[str, int] = {}  # the ids as meta words of numbers: encoders need only this look-up
        self._names: list[str | None] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        """The number of ids, used and free: the most that were in use at once."""
        return len(self._names)

    def of(self, number: int) -> str | None:
        """The name with this id, or None if it is free."""
        return self._names[number]

    def take(self, name: str) -> int:
        """Assign an id to a name that has none, and return it."""
        number = self._free.pop() if self._free else len(self._names)
        if number == len(self._names):
            self._names.append(None)
        self.ids[name], self._names[number] = number, name
        self.numbers[name] = number | NUMBER << KIND
        return number

    def forget(self, name: str) -> int:
        """Free a name's id, and return it."""
        number = self.ids.pop(name)
        del self.numbers[name]
        self._names[number] = None
        self._free.append(number)
        return number
