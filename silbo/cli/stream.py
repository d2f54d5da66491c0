"""`silbo stream`: the Spark job that matches in bulk, over a local log or Kafka."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from silbo.cli.commands import positive

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from silbo.cli.commands import Commands
    from silbo.streaming.job import Options

EPILOG = """examples:
  silbo stream --log city --checkpoint city.checkpoint              match a local log, until it is stopped
  silbo stream --log city --checkpoint city.checkpoint --once       what is there now, then end
  silbo stream --log city --checkpoint city.checkpoint --drain      to the end of the log: nothing more will come
  silbo stream --log city --checkpoint city.checkpoint --migrate city.4 --shards 4    when its job has stopped
  silbo stream --kafka localhost:9092 --create-topics --order arrival --checkpoint city.checkpoint

A log is a folder of topics (docs/streaming.md). Strict order gives what the oracle gives for the records in the
order of their times, whatever the batches are; arrival order matches at once what a batch has. A job that was
stopped or killed goes on from its checkpoint.
"""
MOST_SECONDS = 1e9
EVERY = 2  # seconds between two lines of progress


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "stream",
        help="match a log or Kafka's topics in bulk, on Spark",
        description="Match records in bulk, of a local log or of Kafka, on Spark Structured Streaming.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--log", type=Path, metavar="DIR", help="a local log")
    source.add_argument("--kafka", metavar="HOST:PORT", help="Kafka")
    parser.add_argument("--create-topics", action="store_true", help="make Kafka's topics that are not there")
    parser.add_argument("--partitions", type=positive, default=3, metavar="N", help="of topics made (default: 3)")
    parser.add_argument("--prefix", default="silbo", metavar="NAME", help="how topics' names begin (default: silbo)")
    parser.add_argument("--checkpoint", type=Path, required=True, metavar="DIR", help="where the job keeps its state")
    parser.add_argument("--order", choices=("strict", "arrival"), default="strict", help="default: strict")
    parser.add_argument("--lateness", type=_seconds, default=0.0, metavar="SECONDS",
                        help="how far a record may lie behind others of its partition (default: 0)")  # fmt: skip
    parser.add_argument("--shards", type=positive, default=2, metavar="N", help="parts of the subscribers (default: 2)")
    parser.add_argument("--trigger", type=float, default=0.0, metavar="SECONDS", help="between batches (default: 0)")
    parser.add_argument("--batch", type=positive, metavar="N",
                        help="records of a partition in a batch, at most (default: what is there)")  # fmt: skip
    parser.add_argument("--master", default="local[2]", metavar="URL", help="Spark's master (default: local[2])")
    parser.add_argument("--once", action="store_true", help="match what is there, then end")
    parser.add_argument("--drain", action="store_true", help="as --once, and match to the end: nothing more will come")
    parser.add_argument("--migrate", type=Path, metavar="NEW",
                        help="make a new checkpoint from that of a stopped job, then end")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the job, and tell how it goes."""
    if options.migrate is not None:
        return _migrate(options)
    query = _over_log(options) if options.kafka is None else _over_kafka(options)
    since = time.monotonic()
    try:
        if options.once or options.drain:
            query.processAllAvailable()
        else:
            _watch(query)
    except KeyboardInterrupt:
        pass
    finally:
        query.stop()
    print(f"{_rows(query):,} records in {time.monotonic() - since:.1f} s", file=sys.stderr)
    return 0


def _seconds(text: str) -> float:
    """Seconds, from 0."""
    value = float(text)
    if not 0 <= value < MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"seconds from 0 are expected, not {text}")
    return value


def _options(options: argparse.Namespace) -> Options:
    from silbo.streaming.job import Options

    trigger = f"{options.trigger} seconds"
    return Options(options.checkpoint, options.order, options.lateness, options.shards, trigger, options.batch)


def _over_log(options: argparse.Namespace) -> StreamingQuery:
    from silbo.errors import InvalidValue
    from silbo.streaming import job
    from silbo.streaming.log import partitions_of
    from silbo.streaming.spark import session
    from silbo.streaming.topics import INPUTS

    missing = [topic for topic in INPUTS if not partitions_of(options.log, topic)]
    if missing:
        raise InvalidValue("--log", f"{options.log} has no topic {missing[0]}. docs/streaming.md tells what a log is.")
    if options.drain:
        job.drain(options.log)
    return job.start(session(options.master), options.log, _options(options))


def _over_kafka(options: argparse.Namespace) -> StreamingQuery:
    from silbo.streaming import kafka_job
    from silbo.streaming.kafka import KafkaWriter, create_topics

    if options.create_topics:
        create_topics(options.kafka, options.partitions, options.prefix)
    if options.drain:
        writer = KafkaWriter(options.kafka, options.prefix)
        writer.drain()
        writer.close()
    spark = kafka_job.spark_session(options.master)
    return kafka_job.start(spark, options.kafka, _options(options), options.prefix)


def _migrate(options: argparse.Namespace) -> int:
    """Bring a stopped job's state into a new checkpoint."""
    from silbo.streaming import job, kafka_job
    from silbo.streaming.checkpoint import command
    from silbo.streaming.migration import migrate
    from silbo.streaming.spark import session

    over_log = options.kafka is None
    source = job.source_of(options.log) if over_log else kafka_job.source_of(options.kafka, options.prefix)
    wanted = job.wanted(_options(options), *source)
    found = migrate(session(options.master), options.checkpoint, options.migrate, wanted)
    print(f"{options.migrate}: {found.subscribers:,} subscribers in {options.shards} shards, "
          f"{found.waiting:,} records waiting. Go on with:\n"
          f"{command(wanted, '--checkpoint', str(options.migrate))}")  # fmt: skip
    return 0


def _watch(query: StreamingQuery) -> None:
    while not query.awaitTermination(EVERY):
        progress: Any = query.lastProgress
        if progress is not None and sys.stderr.isatty():
            took = progress["durationMs"].get("triggerExecution", 0)
            print(f"batch {progress['batchId']}: {progress['numInputRows']:,} records in {took} ms", file=sys.stderr)


def _rows(query: StreamingQuery) -> int:
    return sum(each["numInputRows"] for each in query.recentProgress)
