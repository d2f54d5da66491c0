"""What the core must answer: silbo's oracle, told the same as the core.

A word stands for one attribute with one value, `a3 = 7`; a t-SID for a subscription; a row of the contextManager
for a session, whose box is in its context. The oracle compares integers as they are, and so does the core.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from silbo.engines.replay import OracleEngine
from silbo.errors import SilboError
from silbo.hw.tb.core import Box
from silbo.model.events import Advertise, Event, Publish, SetContext, Subscribe, Unsubscribe

INSIDE = "pub.x >= this.x_low and pub.x <= this.x_high and pub.y >= this.y_low and pub.y <= this.y_high"
NOWHERE = dict.fromkeys(("x_low", "x_high", "y_low", "y_high"))


def word(attribute: int, value: int) -> int:
    """The filter `a{attribute} = {value}`, both less than 256, each cut into four digits, one to a byte.

    Which byte has the value's first digit depends on the attribute. So two values of one attribute, or two near
    attributes, mostly differ in one byte alone, and each byte is that byte for some: a CAM that does not look at it
    takes the one for the other.
    """
    assert max(attribute, value) < 256
    values = ((value >> 2 * ((i - attribute) % 4) & 3) << 4 for i in range(4))
    return int.from_bytes((attribute >> 2 * i & 3 | each for i, each in enumerate(values)), "little")


def words_of(attributes: Iterable[tuple[int, int]]) -> list[int]:
    """The words of some attributes."""
    return [word(name, value) for name, value in attributes]


class Meaning:
    """The oracle's state, and who is subscribed as which t-SID."""

    def __init__(self) -> None:
        self._oracle = OracleEngine()
        self._session: dict[int, str] = {}  # by t-SID
        self._apply(Advertise("publisher", "all", "true"))

    def subscribe(self, tsid: int, attributes: list[tuple[int, int]], row: int | None) -> None:
        """A subscription was registered."""
        assert tsid not in self._session
        session = "out of context" if row is None else f"row {row}"
        self._session[tsid] = session
        text = " and ".join(f"a{name} = {value}" for name, value in attributes)
        self._apply(Subscribe(session, str(tsid), text, None if row is None else INSIDE))

    def unsubscribe(self, tsid: int) -> None:
        """It was removed."""
        self._apply(Unsubscribe(self._session.pop(tsid), str(tsid)))

    def set_context(self, row: int, box: Box | None) -> None:
        """A subscriber has another box, or none."""
        self._apply(SetContext(f"row {row}", NOWHERE if box is None else asdict(box)))

    def publish(self, position: tuple[int, int] | None, attributes: list[tuple[int, int]]) -> set[int]:
        """Which t-SIDs match."""
        message = {f"a{name}": value for name, value in attributes}
        context = {} if position is None else {"x": position[0], "y": position[1]}
        return self._apply(Publish("publisher", message, context))

    def _apply(self, event: Event) -> set[int]:
        return {int(each.subscription) for each in self._oracle.apply([event], _refused)}


def _refused(_number: int, error: SilboError) -> None:
    raise error
