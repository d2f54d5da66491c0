"""What a publish takes through the public API: from the verb until the notifications stand in the queues."""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np

from silbo.bench.timing import Figures, figures, quiet, timed
from silbo.bench.workloads import EACH, Workload
from silbo.broker.broker import Broker
from silbo.broker.delivery import Subscription
from silbo.broker.session import Session
from silbo.model.values import Attributes, Context

READ_EVERY = 100  # publishes; in between notifications pile up, as with readers that have other things to do


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
    """`publish_us`, how many notifications a publish causes, and what each of them adds."""
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
    taken, deliveries = zip(*found, strict=True)
    return {
        "publish_us": figures(taken),
        "deliveries_per_publish": round(float(np.mean(deliveries)), 3),
        "delivery_us": _slope(np.array(deliveries), np.array(taken) / 1_000),
    }


def _read(subscriptions: list[Subscription]) -> None:
    for subscription in subscriptions:
        if len(subscription):
            subscription.drain()


def _published(broker: Broker, publisher: Session, publication: tuple[Attributes, Context]) -> tuple[int, int]:
    """The nanoseconds of a publish, and its notifications."""
    attributes, context = publication
    publisher.set_context(context)
    before = broker._counts["notified"]
    taken = timed(publisher.publish, attributes)
    return taken, broker._counts["notified"] - before


def _slope(deliveries: np.ndarray, taken: np.ndarray) -> Figures | None:
    """Microseconds of a publish without deliveries, and of each; the slowest twentieth, interruptions, is left out."""
    kept = taken <= np.percentile(taken, 95)
    if np.unique(deliveries[kept]).size < 2:
        return None
    each, base = np.polyfit(deliveries[kept], taken[kept], 1)
    return {"base": round(float(base), 3), "each": round(float(each), 3)}
