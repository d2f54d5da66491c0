"""The settings of a checkpoint, in a file next to Spark's own. A job with other settings is refused.

`migration` moves a state to a checkpoint with other settings.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from silbo.errors import InvalidValue
from silbo.streaming.topics import INPUTS

FILE = "silbo.json"
STATE = 1  # the format of the state and of the sources' offsets

Made: TypeAlias = Mapping[str, Any]  # state, source, order, lateness, idle, shards, and each topic's partitions


def check(checkpoint: Path, wanted: Made) -> None:
    """Refuse a checkpoint with other settings; create one that does not exist."""
    made = made_with(checkpoint)
    if made is None:
        checkpoint.mkdir(parents=True, exist_ok=True)
        write(checkpoint, wanted)
        return
    name = next((name for name, value in wanted.items() if made.get(name) != value), None)
    if name is not None:
        raise refusal(checkpoint, made, wanted, name)


def made_with(checkpoint: Path) -> Made | None:
    """The settings of a checkpoint, or None if it does not exist."""
    path = checkpoint / FILE
    if not path.exists():
        return None
    made: Made = json.loads(path.read_text(encoding="utf-8"))
    if made.get("state") != STATE:
        raise InvalidValue(
            "state", f"{checkpoint} has a state of format {made.get('state')}, and this silbo reads format {STATE}. "
            "Use the silbo that made it, or match the log from its beginning with a new checkpoint.",
        )  # fmt: skip
    return made


def write(checkpoint: Path, wanted: Made) -> None:
    """Write the settings of a checkpoint."""
    path = checkpoint / FILE
    partial = path.with_suffix(".new")
    write_through(partial, json.dumps(wanted).encode())
    partial.rename(path)


def write_through(path: Path, content: bytes) -> None:
    """Write a file through to the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def refusal(checkpoint: Path, made: Made, wanted: Made, name: str) -> InvalidValue:
    """Why a job cannot use the checkpoint, and what can be done."""
    way = "match the log from its beginning with a new checkpoint."
    if is_migratable(made, wanted):
        way = f"stop its job and migrate it: {migrating(checkpoint, wanted)}"
    return InvalidValue(
        name, f"{checkpoint} was made with {made.get(name)!r}, not {wanted[name]!r}. Use the old value, or {way}"
    )


def is_migratable(made: Made, wanted: Made) -> bool:
    """Whether only the number of shards differs, and numbers of partitions that have grown."""
    same = wanted.keys() - {"shards", *INPUTS}
    return all(made.get(name) == wanted[name] for name in same) and all(
        made[topic] <= wanted[topic] for topic in INPUTS
    )


def migrating(checkpoint: Path, wanted: Made) -> str:
    """The command that migrates a checkpoint."""
    return command(wanted, "--checkpoint", str(checkpoint), "--migrate", f"{checkpoint}.migrated")


def command(wanted: Made, *more: str) -> str:
    """The command that runs a job with these settings."""
    source: str = wanted["source"]
    address, _, prefix = source.removeprefix("kafka://").rpartition("/")
    over = ["--kafka", address, "--prefix", prefix] if source.startswith("kafka://") else ["--log", source]
    ordered = ["--order", wanted["order"], "--lateness", str(wanted["lateness"]), "--shards", str(wanted["shards"])]
    waiting = [] if wanted["idle"] is None else ["--idle", str(wanted["idle"])]
    return shlex.join(["silbo", "stream", *over, *ordered, *waiting, *more])
