"""Apache Kafka on this machine: one node (KRaft), loopback only, for tests and trials. `make kafka` runs it.

Its data go to a temporary folder and its ports are free ones, unless they are given. Kafka ends with the process that
started it.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.errors import SilboError
from silbo.streaming.local.jars import jars
from silbo.streaming.local.java import java

if TYPE_CHECKING:
    from typing_extensions import Self

READY = 60.0  # seconds
USUAL = 9092
NEXT = """Kafka listens on {0}; Ctrl-C ends it. In other terminals:
  silbo stream --kafka {0} --create-topics --order arrival --checkpoint city.checkpoint
and, when the job is ready, programs that connect to kafka://{0}, such as the one in README.md.
The data are in a temporary folder: give the next Kafka a new checkpoint."""
PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
log.dirs={data}
auto.create.topics.enable=false
log.retention.ms=-1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
group.initial.rebalance.delay.ms=0
"""


def free_port() -> int:
    """A free port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def usual_port() -> int:
    """Kafka's usual port, or a free one if that is taken."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", USUAL))
        except OSError:
            return free_port()
    return USUAL


class Kafka:
    """One Kafka node; `with Kafka() as kafka: kafka.address`."""

    def __init__(self, port: int | None = None, folder: Path | None = None) -> None:
        self.port = port or free_port()
        self._controller = free_port()
        self._own = tempfile.mkdtemp(prefix="silbo-kafka-") if folder is None else None
        self._folder = Path(self._own) if self._own is not None else folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """The address, as host:port."""
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The pid of the process that runs now."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start Kafka and wait until it answers; the first start formats its storage."""
        assert self._folder is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        properties = self._folder / "server.properties"
        if not properties.exists():
            data = self._folder / "data"
            properties.write_text(PROPERTIES.format(port=self.port, controller=self._controller, data=data))
            # the first byte is 0: an id that begins with a minus would be taken for an option
            cluster = urlsafe_b64encode(b"\0" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
            self._java("kafka.tools.StorageTool", "format", "--standalone", "-t", cluster, "-c", str(properties)).wait()
        self._process = self._java("kafka.Kafka", str(properties))
        self._wait()
        return self

    def _java(self, *arguments: str) -> subprocess.Popen[bytes]:
        assert self._folder is not None
        path = ":".join(map(str, jars("kafka")))
        with (self._folder / "kafka.log").open("ab") as log:
            return subprocess.Popen([java(), "-Xmx512m", "-cp", path, *arguments], stdout=log, stderr=log)  # noqa: S603

    def _wait(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + READY
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise SilboError(f"Kafka did not start; see {self._folder}/kafka.log.")

    def kill(self) -> None:
        """Kill the process, to simulate a power cut."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def wait(self) -> int:
        """Wait until the process ends; returns its exit status."""
        assert self._process is not None
        return self._process.wait()

    def stop(self) -> None:
        """Stop the process gracefully."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)


def main() -> int:
    """Run Kafka until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, help="default: 9092, or a free port if that is taken")
    parser.add_argument("--data", type=Path, help="default: a temporary folder")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # a normal exit, which stops Kafka too
    with Kafka(options.port or usual_port(), options.data) as kafka:
        print(NEXT.format(kafka.address), flush=True)
        try:
            status = kafka.wait()
        except KeyboardInterrupt:
            return 0
    print(f"Kafka has ended by itself, with status {status}", file=sys.stderr)
    return 1
