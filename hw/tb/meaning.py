"""The expected answers of the core: silbo's oracle, which gets the same events as the core.

A word is one attribute with one value, `a3 = 7`. A t-SID is a subscription. A row of the contextManager is a session
with its box in its context. The oracle compares integers exactly, and so does the core.
"""

from __future__ import annotations

from collections.abc import Iterable

from silbo.engines.replay import OracleEngine
from silbo.errors import SilboError
from silbo.hw.driver.device_box import DeviceBox
from silbo.model.events import Advertise, Event, Publish, SetContext, Subscribe, Unsubscribe

INSIDE = "pub.x >= this.x_low and pub.x <= this.x_high and pub.y >= this.y_low and pub.y <= this.y_high"
NOWHERE = dict.fromkeys(("x_low", "x_high", "y_low", "y_high"))


def word(attribute: int, value: int) -> int:
    """The word of the filter `a{attribute} = {value}`. Both are less than 256, in four digits of two bits, one a byte.

    The attribute decides which byte has the value's first digit. So two values of one attribute, or two near
    attributes, mostly differ in one byte only, and every byte is that byte for some pairs: a CAM that ignores a byte
    takes one word for another.
    """
    assert max(attribute, value) < 256
    values = ((value >> 2 * ((i - attribute) % 4) & 3) << 4 for i in range(4))
    return int.from_bytes((attribute >> 2 * i & 3 | each for i, each in enumerate(values)), "little")


def words_of(attributes: Iterable[tuple[int, int]]) -> list[int]:
    """The words of some attributes."""
    return [word(name, value) for name, value in attributes]


class ExpectedMatches:
    """The oracle, and the session of each t-SID."""

    def __init__(self) -> None:
        self._oracle = OracleEngine()
        self._session: dict[int, str] = {}  # by t-SID
        self._apply(Advertise("publisher", "all", "true"))

    def subscribe(self, tsid: int, attributes: list[tuple[int, int]], row: int | None) -> None:
        """Tell the oracle of a registered subscription."""
        assert tsid not in self._session
        session = "out of context" if row is None else f"row {row}"
        self._session[tsid] = session
        text = " and ".join(f"a{name} = {value}" for name, value in attributes)
        self._apply(Subscribe(session, str(tsid), text, None if row is None else INSIDE))

    def unsubscribe(self, tsid: int) -> None:
        """Tell the oracle of a removed subscription."""
        self._apply(Unsubscribe(self._session.pop(tsid), str(tsid)))

    def set_context(self, row: int, box: DeviceBox | None) -> None:
        """Tell the oracle of a subscriber's new box, or that it has none."""
        self._apply(SetContext(f"row {row}", NOWHERE if box is None else box._asdict()))

    def publish(self, position: tuple[int, int] | None, attributes: list[tuple[int, int]]) -> set[int]:
        """The t-SIDs that match a publication."""
        message = {f"a{name}": value for name, value in attributes}
        context = {} if position is None else {"x": position[0], "y": position[1]}
        return self._apply(Publish("publisher", message, context))

    def _apply(self, event: Event) -> set[int]:
        return {int(each.subscription) for each in self._oracle.apply([event], _refused)}


def _refused(_number: int, error: SilboError) -> None:
    raise error
