"""The small handles that publishing verbs return: receipts and advertisements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from silbo.model.notification import Publication

if TYPE_CHECKING:
    from typing_extensions import Self

    from silbo.session.verbs import Verbs


@dataclass(repr=False, eq=False, slots=True)  # not frozen: one is made for each message
class Receipt:
    """The result of `publish`: the message's position in its session's sequence."""

    _publication: Publication

    @property
    def sequence(self) -> int:
        """The position, from 1, which rises by one with each accepted publish of the session."""
        return self._publication.sequence

    def wait(self, timeout: float | None = None) -> Receipt:
        """Wait until the broker has acknowledged the message: an embedded broker has when `publish` returns."""
        del timeout
        return self

    def __repr__(self) -> str:
        return f"<Receipt {self._publication.publisher}#{self.sequence}>"


class Advertisement:
    """The handle that `advertise` returns; `close` is `unadvertise`."""

    __slots__ = ("_closed", "_verbs", "id")

    def __init__(self, verbs: Verbs, id: str) -> None:
        self.id = id
        self._verbs = verbs
        self._closed = False

    def close(self) -> None:
        """End the advertisement (`unadvertise`); a second call does nothing."""
        if not (self._closed or self._verbs.closed):
            self._verbs.unadvertise(self).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Advertisement {self._verbs.name}/{self.id}>"
