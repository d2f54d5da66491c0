"""A standalone Spark cluster on this machine: one master and some workers, from pip's pyspark, loopback only.

For tests and trials: `python -m silbo.testing.cluster` runs one until it is interrupted. Ports are free ones; logs
and executors' folders are temporary. Kafka of the same kind is `silbo.streaming.kafka_server`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from silbo.bench.processes import descendants
from silbo.errors import MissingPart, SilboError
from silbo.streaming.local.kafka_server import free_port
from silbo.testing.own.spark_processes import command

if TYPE_CHECKING:
    from typing_extensions import Self

READY = 90.0  # seconds
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
EXECUTOR = "CoarseGrainedExecutorBackend"


class Cluster:
    """A master and its workers, each with so many cores; `with Cluster() as cluster: cluster.url`."""

    def __init__(self, workers: int = 2, cores: int = 1, memory: str = "1g") -> None:
        self._workers, self._cores, self._memory = workers, cores, memory
        self._port, self._page = free_port(), free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="silbo-cluster-"))
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        """What Spark calls a master: spark://host:port."""
        return f"spark://127.0.0.1:{self._port}"

    def start(self) -> Self:
        """Start all, and wait until the master knows its workers."""
        try:
            self._start()
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self) -> None:
        address = ("--host", "127.0.0.1")
        self._spark("master", MASTER, *address, "--port", str(self._port), "--webui-port", str(self._page))
        for number in range(self._workers):
            name = f"worker-{number}"
            size = "--cores", str(self._cores), "--memory", self._memory, "-d", str(self._folder / name)
            self._spark(name, WORKER, *address, "--webui-port", "0", *size, self.url)

    def executors(self) -> list[int]:
        """The processes in which applications' tasks run, by their pids."""
        below = [pid for process in self._processes for pid in descendants(process.pid)]
        return [pid for pid in below if EXECUTOR in command(pid)]

    def stop(self) -> None:
        """End all processes, and delete the folder."""
        for process in reversed(self._processes):  # workers first: they end their executors
            process.terminate()
        for process in self._processes:
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _spark(self, name: str, *arguments: str) -> None:
        found = find_spec("pyspark")
        if found is None or found.origin is None:
            raise MissingPart("Spark", extra="spark")
        program = Path(found.origin).parent / "bin" / "spark-class"
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        with (self._folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen([program, *arguments], stdout=log, stderr=log, env=environment)  # noqa: S603
        self._processes.append(process)

    def _wait(self) -> None:
        deadline = time.monotonic() + READY
        while self._alive() < self._workers:
            if time.monotonic() > deadline or any(each.poll() is not None for each in self._processes):
                logs = "\n".join(path.read_text()[-500:] for path in sorted(self._folder.glob("*.log")))
                raise SilboError(f"the cluster did not start; the ends of its logs are:\n{logs}")
            time.sleep(0.1)

    def _alive(self) -> int:
        """How many workers the master counts; 0 while it does not answer, or with an empty page, as it begins."""
        try:
            with urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=5) as answer:
                state: dict[str, Any] = json.load(answer)
        except (OSError, ValueError):
            return 0
        return int(state["aliveworkers"])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def main() -> int:
    """Run one until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="default: 2")
    parser.add_argument("--cores", type=int, default=1, metavar="N", help="of each (default: 1)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # ends the cluster's processes before this one
    with Cluster(options.workers, options.cores) as cluster:
        print(f"Spark's master is {cluster.url}; Ctrl-C ends it", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
