"""`silbo bench matching`: the time of matching on one workload, compared with other methods and the oracle."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any, TypeAlias

import numpy as np

from silbo.bench.agreement import Agreement, compare
from silbo.bench.baselines import NO_BOX, NumpyBrute, NumpyContextFirst
from silbo.bench.publishing import publish_figures
from silbo.bench.reading import parse_figure
from silbo.bench.starting import starts
from silbo.bench.timing import Say, figures, median, resident, say_nothing, timed, times
from silbo.bench.workloads import Workload, workload
from silbo.context.table import ContextTable
from silbo.errors import InvalidValue
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.decision import gets
from silbo.matching.fast.encoded_batch import EncodedBatch
from silbo.matching.fast.index import FastIndex, Numbers
from silbo.matching.siena import SienaIndex
from silbo.model.notification import Publication
from silbo.model.values import Attributes, Context

Match: TypeAlias = Callable[[Attributes, Context], Numbers]  # the numbers of the subscriptions that get a message
Way: TypeAlias = Callable[[Workload], Match]

WARM_UP = 1_500  # events, after which the planner has settled
MOVES = 100  # context changes per publication, in a batch of mixed events
APPLIED = 5  # how many times a batch is applied
CHANGED = 2_000  # subscriptions removed and added again
COMPARED = 200  # events that a baseline gets
PATIENCE = 10.0  # the most seconds for a baseline


class LoadedIndex:
    """An index and its contexts, loaded with a workload."""

    def __init__(self, load: Workload) -> None:
        self.rows = load.rows()
        self.table = ContextTable()
        self.index = FastIndex(self.table)
        since = time.perf_counter()
        for number, context in enumerate(load.contexts):
            self.table.set(f"subscriber-{number}", context)
        for row in self.rows:
            self.index.add(row)
        self.build_s = time.perf_counter() - since

    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The slots of the subscriptions that get a message; expressions decide where kernels cannot."""
        sure, maybe = self.index.match(attributes, offered)
        if not len(maybe):
            return sure
        publication = Publication("", "", 0, attributes, offered, offered, None, None)
        rows = map(self.index.row, maybe.tolist())
        more = [row.slot for row in rows if gets(publication, None, row, self.table[row.subscriber])]
        return np.concatenate((sure, np.array(more, sure.dtype)))

    def answer(self, attributes: Attributes, offered: Context) -> set[int]:
        """The numbers of the subscriptions that get a message."""
        return {number_of(self.index.row(slot)) for slot in self.match(attributes, offered).tolist()}

    def warm_up(self, publications: Sequence[tuple[Attributes, Context]]) -> None:
        """Match until the planner has settled."""
        for each in islice(cycle(publications), WARM_UP):
            self.match(*each)


def number_of(row: SubscriptionRow) -> int:
    """The number of a row's subscription in the workload."""
    return int(row.id[1:])


def measure(
    name: str, subscriptions: int, events: int, seed: int, *, with_starts: bool = True, say: Say = say_nothing
) -> dict[str, Any]:
    """All figures of a workload."""
    say("starting new processes")
    cold, warm = starts() if with_starts else (None, None)
    say("making the workload")
    load = workload(name, subscriptions, events, seed)
    say("building the index")
    matcher = LoadedIndex(load)
    rss = resident()
    say("matching")
    matcher.warm_up(load.publications)
    matched = _match_figures(matcher, load)
    say("comparing with other methods")
    baselines = _baselines(matcher, load)
    say("changing subscriptions")
    changes = _change_figures(matcher, seed)
    say("comparing with the oracle")
    agreement = compare(load, matcher.table, matcher.answer, seed)
    bytes_each = round((matcher.index.stats()["index_bytes"] + matcher.table.nbytes) / len(load), 1)
    apply_agrees = _apply_agrees(matcher, load)
    applied = _apply_figures(matcher, load, seed)
    build_s = round(matcher.build_s, 3)
    del matcher
    say("publishing and subscribing")
    published = publish_figures(load, WARM_UP)
    say("reading filters")
    parse_us = parse_figure(load)
    return {
        "workload": name, "subscriptions": subscriptions, "events": events, "seed": seed,
        **matched, "build_s": build_s, "rss_mb": rss, "bytes_per_subscription": bytes_each,
        "parse_us": parse_us, **published, **applied, **changes,
        "cold_start_s": cold and cold.wall, "cold_cpu_s": cold and cold.cpu, "warm_start_s": warm and warm.wall,
        **_agreement_figures(agreement, baselines, apply_agrees=apply_agrees), "baselines": baselines,
    }  # fmt: skip


