"""Kill parts of the streaming job at random while records arrive in bursts, and compare its output with the oracle.

`make torture` runs rounds for ten minutes; `python tests/torture.py --seed 7 --rounds 20 --minutes 30` sets the limits.
A round feeds a generated log through a local log or through Kafka, to a job on a local master or on a standalone
cluster. After each burst it sends kill -9 to one process: the driver (its Python or its JVM), an executor, a Python
worker, or Kafka. A job that has ended is started again. At the end every notification must be there, and repeated
notifications must be equal.

Each round prints one line. The first failure ends the run and prints the seed, which repeats the choices of the round
but not the exact moment of each kill, since that depends on other processes.
"""

import argparse
import os
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from random import Random
from subprocess import TimeoutExpired
from typing import Self

from silbo.bench.processes import descendants, parent
from silbo.errors import SilboError
from silbo.streaming.bulk.output import notifications_in_order
from silbo.streaming.kafka.client import KafkaWriter, create_topics, delete_topics, values
from silbo.streaming.local import log_records
from silbo.streaming.local.kafka_server import Kafka
from silbo.streaming.local.log import LogWriter, read_all
from silbo.streaming.topics import NOTIFICATIONS
from silbo.testing import compare, generate_log
from silbo.testing.cluster import Cluster
from silbo.testing.own.jobs import Feed, RunningProgram, repeats
from silbo.testing.own.spark_processes import command, task_workers

LONGEST = 4.0  # seconds from a burst, or the job's first worker, to the kill
ENDED = 300.0  # seconds that the job may take for the rest


class Servers:
    """Kafka and the cluster: one of each for all rounds, started by the first round that uses it."""

    def __init__(self) -> None:
        self._opened = ExitStack()

    @cached_property
    def kafka(self) -> Kafka:
        return self._opened.enter_context(Kafka())

    @cached_property
    def cluster(self) -> Cluster:
        return self._opened.enter_context(Cluster())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


class OverLog:
    """Records in a local log."""

    name = "log"

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "log"
        self.writer = LogWriter(self._folder, 3)
        self.options = ["--log", self._folder]

    def drain(self) -> None:
        self.writer.close()
        log_records.drain(self._folder)

    def notifications(self) -> list[bytes]:
        return list(read_all(self._folder, NOTIFICATIONS, 0))

    def forget(self) -> None:
        """Do nothing: the log is inside the round's temporary folder."""


class OverKafka:
    """Records in Kafka topics of the round's own."""

    name = "kafka"

    def __init__(self, kafka: Kafka, prefix: str) -> None:
        self._address, self._prefix = kafka.address, prefix
        create_topics(kafka.address, 3, prefix)
        self.writer = KafkaWriter(kafka.address, prefix)
        self.options = ["--kafka", kafka.address, "--prefix", prefix]

    def drain(self) -> None:
        self.writer.drain()
        self.writer.close()

    def notifications(self) -> list[bytes]:
        return list(values(self._address, NOTIFICATIONS, self._prefix))

    def forget(self) -> None:
        delete_topics(self._address, self._prefix)


