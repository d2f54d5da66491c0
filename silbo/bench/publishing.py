"""The times of a publish and of a subscribe through the public API.

A publish is measured from the call until the notifications are in the queues.
"""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np

from silbo.bench.timing import Figures, figures, median, quiet, timed, times
from silbo.bench.workloads import EACH, Workload
from silbo.embedded.broker import Broker
from silbo.model.values import Attributes, Context
from silbo.session.session import Session
from silbo.session.subscription import Subscription

SUBSCRIBED = 2_000  # subscriptions of the session that subscribes to what others have
READ_EVERY = 100  # publishes; notifications wait in the queues meanwhile, as with readers that have other work


def subscribed(broker: Broker, workload: Workload) -> list[Subscription]:
    """Connect the workload's sessions, with their contexts and subscriptions."""
    subscriptions: list[Subscription] = []
    for number, context in enumerate(workload.contexts):
        session = broker.connect(f"subscriber-{number}")
        session.set_context(context)
        own = range(number * EACH, min((number + 1) * EACH, len(workload)))
        subscriptions += [session.subscribe(workload.filters[i], context=workload.functions[i]) for i in own]
    return subscriptions


def publish_figures(workload: Workload, warm_up: int) -> dict[str, object]:
    """`publish_us`, the notifications per publish, the time that each of them adds, and `subscribe_us`."""
    with Broker(index="fast") as broker:
        subscriptions = subscribed(broker, workload)
        publisher = broker.connect("publisher")
        publisher.advertise("true")
        for publication in islice(cycle(workload.publications), warm_up):
            _published(broker, publisher, publication)
        with quiet():
            found = []
            for i, publication in enumerate(workload.publications):
                if i % READ_EVERY == 0:
                    _read(subscriptions)
                found.append(_published(broker, publisher, publication))
        subscribe_us = _subscribe_figure(broker, workload)
    taken, deliveries = zip(*found, strict=True)
    return {
        "publish_us": figures(taken),
        "deliveries_per_publish": round(float(np.mean(deliveries)), 3),
        "delivery_us": _slope(np.array(deliveries), np.array(taken) / 1_000),
        "subscribe_us": subscribe_us,
    }


def _subscribe_figure(broker: Broker, workload: Workload) -> float:
    """The median time of a subscribe with a filter and a function that were read before."""
    session = broker.connect("newcomer")
    session.set_context(workload.contexts[0])
    expressions = zip(workload.filters[:SUBSCRIBED], workload.functions, strict=False)
    return median(times(lambda read, function: session.subscribe(read, context=function), expressions))


def _read(subscriptions: list[Subscription]) -> None:
    for subscription in subscriptions:
        if len(subscription):
            subscription.drain()


def _published(broker: Broker, publisher: Session, publication: tuple[Attributes, Context]) -> tuple[int, int]:
    """The nanoseconds of a publish, and the number of its notifications."""
    attributes, context = publication
    publisher.set_context(context)
    core = broker._engine.core  # `stats` walks over all subscriptions
    before = core.delivered
    taken = timed(publisher.publish, attributes)
    return taken, core.delivered - before


def _slope(deliveries: np.ndarray, taken: np.ndarray) -> Figures | None:
    """Microseconds of a publish without deliveries, and of each one; leaves out the slowest 5 % (interruptions)."""
    kept = taken <= np.percentile(taken, 95)
    if np.unique(deliveries[kept]).size < 2:
        return None
    each, base = np.polyfit(deliveries[kept], taken[kept], 1)
    return {"base": round(float(base), 3), "each": round(float(each), 3)}
