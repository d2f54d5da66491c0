"""The meaning of silbo as a program: a linear scan in plain Python that every engine must agree with.

It takes the events of a log one by one, evaluates every tree as it was written, and shares no code
with any engine: only the tree's classes and shapely's two predicates are imported. Values must have been
validated: scalars, sets (`collections.abc.Set`) and geometries (objects with a shapely `shape`).
Truth is 1 (true), 0 (unknown) or -1 (false), so `not` is minus, `and` min, `or` max.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from silbo.language import tree

Values: TypeAlias = Mapping[str, Any]
Names: TypeAlias = tuple[str, ...] | None  # None: all of them
Look: TypeAlias = Callable[[tree.Name], Any]

TRUE, UNKNOWN, FALSE = 1, 0, -1


class Refused(Exception):
    """The event is refused, and changes nothing."""


class Advertisement(NamedTuple):
    """What a session may publish, the variables that it offers, and the variables that its scopes may read."""

    filter: tree.Condition
    offers: Names
    reads: Names


class Subscription(NamedTuple):
    """A filter, a context function, and the variables of the publisher's context to include."""

    filter: tree.Condition
    function: tree.Condition
    include: tuple[str, ...]


@dataclass(slots=True)
class Session:
    """The state of a session, all of which `disconnect` removes."""

    context: dict[str, Any] = field(default_factory=dict)
    advertisements: dict[str, Advertisement] = field(default_factory=dict)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    sequence: int = 0


class Delivery(NamedTuple):
    """One notification, as the log's output names it."""

    publisher: str
    sequence: int
    subscriber: str
    subscription: str
    attributes: Values
    context: Values
    payload: bytes | None


