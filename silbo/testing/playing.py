"""Play a log's events on a broker through its public API, as its sessions would have called it."""

from __future__ import annotations

from collections.abc import Iterable

from silbo.embedded.broker import Broker
from silbo.errors import SilboError, UnknownSession
from silbo.exhaustive import assert_never
from silbo.model import events
from silbo.model.notification import Notification
from silbo.testing.recording import RecordingSession


class Player:
    """Holds a session for each name of the log; refused events are counted and change nothing."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._sessions: dict[str, RecordingSession] = {}
        self._ended: list[RecordingSession] = []
        self.refused = 0

    def play(self, events: Iterable[events.Event]) -> None:
        """Call the verb of each event, one after the other."""
        for event in events:
            try:
                self._play(event)
            except SilboError:
                self.refused += 1

    def received(self) -> list[Notification]:
        """All that any session of the log received until now."""
        return [each for session in (*self._ended, *self._sessions.values()) for each in session.received]

    def _play(self, event: events.Event) -> None:
        if isinstance(event, events.Disconnect):
            self._disconnect(event.session)
            return
        known = self._sessions.get(event.session)
        session = known or RecordingSession(self._broker.connect(event.session))
        try:
            _call(session, event)
        except SilboError:
            if known is None:
                session.close()
            raise
        self._sessions[event.session] = session

    def _disconnect(self, name: str) -> None:
        session = self._sessions.pop(name, None)
        if session is None:
            raise UnknownSession(name)
        session.close()
        self._ended.append(session)


def _call(
    session: RecordingSession,
    event: events.Advertise
    | events.Unadvertise
    | events.Subscribe
    | events.Unsubscribe
    | events.SetContext
    | events.Publish,
) -> None:
    match event:
        case events.Advertise(_, id, filter, offers, reads):
            session.advertise(filter, offers=offers, reads=reads, id=id)
        case events.Unadvertise(_, id):
            session.unadvertise(id)
        case events.Subscribe(_, id, filter, context, include):
            session.subscribe(filter, context=context, include=include, id=id)
        case events.Unsubscribe(_, id):
            session.unsubscribe(id)
        case events.SetContext(_, values):
            session.set_context(values)
        case events.Publish(_, attributes, context, scope, payload):
            session.publish(attributes, context=context, scope=scope, payload=payload)
        case _:
            assert_never(event)
