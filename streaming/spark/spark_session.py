"""Spark sessions for the job: state in RocksDB, this Python for the workers, loopback if everything is local."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.errors import MissingPart
from silbo.streaming.local.jars import at_hand
from silbo.streaming.local.java import java
from silbo.streaming.spark.jvm import launch

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
    "spark.log.level": "ERROR",
}
LOOPBACK: Mapping[str, str] = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
LOCAL = "local[2,4]"  # two threads; a task whose Python worker dies is tried four times, as on a cluster
BARE = "hadoop-bare-naked-local-fs"
# without it every commit of a batch starts `chmod` for each file that it writes, about 100 ms in all
BARE_SETTINGS: Mapping[str, str] = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


def session(master: str = LOCAL, more: Mapping[str, str] | None = None, *, brief: bool = False) -> SparkSession:
    """Return the current Spark session, or a new one; with `spark-submit` its own settings apply as well.

    A `brief` session is for runs of a minute or two: Java compiles faster, to slower code.
    """
    try:
        from pyspark import SparkConf
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPart("Spark", extra="spark") from None
    java()
    # the workers must use this environment: state travels through protobuf, which others may lack
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf(loadDefaults=False).setAppName("silbo")
    if not is_submitted():
        conf.setMaster(master)
    conf.setAll([*{**SETTINGS, **_own(master, brief=brief), **(more or {})}.items()])
    if not is_submitted():
        launch(conf)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def is_submitted() -> bool:
    """Whether spark-submit runs this program: master, address, jars and Java's options are then set by its user."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _own(master: str, *, brief: bool) -> dict[str, str]:
    """The settings of a driver that silbo starts."""
    if is_submitted():
        return {}
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if brief else []
    java = {"spark.driver.extraJavaOptions": " ".join([f"-Dlog4j2.configurationFile=file:{LOGGING}", *quick])}
    return {**java, **_local()} if master.startswith("local") else java


def _local() -> dict[str, str]:
    """The settings of a local driver: no other machine has to reach it, and no remote executor lacks the jar."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    bare = [jar for jar in at_hand("spark") if jar.name.startswith(BARE)]
    return {**LOOPBACK, **({"spark.driver.extraClassPath": str(bare[0]), **BARE_SETTINGS} if bare else {})}
