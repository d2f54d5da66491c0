"""Subscriptions and publications as the paper describes them; it prints neither, so these are reconstructions.

Set1 has 42 subscriptions of one filter each, which all match the publication. The paper's registration gets much
cheaper from the second load on, as it does if the filters are in the CAM already. So here the 42 filters differ, and
each further load has the same filters again.
"""

from __future__ import annotations

from dataclasses import dataclass

EACH = 42  # subscriptions of a load
WORDS = 252  # of a publication: 1,008 bytes


@dataclass(frozen=True, slots=True)
class SamplePublication:
    """The words of a publication, and a name that describes them."""

    name: str
    words: tuple[int, ...]


def set1(count: int) -> list[int]:
    """The filters of `count` subscriptions, one each."""
    return [_word("f", i % EACH) for i in range(count)]


def one_filter(count: int) -> list[int]:
    """The same filter in every subscription: the highest possible commonality."""
    return [_word("f", 0)] * count


def matching() -> SamplePublication:
    """A publication with every filter of Set1 among its words, one in every six."""
    words = [_word("f", i // 6) if i % 6 == 0 else _word("w", i) for i in range(WORDS)]
    return SamplePublication("every filter is among its words", tuple(words))


def strange() -> SamplePublication:
    """A publication with no filter of Set1 among its words."""
    return SamplePublication("no filter is among its words", tuple(_word("w", i) for i in range(WORDS)))


def repetitive() -> SamplePublication:
    """A publication that has each filter six times, and nothing else."""
    return SamplePublication("each filter six times", tuple(set1(WORDS)))


def _word(letter: str, number: int) -> int:
    """Four characters, as a parsed token would be."""
    return int.from_bytes(f"{letter}{number:03}".encode("ascii"), "big")
