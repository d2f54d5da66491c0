"""`silbo bench stream`: the cost of a batch of the Spark job, its throughput, and the latency of a notification.

The workload is `siena`: its subscriptions and contexts are loaded, then topics are filled while the job is down, and
drained batch by batch. The job's notifications are compared with the naive method and, for a sample, the oracle.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from silbo.bench import naive
from silbo.bench.machine import machine
from silbo.bench.memory import Peak
from silbo.bench.stream_run import BatchMetrics, FedJob, paced
from silbo.bench.stream_source import PARTITIONS, source
from silbo.bench.timing import Say, say_nothing
from silbo.bench.workloads import EACH, Workload, workload
from silbo.language import tree
from silbo.matching.oracle import truth
from silbo.streaming.spark.job import Options
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS, SUBSCRIPTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Found: TypeAlias = dict[str, Any]

LIMIT = 50_000  # records of a partition in a batch, so that loading takes several batches
SMALL = 10_000  # subscriptions of the job that quiet batches are compared with
MOST_PAIRS = 2 * 10**9  # pairs that the naive method compares
SCANS, SCANNED = 20, 1_000  # publications, and subscriptions that the oracle checks for each
PROBE = "probe"  # an attribute that one subscription without a context function selects
STAGES = {
    "offsets": "latestOffset",
    "planning": "queryPlanning",
    "log": "walCommit",
    "run": "addBatch",
    "commit": "commitOffsets",
}
WORK = ("match", "unpack", "step", "pack", "keep")  # of "run", in the slowest shard; "match" has the next three


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is sent; a smaller plan shows that the bench works, but its figures mean nothing."""

    rounds: int = 4  # batches of publications, and of contexts; the first one after a start does not count
    together: int = 20_000  # publications of a batch
    moves: int = 160_000  # contexts of a batch
    beside: int = 2_000  # publications among the contexts of a batch: 500 to every 40,000
    quiet: int = 15  # batches that match no subscription
    few: int = 100  # publications of a quiet batch, and contexts
    rate: int = 100  # publications per second, to measure the latency
    seconds: float = 25.0  # duration of that
    warm: float = 5.0  # seconds at its beginning that do not count


def run(subscriptions: int, kind: Literal["log", "kafka"], address: str | None, seed: int, *, say: Say) -> Found:
    """Start Spark, and measure the job with this number of subscriptions, over a log or Kafka."""
    from silbo.streaming.kafka.kafka_job import spark_session
    from silbo.streaming.local.kafka_server import Kafka
    from silbo.streaming.spark.spark_session import session

    with ExitStack() as stack:
        if kind == "kafka" and address is None:
            address = stack.enter_context(Kafka()).address
        say("starting Spark")
        spark = session() if kind == "log" else spark_session()
        stack.callback(spark.stop)
        found = measure(spark, subscriptions, address, seed, Plan(), say=say)
        return {"source": kind, **found, "seed": seed, "machine": machine()}


def measure(
    spark: SparkSession, subscriptions: int, address: str | None, seed: int, plan: Plan, *,
    say: Say = say_nothing,
) -> Found:  # fmt: skip
    """All figures, over a log or the Kafka at this address."""
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "10000")
    with Peak() as peak:
        load = workload("siena", subscriptions, plan.rounds * plan.together, seed)
        small = _Bench(spark, address, workload("siena", min(SMALL, subscriptions), 1, seed), seed, plan, say)
        bench = _Bench(spark, address, load, seed, plan, say)
        found = bench.measured(lambda run: bench.figures(run, small))
    return {**found, "memory_mb": peak.megabytes}


