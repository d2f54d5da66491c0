"""Spark sessions as the job needs them: state in RocksDB, this Python for the workers, loopback where all is local."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from silbo.errors import MissingPart

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
    "spark.log.level": "ERROR",
}
LOOPBACK: Mapping[str, str] = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
LOCAL = "local[2,4]"  # two threads; a task whose Python worker dies is tried four times, as on a cluster


def session(master: str = LOCAL, more: Mapping[str, str] | None = None) -> SparkSession:
    """A session of Spark's, or the one there is; with `spark-submit` its own settings count as well."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPart("Spark", extra="spark") from None
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise MissingPart("Java 17 or newer", command="apt-get install openjdk-17-jre-headless")
    # the workers must be of this environment: state travels through protobuf, which others may lack
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("silbo")
    if not is_submitted():
        builder = builder.master(master)
    for name, value in {**SETTINGS, **_address(master), **(more or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def is_submitted() -> bool:
    """Whether spark-submit runs this program: then master, address and jars are what it was told."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _address(master: str) -> Mapping[str, str]:
    """Nobody else needs to reach the driver of a local master; executors elsewhere do."""
    if is_submitted() or not master.startswith("local"):
        return {}
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return LOOPBACK