class Oracle:
    """The state after some events of a log. Each method applies one event, or raises `Refused`."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}

    def advertise(self, session: str, id: str, filter: tree.Condition, offers: Names, reads: Names) -> None:
        """Add an advertisement: a filter, the offered variables, and the variables that scopes may read."""
        state = self._state(session)
        if id in state.advertisements:
            raise Refused(f"advertisement {id!r} is active already")
        state.advertisements[id] = Advertisement(filter, offers, reads)
        self.sessions[session] = state

    def unadvertise(self, session: str, id: str) -> None:
        """End an advertisement."""
        if id not in self._state(session).advertisements:
            raise Refused(f"no advertisement {id!r}")
        del self.sessions[session].advertisements[id]

    def subscribe(
        self, session: str, id: str, filter: tree.Condition, function: tree.Condition | None, include: tuple[str, ...]
    ) -> None:
        """Add a subscription; an absent function is true."""
        state = self._state(session)
        if id in state.subscriptions:
            raise Refused(f"subscription {id!r} is active already")
        state.subscriptions[id] = Subscription(filter, function or tree.Truth(True), include)
        self.sessions[session] = state

    def unsubscribe(self, session: str, id: str) -> None:
        """End a subscription."""
        if id not in self._state(session).subscriptions:
            raise Refused(f"no subscription {id!r}")
        del self.sessions[session].subscriptions[id]

    def set_context(self, session: str, values: Values) -> None:
        """Merge values into the context; None removes a variable. At most 64 variables may remain."""
        state = self._state(session)
        merged = {name: value for name, value in {**state.context, **values}.items() if value is not None}
        if len(merged) > 64:
            raise Refused(f"{len(merged)} context variables, at most 64 are allowed")
        state.context = merged
        self.sessions[session] = state

    def disconnect(self, session: str) -> None:
        """Remove the session."""
        if session not in self.sessions:
            raise Refused(f"session {session!r} is not connected")
        del self.sessions[session]

    def publish(
        self, session: str, attributes: Values, context: Values, scope: tree.Condition | None, payload: bytes | None
    ) -> list[Delivery]:
        """Return every notification that this publication causes, ordered by subscriber and subscription."""
        state = self._state(session)
        containing = [a for a in state.advertisements.values() if truth(a.filter, _reader(msg=attributes)) == TRUE]
        if not containing:
            raise Refused("no advertisement of the session contains the message")
        scope = scope or tree.Truth(True)
        used = _names(scope, "sub")
        if not all(any(a.reads is None or name in a.reads for a in containing) for name in used):
            raise Refused(f"the scope reads more of {sorted(used)} than the advertisements allow")
        offers = [context if a.offers is None else a.offers for a in containing]
        offered = {name: value for name, value in context.items() if any(name in each for each in offers)}
        state.sequence += 1
        return [
            Delivery(session, state.sequence, subscriber, id, attributes, _shown(offered, subscription), payload)
            for subscriber, other in sorted(self.sessions.items())
            for id, subscription in sorted(other.subscriptions.items())
            if _gets(subscription, other.context, attributes, offered)
            and truth(scope, _reader(msg=attributes, sub=other.context, this=context)) == TRUE
        ]

    def _state(self, session: str) -> Session:
        return self.sessions.get(session) or Session()


def _gets(subscription: Subscription, context: Values, message: Values, offered: Values) -> bool:
    return (
        truth(subscription.filter, _reader(msg=message)) == TRUE
        and truth(subscription.function, _reader(msg=message, pub=offered, this=context)) == TRUE
    )


def _shown(offered: Values, subscription: Subscription) -> dict[str, Any]:
    asked = _names(subscription.function, "pub") | set(subscription.include)
    return {name: value for name, value in offered.items() if name in asked}


def _names(node: object, namespace: str) -> set[str]:
    if isinstance(node, tree.Name):
        return {node.name} if node.namespace == namespace else set()
    parts = node if isinstance(node, tuple) else [getattr(node, name) for name in getattr(node, "__match_args__", ())]
    return set().union(*(_names(part, namespace) for part in parts))


def _reader(**spaces: Values) -> Look:
    spaces["attribute"] = spaces["msg"]
    return lambda name: spaces[name.namespace].get(name.name)


def truth(condition: tree.Condition, look: Look) -> int:
    """The condition's truth, by SQL's three-valued truth tables over its atoms."""
    match condition:
        case tree.Not(operand):
            return -truth(operand, look)
        case tree.And(operands):
            return min(truth(operand, look) for operand in operands)
        case tree.Or(operands):
            return max(truth(operand, look) for operand in operands)
        case tree.Truth(value):
            return TRUE if value else FALSE
        case tree.Exists(name):
            return FALSE if look(name) is None else TRUE
    try:
        return TRUE if _atom(condition, look) else FALSE
    except _NoTruth:
        return UNKNOWN


class _NoTruth(Exception):
    """An operand is absent, a type does not fit, or an arithmetic result is not finite."""


def _atom(atom: tree.Atom, look: Look) -> bool:
    match atom:
        case tree.Holds(name):
            return bool(_of_type(look(name), "bool"))
        case tree.Compare(operator, left, right):
            return _compare(operator, _value(left, look), _value(right, look))
        case tree.Pattern(operator, left, right):
            a, b = _of_type(_value(left, look), "string"), _of_type(_value(right, look), "string")
            return bool({"prefix": a.startswith(b), "suffix": a.endswith(b), "contains": b in a}[operator])
        case tree.In(value, tree.Name() as variable):
            if not isinstance(look(variable), AbstractSet):
                raise _NoTruth
            return _member(_value(value, look), list(look(variable)))
        case tree.In(value, tuple() as constants):
            return _member(_value(value, look), [constant.value for constant in constants])
        case tree.Spatial(predicate, left, right):
            a, b = _shape(left, look), _shape(right, look)
            return bool(a.covered_by(b) if predicate == "within" else a.intersects(b))
        case _:
            raise TypeError(atom)


def _type(value: object) -> str | None:
    return {bool: "bool", int: "number", float: "number", str: "string"}.get(type(value))


def _of_type(value: Any, *types: str) -> Any:
    if _type(value) not in types:
        raise _NoTruth
    return value


def _compare(operator: str, a: Any, b: Any) -> bool:
    types = ("number", "string", "bool") if operator in ("=", "!=") else ("number", "string")
    if _type(_of_type(a, *types)) != _type(b):
        raise _NoTruth
    less, more = a < b, a > b  # Python compares an int with a float exactly, strings by code point
    holds = {"=": not less and not more, "!=": less or more, "<": less, "<=": not more, ">": more, ">=": not less}
    return bool(holds[operator])


def _member(value: Any, members: list[Any]) -> bool:
    _of_type(value, "number", "string", "bool")
    if members and _type(members[0]) != _type(value):
        raise _NoTruth
    return any(value == member for member in members)


def _value(node: tree.Value, look: Look) -> Any:
    match node:
        case tree.Constant(_, value):
            return value
        case tree.Name():
            return look(node)
        case tree.Negative(operand):
            return _calculated("negative", (operand,), look)
        case tree.Arithmetic(operator, left, right):
            return _calculated(operator, (left, right), look)
        case tree.Call(function, arguments):
            return _calculated(function, arguments, look)


def _calculated(what: str, operands: tuple[tree.Value, ...], look: Look) -> float:
    numbers = [float(_of_type(_value(operand, look), "number")) for operand in operands]
    try:
        result = CALCULATIONS[what](*numbers)
    except (ArithmeticError, ValueError):
        raise _NoTruth from None
    if math.isnan(result) or math.isinf(result):
        raise _NoTruth
    return result


def _geo_distance(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    lambda1, phi1, lambda2, phi2 = map(math.radians, (lon1, lat1, lon2, lat2))
    a = math.sin((phi2 - phi1) / 2) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin((lambda2 - lambda1) / 2) ** 2
    return 2 * 6371008.8 * math.asin(math.sqrt(min(1, a)))


CALCULATIONS: dict[str, Callable[..., float]] = {
    "negative": lambda a: -a,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "abs": lambda a: -a if a < 0 else a,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "sqrt": math.sqrt,
    "distance": lambda x1, y1, x2, y2: math.sqrt((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2)),
    "geo_distance": _geo_distance,
}


def _shape(node: tree.Shape, look: Look) -> Any:
    import shapely  # imported here: logs without geometries do not need it

    match node:
        case tree.Point(x, y):
            return shapely.Point(_calculated("max", (x, x), look), _calculated("max", (y, y), look))
        case tree.GeometryConstant(wkb, _):
            return shapely.from_wkb(wkb)
        case tree.Name():
            if not hasattr(look(node), "shape"):
                raise _NoTruth
            return look(node).shape
