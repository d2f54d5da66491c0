"""silbo: context-aware publish/subscribe for things and people that move.

    import silbo

    broker = silbo.Broker()
    car = broker.connect("car-1")
    car.set_context(x=12.0, y=40.5)
    alerts = car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 20")

The public API is what this module names; README.md shows it at work.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from silbo.context.function import ContextFunction, Scope
from silbo.context.presence import never_true
from silbo.embedded.broker import Broker
from silbo.engines.connect import connect
from silbo.engines.replay import replay
from silbo.errors import (
    BoundExceeded,
    Closed,
    DuplicateId,
    ExpressionError,
    FormError,
    InvalidEvent,
    InvalidGeometry,
    InvalidValue,
    JobFailed,
    MissingPart,
    NotAcknowledged,
    NotAdvertised,
    NotReachable,
    Refused,
    ScopeBeyondReads,
    SilboError,
    SlowSubscriber,
    UnknownEngine,
    UnknownId,
    UnknownSession,
)
from silbo.language import fn
from silbo.language.form import attr, false, msg, pub, sub, this, true
from silbo.matching.explanation import Explanation
from silbo.matching.filter import Filter
from silbo.model.events import Event
from silbo.model.geometry import Geometry, geometry
from silbo.model.notification import Notification, Notified
from silbo.session.handles import Advertisement, Receipt
from silbo.session.queue import Deliver, Slow
from silbo.session.session import Session
from silbo.session.subscription import Subscription

if TYPE_CHECKING:
    from silbo import aio
    from silbo.matching.covering.covers import covers, disjoint

__version__ = "0.1.0"

__all__ = [
    "Advertisement",
    "BoundExceeded",
    "Broker",
    "Closed",
    "ContextFunction",
    "Deliver",
    "DuplicateId",
    "Event",
    "Explanation",
    "ExpressionError",
    "Filter",
    "FormError",
    "Geometry",
    "InvalidEvent",
    "InvalidGeometry",
    "InvalidValue",
    "JobFailed",
    "MissingPart",
    "NotAcknowledged",
    "NotAdvertised",
    "NotReachable",
    "Notification",
    "Notified",
    "Receipt",
    "Refused",
    "Scope",
    "ScopeBeyondReads",
    "Session",
    "SilboError",
    "Slow",
    "SlowSubscriber",
    "Subscription",
    "UnknownEngine",
    "UnknownId",
    "UnknownSession",
    "aio",
    "attr",
    "connect",
    "covers",
    "disjoint",
    "false",
    "fn",
    "geometry",
    "msg",
    "never_true",
    "pub",
    "replay",
    "sub",
    "this",
    "true",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__", "errors"]


def __getattr__(name: str) -> Any:
    """Loaded when first named: not everyone needs them, and `import silbo` must stay quick."""
    if name == "aio":
        return import_module("silbo.aio")
    if name in ("covers", "disjoint"):
        return getattr(import_module("silbo.matching.covering.covers"), name)
    raise AttributeError(f"module 'silbo' has no attribute {name!r}")