class Round:
    """One log, its bursts and its kills."""

    def __init__(self, seed: int, servers: Servers, folder: Path) -> None:
        self._chance, self._servers = Random(seed), servers
        self._over_kafka, self._on_cluster = self._chance.random() < 0.5, self._chance.random() < 0.5
        self.place = OverKafka(servers.kafka, f"silbo-torture-{seed}") if self._over_kafka else OverLog(folder)
        master = ["--master", servers.cluster.url] if self._on_cluster else []
        self.events = generate_log(seed, self._chance.randrange(300, 900))
        self._options = [*self.place.options, "--checkpoint", folder / "checkpoint", *master]
        self._options += ["--batch", str(self._chance.choice([10, 40, 200]))]
        self._errors = folder / "errors"
        self.kills: Counter[str] = Counter()
        self.ended = 0  # how often the job ended because another part was killed, and was started again

    def __str__(self) -> str:
        kills = ", ".join(f"{kind} {number}" for kind, number in sorted(self.kills.items()))
        where = f"{self.place.name} on {'a cluster' if self._on_cluster else 'one machine'}"
        return f"{where:22} {len(self.events)} events  killed: {kills}; ended by itself: {self.ended}"

    def run(self) -> str | None:
        """Run the round. Returns the error output of a job that failed, or None."""
        feed = Feed(self.place.writer)
        with RunningProgram.stream(self._errors, *self._options) as running:
            for burst in self._bursts():
                feed.write(burst)
                self._kill(running)
                if running.status is not None:
                    running.restart()
            self.place.drain()
        with RunningProgram.stream(self._errors, *self._options, "--once") as last:
            if last.wait(ENDED) != 0:
                return last.said
        return None

    def _bursts(self) -> list[list[object]]:
        number = self._chance.randrange(3, 7)
        cuts = sorted(self._chance.sample(range(1, len(self.events)), number - 1))
        return [self.events[begin:end] for begin, end in zip([0, *cuts], [*cuts, None], strict=True)]

    def _kill(self, running: RunningProgram) -> None:
        self._await_workers(running)
        time.sleep(self._chance.uniform(0, LONGEST))  # the kill must come at a random moment of a batch
        victims = {"driver": [running.pid], "worker": task_workers(running.pid)}
        victims["jvm"] = [each for each in descendants(running.pid) if parent(each) == running.pid]
        if self._on_cluster:
            victims["executor"] = self._servers.cluster.executors()
            victims["worker"] = [each for pid in victims["executor"] for each in task_workers(pid)]
        if self._over_kafka:
            victims["kafka"] = [self._servers.kafka.pid]
        kind = self._chance.choice(sorted(kind for kind, found in victims.items() if found))
        self.kills[kind] += 1
        self._strike(kind, self._chance.choice(victims[kind]), running)

    def _await_workers(self, running: RunningProgram) -> None:
        """Wait until the job has a Python worker: before that there is nothing worth killing."""
        with suppress(AssertionError):
            running.until(lambda: any("pyspark.worker" in command(each) for each in self._tree(running)), 60)
        if running.status is not None:
            self.ended += 1
            running.restart()

    def _tree(self, running: RunningProgram) -> list[int]:
        executors = self._servers.cluster.executors() if self._on_cluster else []
        return [each for pid in (running.pid, *executors) for each in descendants(pid)]

    def _strike(self, kind: str, victim: int, running: RunningProgram) -> None:
        if kind == "kafka":
            self._servers.kafka.kill()
            self._servers.kafka.start()
            return
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(victim, signal.SIGKILL)
        if kind in ("driver", "jvm"):
            running.kill()


def judged(each: Round) -> str:
    """Compare everything that the job wrote with the oracle. Returns a summary, or raises `AssertionError`."""
    found = each.place.notifications()
    again = repeats(found)
    comparison = compare(each.events, notifications_in_order(found))
    assert comparison.agrees, str(comparison)
    return f"{comparison.expected} notifications, {again} repeats"


def tried(seed: int, servers: Servers) -> bool:
    """Run one round and print its result in one line. Returns whether it passed."""
    since = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="silbo-torture-") as folder:
        each = Round(seed, servers, Path(folder))
        try:
            wrong = each.run()
            result = judged(each) if wrong is None else f"FAILED: the job ended in error:\n{wrong}"
        except (AssertionError, SilboError, TimeoutExpired) as error:
            wrong = result = f"FAILED: {error}"
        each.place.forget()
    print(f"seed {seed:<10} {each}; {result}; {time.monotonic() - since:.0f} s", flush=True)
    return wrong is None


def main() -> int:
    """Run rounds until one fails, their number is reached, or the time is up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="seed of the first round (default: random)")
    parser.add_argument("--rounds", type=int, help="number of rounds (default: until the time is up)")
    parser.add_argument("--minutes", type=float, default=10.0, help="start no round after this time (default: 10)")
    options = parser.parse_args()
    first = secrets.randbelow(10**6) if options.seed is None else options.seed
    rounds = count(first) if options.rounds is None else range(first, first + options.rounds)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # the address of the cluster
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a normal exit, so that all child processes are stopped
    deadline = time.monotonic() + 60 * options.minutes
    with Servers() as servers:
        for seed in rounds:
            if time.monotonic() > deadline:
                break
            if not tried(seed, servers):
                print(f"to repeat: python tests/torture.py --seed {seed} --rounds 1")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
