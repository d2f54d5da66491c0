"""`silbo stream`: the Spark job that matches in bulk, over a local log or Kafka."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeAlias

from silbo.cli.commands import add_verbose, positive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from silbo.cli.commands import Commands
    from silbo.streaming.spark.job import Options

    Job: TypeAlias = tuple[SparkSession, Callable[[], StreamingQuery]]  # the session, and the job's start

EPILOG = """examples:
  silbo stream --log city --checkpoint city.checkpoint              match a local log, until it is stopped
  silbo stream --log city --checkpoint city.checkpoint --once       match the present records, then end
  silbo stream --log city --checkpoint city.checkpoint --drain      match to the end: no more records will come
  silbo stream --log city --checkpoint city.checkpoint --idle 5     do not wait for partitions silent for 5 s
  silbo stream --log city --checkpoint city.checkpoint --migrate city.4 --shards 4    after its job has stopped
  silbo stream --kafka localhost:9092 --create-topics --order arrival --checkpoint city.checkpoint
  silbo stream --kafka localhost:9092 --lateness 2 --tick 1 --checkpoint city.checkpoint    live sessions, strict order

A log is a folder of topics (docs/streaming.md). Strict order gives the oracle's result for the records in the order of
their times, whatever the batches are; arrival order matches the records of a batch at once. A job that was stopped or
killed continues from its checkpoint.
"""
MOST_SECONDS = 1e9
MOST_RECORDS = 50_000  # of a partition in a batch: memory stays bounded, however many are waiting
LOOK = 0.2  # seconds between two checks whether the job has ended


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
    source.add_argument("--log", type=Path, metavar="DIR", help="the folder of the local log to read")
    source.add_argument("--kafka", metavar="HOST:PORT", help="the address of the Kafka to read from")
    parser.add_argument("--create-topics", action="store_true", help="create the missing topics in Kafka")
    parser.add_argument("--partitions", type=positive, default=3, metavar="N",
                        help="partitions of each topic that is created (default: 3)")  # fmt: skip
    parser.add_argument("--prefix", default="silbo", metavar="NAME", help="prefix of topic names (default: silbo)")
    parser.add_argument("--checkpoint", type=Path, required=True, metavar="DIR", help="where the job keeps its state")
    _add_order(parser)
    parser.add_argument("--shards", type=positive, default=2, metavar="N",
                        help="number of parts that the subscribers are divided into (default: 2)")  # fmt: skip
    parser.add_argument("--trigger", type=_seconds, default=0.0, metavar="SECONDS",
                        help="the least time between batches (default: 0)")  # fmt: skip
    parser.add_argument("--batch", type=positive, default=MOST_RECORDS, metavar="N",
                        help=f"the most records of a partition in a batch (default: {MOST_RECORDS:,})")  # fmt: skip
    parser.add_argument("--master", default="local[2,4]", metavar="URL",
                        help="Spark's master (default: local[2,4]: two threads, four attempts of a task)")  # fmt: skip
    parser.add_argument("--once", action="store_true", help="match the present records, then end")
    parser.add_argument("--drain", action="store_true",
                        help="as --once, and match what waits for the frontier as well; "
                             "use it if no more records will come")  # fmt: skip
    parser.add_argument("--progress", action="store_true",
                        help="print a line for each batch on stderr, as always on a terminal")  # fmt: skip
    parser.add_argument("--migrate", type=Path, metavar="NEW",
                        help="make a new checkpoint from that of a stopped job, then end")  # fmt: skip
    add_verbose(parser)
    parser.set_defaults(run=run)


def _add_order(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--order", choices=("strict", "arrival"), default="strict", help="default: strict")
    parser.add_argument("--lateness", type=_seconds, default=0.0, metavar="SECONDS",
                        help="how much older a record may be than others of its partition (default: 0)")  # fmt: skip
    parser.add_argument("--idle", type=_positive_seconds, metavar="SECONDS",
                        help="in strict order, do not wait for a partition that is silent this long; the result then "
                             "depends on when records arrive (default: wait for all)")  # fmt: skip
    parser.add_argument("--tick", type=_positive_seconds, metavar="SECONDS",
                        help="send a tick with this machine's time to Kafka's partitions this often, for live sessions "
                             "in strict order; --lateness must cover delays and clock differences")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the job, or migrate its checkpoint."""
    from silbo.streaming.spark.failure import as_job_failure

    with as_job_failure():
        return _run(options) if options.migrate is None else _migrate(options)


