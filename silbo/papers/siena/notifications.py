"""Figure 11 and Table 1: notifications through brokers loaded with subscriptions, in both systems in turns.

Silbo is measured twice: with the plan that its planner chooses, and with content first, which is the paper's order.
A publication's time is the median of its repeats, from the call until the notifications are in the queues.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from silbo.bench.timing import timed
from silbo.model.values import Attributes, Context
from silbo.papers.siena.brokers import Connected
from silbo.papers.siena.systems import Publications

BLOCK = 500  # publications of one system before the next system's turn, so that its arrays are in the caches
AT = (250, 500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000)  # notifications sent, Figure 11


def figure_11(brokers: Sequence[Connected], publications: Publications, repeats: int) -> dict[str, Any]:
    """The throughput by notifications sent, the time of each publication, and the number of notifications."""
    found = published(brokers, publications, repeats)
    matched = {each.name: _matching(each, publications, repeats) for each in brokers}
    return {
        "publications": len(publications),
        "notifications": {name: delivered for name, (_, delivered) in found.items()},
        "microseconds": {name: round(float(_typical(taken).mean()), 3) for name, (taken, _) in found.items()},
        "passes_us": {name: taken.mean(axis=1).round(3).tolist() for name, (taken, _) in found.items()},
        "at": [at for at in AT if at <= len(publications)] or [len(publications)],
        "throughput": {name: _throughput(_typical(taken)) for name, (taken, _) in found.items()},
        "match_microseconds": matched,
        "plan": {each.name: each.fast.stats()["plan"] for each in brokers},
        "samples_us": {name: _typical(taken) for name, (taken, _) in found.items()},
    }


def _typical(taken: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The median of the repeats of each publication."""
    typical: np.ndarray[Any, Any] = np.median(taken, axis=0)
    return typical


def _throughput(taken: np.ndarray[Any, Any]) -> list[float]:
    """Messages per second, after each number of messages in `AT`."""
    wanted = [at for at in AT if at <= taken.size] or [taken.size]
    return [round(at / float(taken[:at].sum()) * 1e6, 1) for at in wanted]


def published(
    brokers: Sequence[Connected], publications: Publications, repeats: int, scope: str | None = None
) -> dict[str, tuple[np.ndarray[Any, Any], int]]:
    """By broker, the microseconds by repeat and publication, and the number of notifications of all publications."""
    taken = {each.name: np.zeros((repeats, len(publications))) for each in brokers}
    notified = dict.fromkeys(taken, 0)
    for turn in range(repeats):
        for start in range(0, len(publications), BLOCK):
            block = publications[start : start + BLOCK]
            for each in (*brokers[turn % len(brokers) :], *brokers[: turn % len(brokers)]):
                taken[each.name][turn, start : start + BLOCK] = _block(each, block, scope)
                delivered = len(each.read())
                notified[each.name] += delivered if turn == 0 else 0
    return {name: (each, notified[name]) for name, each in taken.items()}


def _block(each: Connected, block: Publications, scope: str | None) -> list[float]:
    publish = each.publisher.publish
    return [timed(_publish, publish, *publication, scope) / 1_000 for publication in block]


def _publish(publish: Callable[..., Any], attributes: Attributes, context: Context, scope: str | None) -> None:
    publish(attributes, context=context, scope=scope)


def _matching(each: Connected, publications: Publications, repeats: int) -> float:
    """The mean time of matching alone, from a dict to the numbers of the subscriptions."""
    match = each.fast.match if each.siena is None else each.siena.match
    taken = [[timed(match, *publication) for publication in publications] for _ in range(repeats)]
    return round(float(np.median(taken, axis=0).mean()) / 1_000, 3)


def table_1(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """Table 1: messages per second and microseconds per message at 3,000 and 4,000 notifications, and their average."""
    rows = []
    wanted = [at for at in figure["at"] if at in (3_000, 4_000)] or figure["at"][-2:]
    for at in wanted:
        speeds = {name: of[figure["at"].index(at)] for name, of in figure["throughput"].items()}
        rows.append(_row(str(at), speeds))
    average = {name: float(np.mean([row["per_second"][name] for row in rows])) for name in figure["throughput"]}
    return [*rows, _row("average", average)]


def _row(at: str, speeds: dict[str, float]) -> dict[str, Any]:
    return {
        "notifications": at,
        "per_second": {name: round(speed, 1) for name, speed in speeds.items()},
        "microseconds": {name: round(1e6 / speed, 3) for name, speed in speeds.items()},
    }
