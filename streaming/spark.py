"""Spark sessions as the job needs them: state in RocksDB, this Python for the workers, loopback for the driver."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from silbo.errors import MissingPart
from silbo.streaming.java import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS: Mapping[str, str] = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",  # a chunk of contexts stays below some megabytes
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
}


def session(master: str = "local[2]", more: Mapping[str, str] | None = None) -> SparkSession:
    """A session of Spark's, or the one there is; with `spark-submit` its own settings count as well."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPart("Spark", extra="spark") from None
    java()
    # the workers must be of this environment: state travels through protobuf, which others may lack
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName("silbo")
    if "spark.master" not in builder._options and "PYSPARK_GATEWAY_PORT" not in os.environ:
        builder = builder.master(master)
    for name, value in {**SETTINGS, **(more or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