def _run(options: argparse.Namespace) -> int:
    """Run the job, and print its progress."""
    from silbo.streaming.local.log_job import ends_of_log
    from silbo.streaming.spark.jvm import is_alive
    from silbo.streaming.spark.progress import watching

    _check_tick(options)
    spark, start = _over_log(options) if options.kafka is None else _over_kafka(options)
    ends = ends_of_log(options.log) if options.kafka is None else None
    report = _reporter(options)
    with watching(spark, report, ends, _warning(options)) as watch, _interruption() as interrupted:
        query = start()
        print(_ready(options), file=sys.stderr, flush=True)
        try:
            _follow(query, options, interrupted)
        finally:
            if interrupted.is_set():  # errors of Spark about the batch that it breaks off are expected
                spark.sparkContext.setLogLevel("OFF")
            if is_alive():
                query.stop()
    print(watch.summary(), file=sys.stderr)
    if options.log is not None and sys.stderr.isatty():
        print(f"the notifications: silbo notifications {shlex.quote(str(options.log))}", file=sys.stderr)
    return 0


def _ready(options: argparse.Namespace) -> str:
    """The line to print when the job has started."""
    source = f"the log {options.log}" if options.kafka is None else f"{options.kafka}, topics {options.prefix}.*"
    ordered = f"{options.order} order" + (f", lateness {options.lateness:g} s" if options.lateness else "")
    return f"ready: {source}; {ordered}; checkpoint {options.checkpoint}; waiting for records"


def _follow(query: StreamingQuery, options: argparse.Namespace, interrupted: Event) -> None:
    """Wait until the job ends, fails or is interrupted. A thread waits for Spark: that wait cannot be interrupted."""
    from silbo.streaming.spark import jvm
    from silbo.streaming.spark.job import wait_until_matched

    once = options.once or options.drain
    done = _in_background(partial(wait_until_matched, query, _options(options)) if once else query.awaitTermination)
    with _ticking(options):
        while not done.done() and not interrupted.wait(LOOK):
            jvm.check()
    if done.done():
        done.result()


def _in_background(work: Callable[[], object]) -> Future[object]:
    """Run the work in a thread that does not keep the process alive."""
    done: Future[object] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as error:  # noqa: BLE001  # the caller of `result` gets it
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done


