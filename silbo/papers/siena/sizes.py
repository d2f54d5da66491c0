"""The sizes of a run: those of the paper, and smaller ones for a quick run."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = (1, 2, 5, 10, 20, 30, 40, 50)  # filters of a subscriber, Figure 9


@dataclass(frozen=True, slots=True)
class RunSizes:
    """Counts of everything that is loaded, changed, published and repeated."""

    name: str
    loaded: int  # subscriptions loaded before Figures 7 and 9
    newcomers: int  # new subscribers of each number of filters, Figure 7
    most: tuple[int, int]  # subscriptions, Figure 8
    runs: tuple[int, ...]  # context changes of a run, Figure 8
    samples: int  # batches of changes for each step of Figure 9
    subscriptions: tuple[int, int]  # Figure 11
    notifications: int  # Figure 11
    repeats: int  # repeats of every publication, and of runs of Figure 8
    rounds: int  # rounds of the measurements with scopes; the report shows their median and range
    warm_up: int  # publications, after which the planner has settled
    surface: int  # subscriptions of each point
    boxes: tuple[float, ...]  # sides in km, of the surface
    each: tuple[int, ...]  # subscriptions of a subscriber, of the surface
    surface_events: int
    scans: int  # publications for which the oracle scans all subscriptions
    vehicles: int
    seconds: int  # of traffic


FULL = RunSizes(
    "full", loaded=10_000, newcomers=250, most=(10_000, 100_000), runs=(500, 1_000, 2_000, 5_000), samples=300,
    subscriptions=(10_000, 80_000), notifications=4_000, repeats=5, rounds=9, warm_up=1_500,
    surface=40_000, boxes=(10.0, 40.0, 100.0, 200.0, 400.0, 800.0), each=(1, 10, 50), surface_events=600,
    scans=10, vehicles=1_000, seconds=300,
)  # fmt: skip
QUICK = RunSizes(
    "quick", loaded=10_000, newcomers=30, most=(10_000, 100_000), runs=(100, 300, 600), samples=40,
    subscriptions=(10_000, 80_000), notifications=4_000, repeats=3, rounds=5, warm_up=1_000,
    surface=15_000, boxes=(10.0, 40.0, 400.0), each=(1, 10), surface_events=200,
    scans=2, vehicles=200, seconds=90,
)  # fmt: skip
