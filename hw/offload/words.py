"""Words: an attribute with its value, as a number that the device compares.

A word is exact, not a hash: two words are the same if the language calls their values equal (1 and 1.0 are, 0 and
-0.0 are, 1 and true are not). Only words of subscriptions on the device have a number. When no subscription uses a word
any more, its number is free for another.
"""

from __future__ import annotations

from typing import TypeAlias

from silbo.model.values import KINDS, Attributes, Kind, Scalar

Word: TypeAlias = tuple[str, Kind, Scalar]  # attribute, kind and value; the kind keeps 1 and true apart


class Words:
    """The numbers of the words in use, from 1 on. The CAM holds far fewer words than 2^32."""

    def __init__(self) -> None:
        self._numbers: dict[Word, int] = {}
        self._uses: dict[Word, int] = {}
        self._free: list[int] = []

    def take(self, word: Word) -> int:
        """The number of a word; counts one more user of it."""
        if word not in self._numbers:
            self._numbers[word] = self._free.pop() if self._free else len(self._numbers) + 1
        self._uses[word] = self._uses.get(word, 0) + 1
        return self._numbers[word]

    def release(self, word: Word) -> None:
        """Count one user of the word less."""
        self._uses[word] -= 1
        if not self._uses[word]:
            del self._uses[word]
            self._free.append(self._numbers.pop(word))

    def of(self, attributes: Attributes) -> list[int]:
        """The numbers of a message's words, without words that no subscription uses."""
        numbers = self._numbers
        said = ((name, KINDS[type(value)], value) for name, value in attributes.items())
        return [number for word in said if (number := numbers.get(word)) is not None]

    def __len__(self) -> int:
        return len(self._numbers)
