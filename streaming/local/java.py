"""Find the Java program that Spark and Kafka run with, and check that it is new enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache

from silbo.errors import MissingPart

LEAST = 17


def java() -> str:
    """The path of the program: from JAVA_HOME if that is set, else the first on the PATH, as in Spark."""
    home = os.environ.get("JAVA_HOME")
    path = f"{home}/bin/java" if home else shutil.which("java")
    version = _version(path) if path else 0
    if path is None or version < LEAST:
        why = f"{path} is Java {version}." if version else ""
        raise MissingPart(f"Java {LEAST} or newer", command=f"apt-get install openjdk-{LEAST}-jre-headless", why=why)
    return path


@cache
def _version(path: str) -> int:
    """The major version; 0 if the program does not run. Before 9 it was the second number: 1.8 is Java 8."""
    try:
        done = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)  # noqa: S603  # the user's
    except OSError:
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if found else 0
