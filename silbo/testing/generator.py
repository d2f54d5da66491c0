"""Logs by seed: all seven kinds of events, interleaved, that mean something to one another.

Messages are drawn so that they often are what a live subscription wants, or just not; contexts so
that functions are true, false and unknown; filters so that some cover others. Some events must be
refused. The same seed gives the same log in every process; how rich it is, `measure` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from silbo.model.events import Advertise, Disconnect, Event, SetContext, Subscribe, Unadvertise, Unsubscribe
from silbo.model.values import MAX_VARIABLES, ContextValue, checked_changes
from silbo.testing import pools
from silbo.testing.expressions import written
from silbo.testing.fragments import ConditionPiece
from silbo.testing.publications import Borderline, publication
from silbo.testing.refusals import refusal
from silbo.testing.subscriptions import advertisement, included, subscription
from silbo.testing.world import LiveAdvertisement, LiveSession, LiveSubscription, World

# few, so that an id is soon used again after it ended
IDS = ("s1", "s2", "s3", "s4", "a.b", "größe")
ODD_SESSIONS = ("Zoë 🚗", "and", "cam.1", " ", 'quote"d', "日本")
FILLER = tuple(f"filler{i}" for i in range(MAX_VARIABLES))


def generate_log(seed: int, events: int = 1000, *, sessions: int = 12) -> list[Event]:
    """A log of so many events among so many sessions' names; the same for the same arguments."""
    return LogGenerator(seed, sessions=sessions).take(events)


class LogGenerator:
    """Draws the events of one log.

    `refused` counts those that must be refused, `discarded` the publications that were left out
    because a distance is too near its threshold to be judged.
    """

    def __init__(self, seed: int, *, sessions: int = 12) -> None:
        self.refused = 0
        self.discarded = 0
        self._random = Random(seed)  # a test's draw, nobody's secret
        self._world = World()
        self._names = tuple(map(_session_name, range(sessions)))

    def take(self, count: int) -> list[Event]:
        """The next so many events."""
        events: list[Event] = []
        while len(events) < count:
            event = self._event()
            if event is not None:
                events.append(event)
        return events

    def _event(self) -> Event | None:
        """The next event, or None where the drawn kind has nothing to do."""
        draw = self._random.random() * 100
        if len(self._world.subscriptions()) < len(self._names):
            draw = draw * 0.6 + 40  # at the start there is more to subscribe than to publish
        if draw < 44:
            return self._publish()
        if draw < 62:
            return self._set_context()
        if draw < 76:
            return self._subscribe()
        if draw < 84:
            return self._unsubscribe()
        if draw < 91:
            return self._advertise()
        if draw < 94:
            return self._unadvertise()
        return self._disconnect() if draw < 95.5 else self._refused()

    def _publish(self) -> Event | None:
        if not self._world.publishers():
            return self._advertise()
        try:
            return publication(self._random, self._world)
        except Borderline:
            self.discarded += 1
            return None

    def _subscribe(self) -> Event | None:
        name = self._random.choice(self._names)
        id = self._free_id(self._world.peek(name).subscriptions)
        if id is None:
            return None
        wanted = subscription(self._random, self._world)
        self._world.session(name).subscriptions[id] = wanted
        function = None if wanted.function is None else self._text(wanted.function)
        return Subscribe(name, id, self._text(wanted.filter), function, included(self._random))

    def _unsubscribe(self) -> Event | None:
        subscribers = [name for name, session in self._world.sessions.items() if session.subscriptions]
        if not subscribers:
            return None
        name = self._random.choice(subscribers)
        return Unsubscribe(name, self._ended(self._world.session(name).subscriptions))

    def _advertise(self) -> Event | None:
        name = self._random.choice(self._names)
        id = self._free_id(self._world.peek(name).advertisements)
        if id is None:
            return None
        advertised = advertisement(self._random, self._world)
        self._world.session(name).advertisements[id] = advertised
        return Advertise(name, id, self._text(advertised.filter), advertised.offers, advertised.reads)

    def _unadvertise(self) -> Event | None:
        publishers = self._world.publishers()
        if not publishers:
            return None
        name = self._random.choice(publishers)
        return Unadvertise(name, self._ended(self._world.session(name).advertisements))

    def _free_id(self, used: Mapping[str, object]) -> str | None:
        free = [id for id in IDS if id not in used]
        return self._random.choice(free) if free else None

    def _ended(self, active: dict[str, LiveSubscription] | dict[str, LiveAdvertisement]) -> str:
        id = self._random.choice(list(active))
        del active[id]
        return id

    def _text(self, condition: ConditionPiece) -> str:
        return written(self._random, condition).text

    def _set_context(self) -> Event:
        name = self._random.choice(self._names)
        session = self._world.session(name)
        values = checked_changes(self._changes(session))
        self.refused += not session.merge(values)
        return SetContext(name, values)

    def _changes(self, session: LiveSession) -> dict[str, object]:
        if FILLER[0] in session.context:
            return dict.fromkeys(FILLER)  # room again
        draw = self._random.random()
        if draw < 0.5 and session.subscriptions:
            return self._part(self._random.choice(list(session.subscriptions.values())).likely.this, 0.8)
        if draw < 0.75:
            return self._part(pools.context(self._random), 0.3)
        if draw < 0.85:
            return dict.fromkeys(self._part(pools.VARIABLES, 0.15))  # removals, also of variables that are absent
        if draw < 0.95:
            return self._part({name: _same(value) for name, value in session.context.items()}, 0.5)
        if draw < 0.99:
            return {}
        return dict.fromkeys(FILLER[: MAX_VARIABLES - len(session.context)], 1)  # not one more

    def _part(self, values: Mapping[str, object], share: float) -> dict[str, object]:
        return {name: value for name, value in values.items() if self._random.random() < share}

    def _disconnect(self) -> Event | None:
        if not self._world.sessions:
            return None
        name = self._random.choice(list(self._world.sessions))
        del self._world.sessions[name]
        return Disconnect(name)

    def _refused(self) -> Event | None:
        event = refusal(self._random, self._world, self._names)
        self.refused += event is not None
        return event


def _same(value: ContextValue) -> ContextValue:
    """The value, a whole number as the float that it equals: unchanged for the languages."""
    return float(value) if type(value) is int and abs(value) < 2**53 else value


def _session_name(number: int) -> str:
    if number % 4 == 3:
        odd = ODD_SESSIONS[number // 4 % len(ODD_SESSIONS)]
        return odd if number < 4 * len(ODD_SESSIONS) else f"{odd}{number}"
    return f"car-{number}" if number % 2 else f"cam-{number}"