def _apply_figures(matcher: LoadedIndex, load: Workload, seed: int) -> dict[str, Any]:
    """Publications and context changes per second of `apply`: MOVES subscribers move before each publication."""
    chance = np.random.default_rng(seed)
    moving = load.box is not None
    batch = matcher.index.encoded_batch()
    rows = np.array([matcher.table.row(f"subscriber-{number}") for number in range(len(load.contexts))])
    # subscribers move to places where others are
    xs, ys = (np.array([context[name] for context in load.contexts]) for name in "xy") if moving else (rows, rows)
    for attributes, offered in load.publications:
        if moving:
            moved, to = rows[chance.integers(0, rows.size, MOVES)], chance.integers(0, rows.size, MOVES)
            batch.set_columns(moved, {"x": xs[to] + chance.uniform(-1, 1, MOVES), "y": ys[to]})
        batch.publish(attributes, offered)
    taken = float(np.median(times(_applied, [(matcher, batch)] * APPLIED))) / 1e9
    rate = len(load.publications) / taken
    return {"apply_events_per_s": round(rate), "apply_contexts_per_s": round(rate * MOVES) if moving else None}


def _applied(matcher: LoadedIndex, batch: EncodedBatch) -> None:
    for _ in matcher.index.apply(batch):
        pass


def _apply_agrees(matcher: LoadedIndex, load: Workload) -> bool:
    """Whether `apply` of a batch gives the same as `match` of each of its publications."""
    publications = load.publications[:COMPARED]
    batch = matcher.index.encoded_batch()
    for attributes, offered in publications:
        batch.publish(attributes, offered)
    answers = list(matcher.index.apply(batch))
    return all(
        set(part.tolist()) == set(other.tolist())
        for publication, answer in zip(publications, answers, strict=True)
        for part, other in zip(matcher.index.match(*publication), answer, strict=True)
    )


def _match_figures(matcher: LoadedIndex, load: Workload) -> dict[str, Any]:
    before = matcher.index.stats()
    taken = times(matcher.match, load.publications)
    after = matcher.index.stats()
    found = sum(len(matcher.match(*each)) for each in load.publications)
    events = len(load.publications)
    return {
        "matches_per_event": round(found / events, 3),
        "candidates_per_event": round((after["candidates"] - before["candidates"]) / events, 3),
        "visited_per_event": round((after["visited"] - before["visited"]) / events, 3),
        "plan": after["plan"],
        "match_us": figures(taken),
    }


def _change_figures(matcher: LoadedIndex, seed: int) -> dict[str, float]:
    """The times to remove subscriptions, and to add them again."""
    drawn = np.random.default_rng(seed).permutation(len(matcher.rows))[:CHANGED]
    rows = [(matcher.rows[i],) for i in drawn.tolist()]
    removed = times(matcher.index.remove, rows)
    added = times(matcher.index.add, rows)
    return {"add_us": median(added), "remove_us": median(removed)}


def _agreement_figures(
    agreement: Agreement, baselines: Mapping[str, dict[str, Any]], *, apply_agrees: bool
) -> dict[str, Any]:
    others = apply_agrees and all(each.get("agrees", True) for each in baselines.values())
    return {
        "agrees": others and agreement.is_enough and not agreement.differences,
        "agrees_on": {"matches": agreement.matches, "near_misses": agreement.near_misses},
        "differences": agreement.differences,
    }


# baselines


def _baselines(matcher: LoadedIndex, load: Workload) -> dict[str, dict[str, Any]]:
    ways: dict[str, Way] = {
        "numpy_brute": lambda load: NumpyBrute(load).match,
        "numpy_context_first": lambda load: NumpyContextFirst(load).match,
        "siena_style": _siena_style,
    }
    return {name: _baseline(way, matcher, load) for name, way in ways.items()}


def _baseline(way: Way, matcher: LoadedIndex, load: Workload) -> dict[str, Any]:
    """A baseline's time, ours for the same events, the ratio, and whether the answers agree; or why it cannot run."""
    try:
        match = way(load)
    except InvalidValue as error:
        return {"us": None, "ratio": None, "reason": error.reason}
    publications = _within(PATIENCE, match, load.publications[:COMPARED])
    us = median(times(match, publications))
    # all publications first: numpy's arrays have displaced ours in the processor's caches
    ours = median(times(matcher.match, [*load.publications, *publications])[-len(publications) :])
    agrees = all(set(match(*each).tolist()) == matcher.answer(*each) for each in publications)
    return {"us": us, "ours_us": ours, "ratio": round(us / ours, 2), "agrees": agrees}


def _within(
    seconds: float, match: Match, publications: Sequence[tuple[Attributes, Context]]
) -> Sequence[tuple[Attributes, Context]]:
    """As many publications as can be matched in the time, but at least ten."""
    each = max(timed(match, *publication) for publication in publications[:3]) / 1e9
    return publications[: max(10, int(seconds / each))]


def _siena_style(load: Workload) -> Match:
    """The same index with the box in the filters; its slots are the subscriptions' numbers, by the order of adding."""
    if load.box is None:
        raise InvalidValue("workload", NO_BOX)
    index = SienaIndex()
    for number, context in enumerate(load.contexts):
        index.set_context(f"subscriber-{number}", context)
    for row in load.rows():
        index.add(row)
    for each in load.publications[:WARM_UP]:
        index.match(*each)
    return index.match
