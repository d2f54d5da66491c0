"""The road scenario as a stream: cars and cameras write a log, a Spark job matches it in bulk. No Kafka is needed.

A local log is a folder of topics with three partitions each; the job reads all of them and matches in the order of
time, so that a publication meets every car where it was at that minute. In the end everything it notified is compared
with the oracle, and drawn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from picture import draw
from traffic import SQUARE, Road, add_options
from verdict import disagrees

import silbo
from silbo.matching.choice import NoIndex
from silbo.model.events import Event
from silbo.streaming.bulk.sender import sending
from silbo.streaming.local.log import LogWriter
from silbo.streaming.local.log_job import start
from silbo.streaming.local.log_records import drain, notifications
from silbo.streaming.spark.failure import as_job_failure
from silbo.streaming.spark.job import Options
from silbo.streaming.spark.spark_session import session
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS, SUBSCRIPTIONS
from silbo.wire.records import NotificationRecord, Record

PARTITIONS = 3  # of each topic
BATCH = 10_000  # records of a partition in a batch, at most
MINUTE = 60_000_000  # microseconds: the log's times are those of the road
BEGIN = time.perf_counter()


class Batch(NamedTuple):
    """What Spark says of a batch."""

    records: int
    seconds: float


def write(road: Road, log: Path, options: argparse.Namespace) -> tuple[list[Event], Counter[str]]:
    """Let the traffic flow into a log; the events, for the oracle, and how many records each topic has."""
    events: list[Event] = []
    counts: Counter[str] = Counter()
    writer = LogWriter(log, PARTITIONS)

    def send(topic: str, key: str, record: Record) -> None:
        counts[topic] += 1
        writer.send(topic, key, record)

    # a broker with the rules of sessions that matches nothing; its accepted events become records of the log
    fold = sending(send, lambda: road.minute * MINUTE)

    def record(event: Event) -> None:
        events.append(event)
        fold.apply([event])

    broker = silbo.Broker(index=NoIndex(), record=record)
    road.connect(broker, options.cars, options.cameras)
    for _ in range(options.minutes):
        road.pass_minute()
    writer.close()
    drain(log)  # nothing more will come: the job need not wait for it
    return events, counts


def match(log: Path, checkpoint: Path) -> tuple[list[NotificationRecord], list[Batch]]:
    """Run the job to the end of the log; what it notified, and its batches."""
    query = start(session(brief=True), log, Options(checkpoint, order="strict", batch=BATCH))
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    measured = [(each["numInputRows"], each["durationMs"]["triggerExecution"] / 1_000) for each in query.recentProgress]
    return notifications(log), [Batch(rows, seconds) for rows, seconds in measured if rows]


def summarise(road: Road, counts: Counter[str], got: list[NotificationRecord], batches: list[Batch]) -> None:
    """What was written, and how fast it was matched."""
    seconds, (first, *others) = sum(batch.seconds for batch in batches), batches
    print(f"{len(road.cars):,} cars and {len(road.cameras)} cameras, {road.minute} minutes, {SQUARE:.0f} km square")
    for name, count in (
        ("subscriptions", counts[SUBSCRIPTIONS]), ("contexts", counts[CONTEXTS]),
        ("publications", counts[PUBLICATIONS]), ("records", counts.total()), ("notifications", len(got)),
    ):  # fmt: skip
        print(f"  {name:<14} {count:>9,}   {count / seconds:>9,.0f} a second")
    print(f"  matched in {seconds:.1f} s and {len(batches)} batches, {first.seconds:.1f} s of it the first, cold")
    if others:
        steady = sum(batch.records for batch in others) / sum(batch.seconds for batch in others)
        print(f"  from the second batch on {steady:,.0f} records a second")


def run(options: argparse.Namespace) -> int:
    """Write, match, print a summary, and fail if the oracle disagrees."""
    say("starting Spark")
    session(brief=True)
    with tempfile.TemporaryDirectory(prefix="silbo-road-") as folder:
        log, road = Path(folder) / "log", Road(options.seed)
        say("cars drive and cameras publish, into a log")
        events, counts = write(road, log, options)
        say("the job matches the log")
        got, batches = match(log, Path(folder) / "checkpoint")
    summarise(road, counts, got, batches)
    say("drawing")
    draw(road, [(each.time // MINUTE, each) for each in got], options.picture)
    print(f"  picture: {options.picture}")
    say("comparing with the oracle")
    return int(disagrees(events, got))


def say(what: str) -> None:
    """Progress, for who waits."""
    print(f"{time.perf_counter() - BEGIN:5.1f} s: {what} ...", file=sys.stderr, flush=True)


def main() -> int:
    """Run it as the options say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, cars=1_500, cameras=60, minutes=120)
    parser.add_argument("--picture", type=Path, default=Path("out/road.png"), help="default: out/road.png")
    options = parser.parse_args()
    try:
        with as_job_failure():
            return run(options)
    except silbo.SilboError as error:
        print(f"road: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