@dataclass
class _Bench:
    spark: SparkSession
    address: str | None
    load: Workload
    seed: int
    plan: Plan
    say: Say

    def __post_init__(self) -> None:
        self._chance = np.random.default_rng(self.seed)
        self._load_s = 0.0

    def measured(self, figures: Callable[[FedJob], Found]) -> Found:
        """The figures of a job that has loaded all subscriptions."""
        with tempfile.TemporaryDirectory(prefix="silbo-bench-") as folder, ExitStack() as stack:
            topics = stack.enter_context(source(self.address, Path(folder) / "log"))
            checkpoint = Path(folder) / "checkpoint"
            run = FedJob(topics, lambda limits: topics.start(self.spark, Options(checkpoint, "arrival", batch=limits)))
            stack.callback(run.stop)
            self._load(run)
            return figures(run)

    def _load(self, run: FedJob) -> None:
        self.say(f"loading {len(self.load):,} subscriptions")
        for number, (filter, function) in enumerate(zip(self.load.filters, self.load.functions, strict=True)):
            run.subscribe(number, filter.text, None if function is None else function.text)
        run.subscribe(len(self.load), f"exists {PROBE}", None)
        for number, context in enumerate(self.load.contexts):
            run.context(number, context)
        run.topics.flush()
        since = time.perf_counter()
        run.restart({SUBSCRIPTIONS: LIMIT})
        run.drained()
        self._load_s = round(time.perf_counter() - since, 1)

    def figures(self, run: FedJob, small: _Bench) -> Found:
        """All figures; the job of a smaller bench runs at the same time, to compare quiet batches with."""
        self._quiet(run, self.plan.quiet)  # the first batches wait for kernels, and for Java's compiler
        before, plan = run.sequence, self.plan
        self.say("publications")
        published = self._drained(run, self._publish, {PUBLICATIONS: plan.together})
        heard = list(run.heard())
        self.say("contexts, and publications among them")
        moved = self._drained(run, self._move, {CONTEXTS: plan.moves, PUBLICATIONS: plan.beside})
        self.say("batches that match nothing")
        run.restart({})
        untouched = small.measured(lambda other: self._untouched(run, small, other))
        hits, asked = (round(sum(each.metric(name) for each in run.batches)) for name in ("hits", "shards"))
        self.say(f"{plan.rate} publications per second, for {plan.seconds:.0f} s")
        list(run.heard())
        latency = _latency(run, plan)
        given = {(each.sequence - before - 1, int(each.subscription[1:])) for each in heard}
        rate = _per_second(published)
        moves = _per_second(moved) * plan.moves / (plan.moves + plan.beside)
        return {
            "subscriptions": len(self.load),
            "load_s": self._load_s,
            "notifications": len(given),
            "publications_per_s": round(rate),
            "contexts_per_s": round(moves),
            "beside_publications_per_s": round(moves * plan.beside / plan.moves),
            "batch_ms": {"publications": _stages(published), "contexts": _stages(moved)},
            "latency_ms": latency,
            "untouched": untouched,
            "cache_hits": hits,
            "cache_asked": asked,
            "executors": self._executors(),
            **self._compared(given, rate),
        }

    def _executors(self) -> int:
        """The number of executors that run tasks: in local mode one, the driver."""
        known = self.spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        return max(1, len(known) - 1)

    def _drained(self, run: FedJob, send: Callable[[FedJob], None], sizes: Mapping[str, int]) -> Sequence[BatchMetrics]:
        """Fill topics while the job is down, then drain them in batches of these sizes; returns all but the first."""
        run.stop()
        send(run)
        run.topics.flush()
        run.restart({topic: -(-size // PARTITIONS) for topic, size in sizes.items()})
        batches = run.drained()
        return batches[1:] or batches

    def _publish(self, run: FedJob) -> None:
        for attributes, context in self.load.publications:
            run.publish(attributes, context)

    def _move(self, run: FedJob) -> None:
        count, step = self.plan.rounds * self.plan.moves, self.plan.moves // self.plan.beside
        who = self._chance.integers(0, len(self.load.contexts), count).tolist()
        where = self._chance.uniform(0, 1_000, (count, 2)).tolist()
        for i, (number, (x, y)) in enumerate(zip(who, where, strict=True)):
            run.context(number, {"x": x, "y": y})
            if i % step == 0:
                run.publish(*self.load.publications[i % len(self.load.publications)])

    def _untouched(self, run: FedJob, small: _Bench, other: FedJob) -> Found:
        """Compare quiet batches of two jobs in turns, so that other load on the machine affects both alike."""
        small._quiet(other, 2)
        pairs = [(self._quiet(run, 1), small._quiet(other, 1)) for _ in range(self.plan.quiet)]
        here, there = ([batch for pair in pairs for batch in pair[side]] for side in (0, 1))
        folded = [each.ms for each in here if each.metric("folds")]
        plain, few = _plain(here), _plain(there)
        return {
            "batch_ms": round(median(plain)),
            "step_ms": round(median(each.metric("step_ms") for each in here), 1),
            "folds": len(folded),
            "fold_ms": round(median(folded)) if folded else None,
            "small_subscriptions": len(small.load),
            "small_batch_ms": round(median(few)),
            "ratio": round(median(plain) / median(few), 2),
        }

    def _quiet(self, run: FedJob, count: int) -> list[BatchMetrics]:
        """Run batches of publications with an attribute that no subscription reads, and of a few contexts."""
        made: list[BatchMetrics] = []
        for _ in range(count):
            for number in self._chance.integers(0, len(self.load.contexts), self.plan.few).tolist():
                run.context(number, self.load.contexts[number])
                run.publish({"nobody": 1}, {"x": 0.0, "y": 0.0})
            made += run.drained()
        return made

    def _compared(self, given: set[tuple[int, int]], rate: float) -> Found:
        """The rate of the naive method, and whether it and the oracle agree with the job."""
        given = {each for each in given if each[0] < self.plan.together}
        agrees = self._oracle_agrees(given)
        if self.plan.together * len(self.load) > MOST_PAIRS:
            return {"agrees": agrees, "naive_publications_per_s": None, "naive_ratio": None}
        self.say("the naive method")
        found, seconds = naive.matched(self.spark, self.load, self.load.publications[: self.plan.together])
        naive_rate = self.plan.together / seconds
        return {"agrees": agrees and found == given, "naive_publications_per_s": round(naive_rate),
                "naive_ratio": round(rate / naive_rate, 1)}  # fmt: skip

    def _oracle_agrees(self, given: set[tuple[int, int]]) -> bool:
        """Whether the oracle agrees on some publications, for random subscriptions and all that the job notified."""
        for publication in range(SCANS):
            drawn = set(self._chance.integers(0, len(self.load), SCANNED).tolist())
            asked = drawn | {subscription for number, subscription in given if number == publication}
            if any(self._oracle(publication, each) != ((publication, each) in given) for each in asked):
                return False
        return True

    def _oracle(self, publication: int, subscription: int) -> bool:
        attributes, offered = self.load.publications[publication]
        context = self.load.contexts[subscription // EACH]
        spaces: Mapping[str, Mapping[str, Any]] = {"attribute": attributes, "pub": offered, "this": context}

        def look(name: tree.Name) -> Any:
            return spaces[name.namespace].get(name.name)

        function = self.load.functions[subscription]
        holds = truth(self.load.filters[subscription].tree, look) == 1
        return holds and (function is None or truth(function.tree, look) == 1)


def _per_second(batches: Sequence[BatchMetrics]) -> float:
    return sum(each.rows for each in batches) / sum(each.ms for each in batches) * 1_000


def _plain(batches: Sequence[BatchMetrics]) -> list[float]:
    """The times of batches in which no state was folded."""
    return [each.ms for each in batches if not each.metric("folds")] or [each.ms for each in batches]


def _stages(batches: Sequence[BatchMetrics]) -> dict[str, float]:
    """Milliseconds of a batch by stage: Spark's stages, and the work of the slowest shard."""
    found = {name: median(each.took(stage) for each in batches) for name, stage in STAGES.items()}
    work = {name: median(each.metric(f"{name}_ms") for each in batches) for name in WORK}
    total = median(each.ms for each in batches)
    return {name: round(value) for name, value in {"total": total, **found, **work}.items()}


def _latency(run: FedJob, plan: Plan) -> dict[str, float]:
    """Milliseconds from the time when a publication was due until its notification was read."""
    found = paced(run, plan.rate, plan.seconds, ({PROBE: 1}, {"x": 0.0, "y": 0.0}))
    taken = [took * 1_000 for due, took in found if due >= plan.warm]
    return {"p50": round(float(np.percentile(taken, 50))), "p99": round(float(np.percentile(taken, 99)))}
