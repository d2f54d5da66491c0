"""`silbo bench stream`: the Spark job, over a log or Kafka."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from silbo.cli.bench.arguments import add_json, add_seed, declared
from silbo.cli.bench.figures import show
from silbo.cli.commands import add_verbose, positive, say

if TYPE_CHECKING:
    from silbo.cli.commands import Commands

EPILOG = """examples:
  silbo bench stream --subscriptions 100000
  silbo bench stream --subscriptions 100000 --source kafka --json
  silbo bench stream --subscriptions 1000000 --source kafka --kafka localhost:9092

Runs the Spark job in this process (local[2]) in arrival order. publications_per_s and contexts_per_s are measured on
topics that were filled before; untouched is the cost of a batch that matches no subscription, without folds of the
state; naive compares every publication with every subscription in Spark SQL, in batches of the same size. Without
--kafka, a Kafka is started.
"""


def add_to(benches: Commands) -> None:
    """Declare the command."""
    parser = declared(benches, "stream", "measure the Spark job, over a log or Kafka", EPILOG)
    parser.add_argument("--subscriptions", type=positive, default=100_000, metavar="N", help="default: 100,000")
    parser.add_argument("--source", choices=("log", "kafka"), default="log", help="default: log")
    parser.add_argument(
        "--kafka", metavar="HOST:PORT", help="a Kafka that is already running (default: one is started)"
    )
    add_seed(parser)
    add_json(parser)
    add_verbose(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure the Spark job; returns 1 if an answer was wrong."""
    from silbo.bench.stream import run as measure
    from silbo.streaming.spark.failure import as_job_failure

    with as_job_failure():
        found = measure(options.subscriptions, options.source, options.kafka, options.seed, say=say)
    show(found, as_json=options.json)
    return 0 if found["agrees"] else 1
