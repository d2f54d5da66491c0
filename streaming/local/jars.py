"""The jars for Kafka and Spark: Maven fetches them once into a folder of the user, by the coordinates in jars.xml.

`python -m silbo.streaming.jars` prints the paths of Spark's Kafka connector, for the option `--jars` of spark-submit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from silbo.errors import MissingPart

Profile: TypeAlias = Literal["kafka", "spark"]

POM = Path(__file__).with_name("jars.xml")


def cache() -> Path:
    """The folder of the jars: SILBO_JARS, or one in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("SILBO_JARS") or Path(base) / "silbo" / "jars")


def jars(profile: Profile) -> list[Path]:
    """The jars of a profile; they are fetched if they are missing or the coordinates have changed."""
    folder = _folder(profile)
    if not folder.exists():
        _fetch(profile, folder)
    return at_hand(profile)


def at_hand(profile: Profile) -> list[Path]:
    """The jars of a profile that were fetched before."""
    return sorted(_folder(profile).glob("*.jar"))


def _folder(profile: Profile) -> Path:
    return cache() / f"{profile}-{sha256(POM.read_bytes()).hexdigest()[:12]}"


def _fetch(profile: str, folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingPart("Maven", command="apt-get install maven")
    # into a temporary folder first, so that a partial download is never taken for a complete one
    partial = folder.with_name(f"{folder.name}.{os.getpid()}")
    done = subprocess.run(  # noqa: S603  # found on the path
        [maven, "-q", "-B", "-f", str(POM), "-P", profile, "dependency:copy-dependencies",
         "-DincludeScope=runtime", f"-DoutputDirectory={partial}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        shutil.rmtree(partial, ignore_errors=True)
        raise MissingPart(f"the jars of {profile}", command=f"mvn -f {POM} -P {profile} dependency:copy-dependencies",
                          why=done.stdout[-500:])  # fmt: skip
    try:
        partial.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(partial, ignore_errors=True)


def main() -> int:
    """Print the paths of Spark's connector, joined by commas."""
    print(",".join(map(str, jars("spark"))))
    return 0
