"""Names as numbers: the ids of the attributes and publishers' variables that filters and functions mention."""

from __future__ import annotations

from silbo.context.scalars import KIND, NUMBER


class Names:
    """Ids by name; one that is given free serves the next new name."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.numbers: dict[str, int] = {}  # the same as meta words of numbers: encoders look nothing else up
        self._names: list[str | None] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        """How many ids there have been at once."""
        return len(self._names)

    def of(self, number: int) -> str | None:
        """The name that has an id, if one has it."""
        return self._names[number]

    def take(self, name: str) -> int:
        """An id for a name that has none."""
        number = self._free.pop() if self._free else len(self._names)
        if number == len(self._names):
            self._names.append(None)
        self.ids[name], self._names[number] = number, name
        self.numbers[name] = number | NUMBER << KIND
        return number

    def forget(self, name: str) -> int:
        """Give a name's id free."""
        number = self.ids.pop(name)
        del self.numbers[name]
        self._names[number] = None
        self._free.append(number)
        return number
