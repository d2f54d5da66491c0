"""A fold over a log: apply events, in batches of any size, and get notifications.

In a log a session is its name: the first accepted event that names it connects it, and after
`disconnect` the same name is a new session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from silbo.core.client import Client
from silbo.core.core import Core
from silbo.core.run import BatchRun
from silbo.errors import NotAdvertised, SilboError, UnknownSession
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.choice import ChosenIndex, IndexLike, OffloadLike
from silbo.model.events import Disconnect, Event, Publish
from silbo.model.notification import Notification, Publication


class Fold:
    """The state after some events of a log."""

    def __init__(self, index: IndexLike | None = None, offload: OffloadLike | None = None) -> None:
        self.core = Core(ChosenIndex(index, offload))
        self.clients: dict[str, Client] = {}
        self._notifications: list[Notification] = []
        self._run = BatchRun(self.core, self._matched)

    def apply(
        self, events: Iterable[Event], refused: Callable[[int, SilboError], None] | None = None
    ) -> list[Notification]:
        """Apply events in order. A refused event changes nothing: it is passed to `refused`, or raises without one."""
        for i, event in enumerate(events):
            try:
                self._apply(event)
            except SilboError as error:
                if refused is None:
                    self._take()
                    raise
                refused(i, error)
        return self._take()

    def _take(self) -> list[Notification]:
        self._run.flush()
        taken, self._notifications = self._notifications, []
        return taken

    def close(self) -> None:
        """Release the device, if there is one."""
        self.core.index.close()

    def _apply(self, event: Event) -> None:
        client = self.clients.get(event.session)
        if client is None:
            self._begin(event)
            return
        self._run.apply(client, event)
        if type(event) is Disconnect:
            del self.clients[event.session]

    def _begin(self, event: Event) -> None:
        """Apply the first event of a session, which connects it; a refused one does not."""
        if type(event) is Disconnect:
            raise UnknownSession(event.session)
        self._run.flush()
        client = self.core.connect(event.session)
        try:
            self._run.apply(client, event)
        except SilboError:
            self.core.discard(client)
            raise
        self.clients[event.session] = client

    def publish(self, event: Publish) -> Publication:
        """Apply one publish and return its publication; raises if the publish is refused."""
        client = self.clients.get(event.session)
        if client is None:
            raise NotAdvertised(event.session, event.attributes, [])
        return self.core.apply(client, event).publication

    def _matched(self, publication: Publication, rows: Sequence[SubscriptionRow]) -> None:
        """Keep the notifications of a publication, in the order of the output."""
        self._notifications += [
            row.notification(publication) for row in sorted(rows, key=lambda row: (row.name, row.id))
        ]
