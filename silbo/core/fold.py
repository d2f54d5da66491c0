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
from silbo.model.events import Disconnect, Event, Publish, SetContext
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
        known = self.clients.get(event.session)
        if known is not None and self._added(known, event):
            return
        self._run.flush()
        if type(event) is Disconnect:
            if known is None:
                raise UnknownSession(event.session)
            self.core.apply(known, event)
            del self.clients[event.session]
            return
        self.clients[event.session] = self._applied(event) if known is None else self._change(known, event)

    def _added(self, client: Client, event: Event) -> bool:
        """Add a publish or a move to the run, if there can be one; a refused publish raises."""
        if not self._run.is_possible or self.core.observers:
            return False
        if type(event) is Publish:
            self._run.publish(self.core.accept(client, event))
            return True
        return type(event) is SetContext and self._run.move(client, event.values)

    def _applied(self, event: Event) -> Client:
        """Apply the first event of a session, which connects it; a refused one does not."""
        client = self.core.connect(event.session)
        try:
            return self._change(client, event)
        except SilboError:
            self.core.discard(client)
            raise

    def _change(self, client: Client, event: Event) -> Client:
        if type(event) is Publish:
            self._matched(*self.core.apply(client, event))
        else:
            self.core.apply(client, event)
        return client

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
