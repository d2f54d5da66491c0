"""silbo: context-aware publish/subscribe for things and people that move.

    import silbo

    broker = silbo.Broker()
    car = broker.connect("car-1")
    car.set_context(x=12.0, y=40.5)
    alerts = car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 20")

The public API is what this module names; README.md shows it at work.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from silbo.broker.broker import Broker
from silbo.broker.delivery import Subscription
from silbo.broker.offload import MAKERS as _MAKERS
from silbo.broker.session import Advertisement, Receipt, Session
from silbo.context.function import ContextFunction, Scope
from silbo.context.presence import never_true
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
    NotAcknowledged,
    NotAdvertised,
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
from silbo.model.geometry import Geometry, geometry
from silbo.model.notification import Notification

if TYPE_CHECKING:
    from silbo import aio
    from silbo.matching.covering import covers, disjoint

__version__ = "0.1.0"

__all__ = [
    "Advertisement",
    "BoundExceeded",
    "Broker",
    "Closed",
    "ContextFunction",
    "DuplicateId",
    "Explanation",
    "ExpressionError",
    "Filter",
    "FormError",
    "Geometry",
    "InvalidEvent",
    "InvalidGeometry",
    "InvalidValue",
    "NotAcknowledged",
    "NotAdvertised",
    "Notification",
    "Receipt",
    "Refused",
    "Scope",
    "ScopeBeyondReads",
    "Session",
    "SilboError",
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


def _over_device(name: str, *given: Any) -> Any:
    """What `Broker(offload=…)` asks for by name; the hardware's part is loaded when it does."""
    return import_module("silbo.hw.opening").opened(name, *given)


_MAKERS.update({name: partial(_over_device, name) for name in ("sim", "pynq", "auto")})


def __dir__() -> list[str]:
    return [*__all__, "__version__", "errors"]


def __getattr__(name: str) -> Any:
    """Loaded when first named: not everyone needs them, and `import silbo` must stay quick."""
    if name == "aio":
        return import_module("silbo.aio")
    if name in ("covers", "disjoint"):
        return getattr(import_module("silbo.matching.covering"), name)
    raise AttributeError(f"module 'silbo' has no attribute {name!r}")
