"""Spark sessions as the job needs them: state in RocksDB, this Python for the workers, loopback for the driver."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.errors import MissingPart
from silbo.streaming.jars import at_hand
from silbo.streaming.java import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGGING = Path(__file__).with_name("log4j2.properties")
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
BARE = "hadoop-bare-naked-local-fs"
# without it every commit of a batch starts `chmod` for each file it writes, some 100 ms together
BARE_SETTINGS: Mapping[str, str] = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


def session(master: str = "local[2]", more: Mapping[str, str] | None = None, *, brief: bool = False) -> SparkSession:
    """A session of Spark's, or the one there is; with `spark-submit` its own settings count as well.

    A `brief` one is for runs of a minute or two: Java compiles quickly instead of well.
    """
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
    for name, value in {**SETTINGS, **_java(brief=brief), **_bare(master), **(more or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _java(*, brief: bool) -> dict[str, str]:
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if brief else []
    return {"spark.driver.extraJavaOptions": " ".join([f"-Dlog4j2.configurationFile=file:{LOGGING}", *quick])}


def _bare(master: str) -> dict[str, str]:
    """Local files written without starting programs, if the jar for it is at hand; executors elsewhere have none."""
    found: Sequence[Path] = [jar for jar in at_hand("spark") if jar.name.startswith(BARE)]
    if not found or not master.startswith("local"):
        return {}
    return {"spark.driver.extraClassPath": str(found[0]), **BARE_SETTINGS}
