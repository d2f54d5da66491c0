"""Measure how rich a log is: a test over logs in which nothing matches proves nothing.

Everything is counted with the oracle's own evaluation. A *pair* is an accepted publication and a
subscription that is live at that moment; the near misses are pairs whose subscription has a context
function, and where the filter is true and the function is not, or the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

from silbo.context.function import ContextFunction, Scope
from silbo.errors import SilboError
from silbo.exhaustive import assert_never
from silbo.language import tree
from silbo.matching.filter import Filter
from silbo.matching.oracle import TRUE, UNKNOWN, Oracle, Refused, truth
from silbo.model import events
from silbo.testing.borders import Borders

LEAST_DELIVERED = 0.30  # of the accepted publications
LEAST_MISSES = 0.05  # of the pairs, for each sort of near miss

# covering is asked now and then, among the youngest subscriptions: all pairs all the time would take minutes.
COVERING_EVERY = 250  # events
COVERING_AMONG = 20  # subscriptions


LABELS = {
    "events": "events",
    "refused": "refused events",
    "publications": "accepted publications",
    "delivered": "delivered publications",
    "notifications": "notifications",
    "pairs": "pairs of a publication and a subscription",
    "content_only": "near misses: content yes, context no",
    "context_only": "near misses: context yes, content no",
    "scope_rejections": "rejected by the scope alone",
    "unknown_decisions": "decided by unknown",
    "border_values": "border values",
    "covering_examined": "pairs of filters examined",
    "covering_pairs": "covering pairs among them",
}


class PoorLog(SilboError):
    """A log that tests too little; `reasons` lists what it lacks."""

    def __init__(self, reasons: Iterable[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(
            f"this log is too poor to test with: {'; '.join(self.reasons)}. Use more events or another seed."
        )


@dataclass(frozen=True, slots=True)
class Measure:
    """What happens in a log, counted."""

    events: int = 0
    refused: int = 0
    publications: int = 0  # accepted
    delivered: int = 0  # publications that went to somebody
    notifications: int = 0
    pairs: int = 0
    content_only: int = 0  # pairs: the filter is true, the context function is not
    context_only: int = 0  # pairs: the context function is true, the filter is not
    scope_rejections: int = 0  # pairs: both are true, the scope is not
    unknown_decisions: int = 0  # pairs: nothing is false, and something unknown
    border_values: int = 0  # an attribute or variable equals a constant that is compared with it, or its neighbour
    covering_examined: int = 0
    covering_pairs: int = 0  # of the examined ones: one live filter covers another

    @property
    def shares(self) -> dict[str, float]:
        """The counts that the check looks at, as parts of their whole."""
        return {
            "delivered": _share(self.delivered, self.publications),
            "content_only": _share(self.content_only, self.pairs),
            "context_only": _share(self.context_only, self.pairs),
            "scope_rejections": _share(self.scope_rejections, self.pairs),
            "unknown_decisions": _share(self.unknown_decisions, self.pairs),
            "covering_pairs": _share(self.covering_pairs, self.covering_examined),
        }

    def reasons(self) -> list[str]:
        """Why the log is too poor; none if it is not."""
        least = {"delivered": LEAST_DELIVERED, "content_only": LEAST_MISSES, "context_only": LEAST_MISSES}
        return [
            f"{LABELS[name]} are {self.shares[name]:.1%}, at least {share:.0%} are wanted"
            for name, share in least.items()
            if self.shares[name] < share
        ]

    def check(self) -> None:
        """Raise `PoorLog` unless enough is delivered and enough is nearly delivered."""
        if reasons := self.reasons():
            raise PoorLog(reasons)

    def as_json(self) -> dict[str, Any]:
        """The counts and the shares."""
        return asdict(self) | {"shares": self.shares}

    def __str__(self) -> str:
        shares = {name: f"{share:7.1%}" for name, share in self.shares.items()}
        return "\n".join(f"{LABELS[name]:42}{count:10,}{shares.get(name, '')}" for name, count in asdict(self).items())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def measure(events: Iterable[events.Event]) -> Measure:
    """Play the events on the oracle, and count."""
    meter = _Meter()
    for event in events:
        meter.take(event)
    return meter.measure()


class _Meter:
    """The oracle's state, and the expressions that are live in it."""

    def __init__(self) -> None:
        self._oracle = Oracle()
        self._live: dict[tuple[str, str], tuple[Filter, ContextFunction | None]] = {}
        self._borders = Borders()
        self._counts: Counter[str] = Counter()

    def measure(self) -> Measure:
        return Measure(**self._counts)

    def take(self, event: events.Event) -> None:
        self._counts["events"] += 1
        try:
            self._apply(event)
        except (SilboError, Refused):
            self._counts["refused"] += 1
        if self._counts["events"] % COVERING_EVERY == 0:
            self._count_covering()

    def _apply(self, event: events.Event) -> None:
        match event:
            case events.Advertise(session, id, filter, offers, reads):
                self._oracle.advertise(session, id, Filter.of(filter).tree, offers, reads)
            case events.Unadvertise(session, id):
                self._oracle.unadvertise(session, id)
            case events.Subscribe():
                self._subscribe(event)
            case events.Unsubscribe(session, id):
                self._oracle.unsubscribe(session, id)
                self._end(session, id)
            case events.SetContext(session, values):
                self._oracle.set_context(session, values)
                self._counts["border_values"] += self._borders.met("this", values)
            case events.Publish():
                self._publish(event)
            case events.Disconnect(session):
                self._oracle.disconnect(session)
                for name, id in list(self._live):
                    if name == session:
                        self._end(name, id)
            case _:
                assert_never(event)

    def _subscribe(self, event: events.Subscribe) -> None:
        filter = Filter.of(event.filter)
        function = None if event.context is None else ContextFunction.of(event.context)
        self._oracle.subscribe(event.session, event.id, filter.tree, function.tree if function else None, event.include)
        self._live[event.session, event.id] = filter, function
        for each in (filter, function):
            self._borders.add(each)

    def _end(self, session: str, id: str) -> None:
        for each in self._live.pop((session, id)):
            self._borders.remove(each)

    def _publish(self, event: events.Publish) -> None:
        scope = tree.Truth(True) if event.scope is None else Scope.of(event.scope).tree
        deliveries = self._oracle.publish(event.session, event.attributes, event.context, scope, event.payload)
        offered = self._offered(event)
        self._counts["publications"] += 1
        self._counts["delivered"] += bool(deliveries)
        self._counts["notifications"] += len(deliveries)
        self._counts["border_values"] += self._borders.met("msg", event.attributes) + self._borders.met("pub", offered)
        self._count_pairs(event, offered, scope)

    def _count_pairs(self, event: events.Publish, offered: Mapping[str, Any], scope: tree.Condition) -> None:
        contexts = {name: session.context for name, session in self._oracle.sessions.items()}
        admitted = {
            name: truth(scope, _look(event.attributes, sub=context, this=event.context))
            for name, context in contexts.items()
        }
        for (name, _), (filter, function) in self._live.items():
            content = truth(filter.tree, _look(event.attributes))
            seen = _look(event.attributes, pub=offered, this=contexts[name])
            situation = truth(function.tree, seen) if function else TRUE
            self._count_pair(content, situation, admitted[name], contextual=function is not None)

    def _offered(self, event: events.Publish) -> dict[str, Any]:
        advertisements = self._oracle.sessions[event.session].advertisements.values()
        containing = [each for each in advertisements if truth(each.filter, _look(event.attributes)) == TRUE]
        return {
            name: value
            for name, value in event.context.items()
            if any(each.offers is None or name in each.offers for each in containing)
        }

    def _count_pair(self, content: int, situation: int, admitted: int, *, contextual: bool) -> None:
        self._counts["pairs"] += 1
        self._counts["content_only"] += contextual and content == TRUE != situation
        self._counts["context_only"] += contextual and situation == TRUE != content
        self._counts["scope_rejections"] += content == situation == TRUE != admitted
        self._counts["unknown_decisions"] += min(content, situation, admitted) == UNKNOWN

    def _count_covering(self) -> None:
        from silbo.matching.covering.covers import covers

        filters = [filter for filter, _ in list(self._live.values())[-COVERING_AMONG:]]
        for general, specific in permutations(filters, 2):
            self._counts["covering_examined"] += 1
            self._counts["covering_pairs"] += covers(general, specific)


def _look(msg: Mapping[str, Any], **contexts: Mapping[str, Any]) -> Any:
    spaces = {"attribute": msg, "msg": msg, **contexts}
    return lambda name: spaces[name.namespace].get(name.name)
