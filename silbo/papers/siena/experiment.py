"""`silbo experiment siena`: run the parts of the experiment one after the other, and collect their results."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np

from silbo.bench.machine import machine
from silbo.bench.timing import timed, uncollected
from silbo.errors import MissingPart
from silbo.matching.choice import IndexLike
from silbo.papers.siena import changes, notifications, paper_figures, scopes, stages, surface
from silbo.papers.siena.brokers import Connected, connected
from silbo.papers.siena.city import drive
from silbo.papers.siena.load import Load, paper_load, populate, settle
from silbo.papers.siena.movement import replay
from silbo.papers.siena.same_notifications import agree_with_scan, agreement
from silbo.papers.siena.sizes import RunSizes
from silbo.papers.siena.systems import Siena
from silbo.papers.siena.tradeoff import trade_off

Results: TypeAlias = dict[str, Any]
Say: TypeAlias = Callable[[str], object]

BROKERS: tuple[tuple[str, IndexLike | None], ...] = (("silbo", "fast"), ("content", "fast-content"), ("siena", None))
STAGED = 1_000  # publications that are measured by stage
# the time of a run as a multiple of the calibration's, measured once
CALIBRATED, TIMES = 3_000, {"full": 4_000, "quick": 900}


def expected_seconds(sizes: RunSizes) -> float:
    """The approximate time of a run on this machine, estimated from a small part of it."""
    load = paper_load(np.random.default_rng(1), CALIBRATED, paper_figures.EACH, 1)
    populate([Siena(load.function)], load)  # compiling and loading are not part of the measured time
    return (
        min(timed(populate, [Siena(load.function)], load) for _ in range(3))
        / 1e9
        * TIMES.get(sizes.name, TIMES["quick"])
    )


def run(sizes: RunSizes, seed: int, say: Say) -> Results:
    """Measure everything; returns the content of `results.json`."""
    experiment = _Experiment(sizes, seed, say)
    for number, (what, part) in enumerate(PARTS.items(), 1):
        say(f"[{number}/{len(PARTS)}] {what}")
        with uncollected():
            getattr(experiment, part)()
    return results(experiment.series)


class _Experiment:
    """The parts of the experiment. Each adds its series; some need the series of earlier parts."""

    def __init__(self, sizes: RunSizes, seed: int, say: Say) -> None:
        self._sizes, self._seed, self._say = sizes, seed, say
        versions = {**machine(), "matplotlib": version("matplotlib"), "silbo": version("silbo")}
        self.series: Results = {"run": {"machine": versions, "seed": seed, "sizes": sizes.name}}

    def agreement(self) -> None:
        self.series["agreement"] = agreement(self._seed)

    def figure_7(self) -> None:
        self.series["fig07"] = changes.figure_7(self._sizes, self._seed)

    def figure_8(self) -> None:
        self.series["fig08"] = changes.figure_8(self._sizes, self._seed)

    def figure_9(self) -> None:
        self.series["fig09"] = changes.figure_9(self._sizes, self._seed)
        self.series["levels"] = changes.levels(self._sizes, self._seed)

    def change_stages(self) -> None:
        sizes = self._sizes
        load = self._load(16, sizes.subscriptions[1], 500)
        silbo, siena = changes.pair(load)
        settle((silbo, siena), load.publications, sizes.warm_up)
        found = stages.change_stages(silbo, siena, sizes.samples, load.publications, self._seed)
        self.series["change_stages"] = found

    def figure_11(self) -> None:
        figures = self.series["fig11"] = {}
        for size in self._sizes.subscriptions:
            self._say(f"  {size:,} subscriptions")
            load = self._load(11, size, self._sizes.notifications)
            with uncollected(), ExitStack() as stack:
                brokers = [self._broker(stack, load, *each) for each in BROKERS]
                figures[str(size)] = notifications.figure_11(brokers, load.publications, self._sizes.repeats)
                if size == self._sizes.subscriptions[-1]:
                    self._look_closer(brokers, load)
        self.series["table1"] = notifications.table_1(figures[str(size)])

    def _broker(self, stack: ExitStack, load: Load, name: str, index: IndexLike | None) -> Connected:
        broker = stack.enter_context(connected(name, load, index))
        broker.settle(load.publications, self._sizes.warm_up)
        return broker

    def _look_closer(self, brokers: list[Connected], load: Load) -> None:
        """Measure the stages, and compare with the oracle, at the largest load."""
        few = load.publications[: self._sizes.scans]
        found = stages.notification_stages(brokers, load.publications[:STAGED], self._sizes.repeats)
        self.series["notification_stages"] = found
        counted = {"publications": len(few), "subscriptions": load.subscriptions}
        self.series["scanned"] = {**counted, "agrees": agree_with_scan(load, brokers, few)}

    def trade_off(self) -> None:
        figures, samples = list(self.series["fig11"].values()), self.series["fig09"]["samples_us"]
        *_, notified = (figure.pop("samples_us") for figure in figures)
        repair = self.series["change_stages"]["silbo"][stages.CHANGE[-1]]
        silbo, siena = samples["silbo"], samples["siena"]
        content = {**notified, "silbo": notified["content"]}
        self.series["trade_off"] = trade_off(silbo, siena, notified, self._seed, repair=repair)
        self.series["trade_off_content_first"] = trade_off(silbo, siena, content, self._seed)

    def scopes(self) -> None:
        self.series["scopes"] = scopes.scopes(self._sizes, self._seed)

    def surface(self) -> None:
        self.series["surface"] = surface.surface(self._sizes, self._seed, self._say)

    def movement(self) -> None:
        try:
            trace = drive(self._sizes.vehicles, self._sizes.seconds, self._seed)
        except MissingPart as missing:
            self._say(f"  {missing}")
            self.series["movement"] = {"missing": str(missing)}
        else:
            self.series["movement"] = replay(trace, self._seed)

    def _load(self, number: int, subscriptions: int, events: int) -> Load:
        return paper_load(np.random.default_rng([self._seed, number]), subscriptions, paper_figures.EACH, events)


PARTS = {
    "both systems compared with the oracle": "agreement",
    "Figure 7: fifty context changes of new subscribers": "figure_7",
    "Figure 8: runs of context changes while connections are added": "figure_8",
    "Figure 9: a context change by number of filters": "figure_9",
    "a context change by stage": "change_stages",
    "Figure 11, Table 1: notifications": "figure_11",
    "equation 2: the trade-off": "trade_off",
    "scopes": "scopes",
    "the surface": "surface",
    "real movement": "movement",
}


# results


def results(series: Results) -> Results:
    """The content of `results.json`: the documented figures by name, and the series."""
    change = series["fig09"]["median_us"]
    last = list(series["fig11"].values())[-1]
    traded = series["trade_off"]
    return {
        "context_change_us": {
            name: {str(step): change[name][str(step)] for step in changes.HEADLINES} for name in ("silbo", "siena")
        },
        "notification_us": {name: last["microseconds"][name] for name in ("silbo", "siena")},
        "trade_off": {name: traded[name] for name in ("paper_formula", "real_cost", "interval")},
        "agrees": agrees(series),
        "series": {**series, "counts": counts(series)},
    }


def agrees(series: Results) -> bool:
    """Whether every comparison succeeded."""
    answers = [
        series["agreement"]["agrees"],
        series["scanned"]["agrees"],
        series["fig09"]["same_answers"],
        series["movement"].get("agrees", True),
        *(point["same_answers"] for point in series["surface"]),
        *(each["agrees"] for each in series["scopes"].values()),
        *(len(set(figure["notifications"].values())) == 1 for figure in series["fig11"].values()),
    ]
    return all(answers)


def counts(series: Results) -> Results:
    """All counts, which are the same for the same seed and sizes."""
    moved = series["movement"]
    return {
        "agreement_notifications": series["agreement"]["notifications"],
        "notifications": {size: figure["notifications"] for size, figure in series["fig11"].items()},
        "scoped_notifications": {name: each["notifications"] for name, each in series["scopes"].items()},
        "surface_matches": [point["matches"] for point in series["surface"]],
        "movement": {
            name: moved[name] for name in ("vehicles", "changes", "publications", "notifications") if name in moved
        },
    }