@contextmanager
def _interruption() -> Iterator[Event]:
    """An event that SIGINT (Ctrl-C) and SIGTERM set, in place of their usual effect."""
    interrupted = Event()
    before = {each: signal.signal(each, lambda *_: interrupted.set()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupted
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _warning(options: argparse.Namespace) -> Callable[[str], object] | None:
    """The function that prints once that publications wait, if no progress shows it and nothing will end the wait."""
    is_live = not (options.once or options.drain or options.tick is not None or options.idle is not None)
    return partial(print, file=sys.stderr, flush=True) if is_live and not _shows_progress(options) else None


def _shows_progress(options: argparse.Namespace) -> bool:
    return options.progress or sys.stderr.isatty()


def _reporter(options: argparse.Namespace) -> Callable[[str], object]:
    """The function that prints progress; it prints nothing unless stderr is a terminal or --progress is given."""
    return partial(print, file=sys.stderr, flush=True) if _shows_progress(options) else lambda _: None


def _seconds(text: str) -> float:
    """Parse an argument in seconds, from 0."""
    value = float(text)
    if not 0 <= value < MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"seconds from 0 are expected, not {text}")
    return value


def _positive_seconds(text: str) -> float:
    """Parse an argument in seconds, above 0."""
    value = _seconds(text)
    if value == 0:
        raise argparse.ArgumentTypeError("seconds above 0 are expected")
    return value


def _options(options: argparse.Namespace) -> Options:
    from silbo.streaming.spark.job import Options

    trigger = f"{options.trigger} seconds"
    return Options(
        options.checkpoint, options.order, options.lateness, options.shards, trigger, options.batch, options.idle
    )


def _over_log(options: argparse.Namespace) -> Job:
    from silbo.errors import InvalidValue
    from silbo.streaming.local import log_job, log_records
    from silbo.streaming.local.log import partitions_of
    from silbo.streaming.spark.job import check
    from silbo.streaming.spark.spark_session import session
    from silbo.streaming.topics import INPUTS

    missing = [topic for topic in INPUTS if not partitions_of(options.log, topic)]
    if missing:
        raise InvalidValue("--log", f"{options.log} has no topic {missing[0]}. docs/streaming.md describes logs.")
    check(_options(options), *log_job.source_of(options.log))
    if options.drain:
        log_records.drain(options.log)
    spark = session(options.master)
    return spark, lambda: log_job.start(spark, options.log, _options(options))


def _over_kafka(options: argparse.Namespace) -> Job:
    from silbo.streaming.kafka import kafka_job
    from silbo.streaming.kafka.client import KafkaWriter, create_topics
    from silbo.streaming.spark.job import check

    if options.create_topics:
        create_topics(options.kafka, options.partitions, options.prefix)
    if options.drain:
        writer = KafkaWriter(options.kafka, options.prefix)
        writer.drain()
        writer.close()
    # a missing topic and a checkpoint that does not fit are reported before Spark starts
    check(_options(options), *kafka_job.source_of(options.kafka, options.prefix))
    kafka_job.check_offsets(options.kafka, options.checkpoint)
    spark = kafka_job.spark_session(options.master)
    return spark, lambda: kafka_job.start(spark, options.kafka, _options(options), options.prefix)


def _migrate(options: argparse.Namespace) -> int:
    """Move the state of a stopped job to a new checkpoint."""
    from silbo.streaming.kafka import kafka_job
    from silbo.streaming.local import log_job
    from silbo.streaming.spark.checkpoint import command
    from silbo.streaming.spark.job import job_settings
    from silbo.streaming.spark.migration import migrate
    from silbo.streaming.spark.spark_session import session

    over_log = options.kafka is None
    source = log_job.source_of(options.log) if over_log else kafka_job.source_of(options.kafka, options.prefix)
    settings = job_settings(_options(options), *source)
    migrated = migrate(session(options.master), options.checkpoint, options.migrate, settings)
    print(f"{options.migrate}: {migrated.subscribers:,} subscribers in {options.shards} shards, "
          f"{migrated.waiting:,} records waiting. Continue with:\n"
          f"{command(settings, '--checkpoint', str(options.migrate))}")  # fmt: skip
    return 0


def _check_tick(options: argparse.Namespace) -> None:
    """Refuse ticks that would have no effect, or do harm."""
    from silbo.errors import InvalidValue

    if options.tick is None:
        return
    if options.kafka is None or options.order != "strict" or options.once or options.drain:
        raise InvalidValue("--tick", "ticks are for live traffic over Kafka in strict order. Leave it out here.")
    if not options.lateness:
        raise InvalidValue("--tick", "records on their way when a tick arrives would be late. Give --lateness too.")


def _ticking(options: argparse.Namespace) -> AbstractContextManager[object]:
    if options.tick is None:
        return nullcontext()
    from silbo.streaming.kafka.ticking import Ticking

    return Ticking(options.kafka, options.tick, options.prefix)
