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

JobSettings: TypeAlias = Mapping[str, Any]  # state, source, order, lateness, idle, shards, and each topic's partitions


def check(checkpoint: Path, settings: JobSettings) -> None:
    """Refuse a checkpoint with other settings; create one that does not exist."""
    existing = settings_at(checkpoint)
    if existing is None:
        checkpoint.mkdir(parents=True, exist_ok=True)
        write_settings(checkpoint, settings)
        return
    if _differences(existing, settings):
        raise refusal(checkpoint, existing, settings)


def _differences(existing: JobSettings, settings: JobSettings) -> list[str]:
    """The names of the settings that a checkpoint has with other values."""
    return [name for name, value in settings.items() if existing.get(name) != value]


def settings_at(checkpoint: Path) -> JobSettings | None:
    """The settings of a checkpoint, or None if it does not exist."""
    path = checkpoint / FILE
    if not path.exists():
        return None
    try:
        existing: JobSettings = dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise InvalidValue(
            "checkpoint", f"{path} is damaged. Match from the beginning with a new checkpoint, or restore the file."
        ) from None
    if existing.get("state") != STATE:
        raise InvalidValue(
            "state", f"{checkpoint} has a state of format {existing.get('state')}, "
            f"and this silbo reads format {STATE}. "
            "Use the silbo that made it, or match the log from its beginning with a new checkpoint.",
        )  # fmt: skip
    return existing


def write_settings(checkpoint: Path, settings: JobSettings) -> None:
    """Write the settings of a checkpoint."""
    path = checkpoint / FILE
    partial = path.with_suffix(".new")
    write_through(partial, json.dumps(settings).encode())
    partial.rename(path)


def write_through(path: Path, content: bytes) -> None:
    """Write a file through to the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def refusal(checkpoint: Path, existing: JobSettings, settings: JobSettings) -> InvalidValue:
    """Why a job with different settings cannot use the checkpoint, and what can be done."""
    name = _differences(existing, settings)[0]
    remedy = "match the log from its beginning with a new checkpoint."
    if is_migratable(existing, settings):
        remedy = f"stop its job and migrate it: {migration_command(checkpoint, settings)}"
    values = f"{existing.get(name)!r}, not {settings[name]!r}"
    return InvalidValue(name, f"{checkpoint} was made with {values}. Use the old value, or {remedy}")


def is_migratable(existing: JobSettings, settings: JobSettings) -> bool:
    """Whether only the number of shards differs, and numbers of partitions that have grown."""
    same = settings.keys() - {"shards", *INPUTS}
    return all(existing.get(name) == settings[name] for name in same) and all(
        existing[topic] <= settings[topic] for topic in INPUTS
    )


def migration_command(checkpoint: Path, settings: JobSettings) -> str:
    """The command that migrates a checkpoint."""
    return command(settings, "--checkpoint", str(checkpoint), "--migrate", f"{checkpoint}.migrated")


def command(settings: JobSettings, *more: str) -> str:
    """The command that runs a job with these settings."""
    source: str = settings["source"]
    address, _, prefix = source.removeprefix("kafka://").rpartition("/")
    over = ["--kafka", address, "--prefix", prefix] if source.startswith("kafka://") else ["--log", source]
    ordered = ["--order", settings["order"], "--lateness", str(settings["lateness"])]
    shards = ["--shards", str(settings["shards"])]
    idle = [] if settings["idle"] is None else ["--idle", str(settings["idle"])]
    return shlex.join(["silbo", "stream", *over, *ordered, *shards, *idle, *more])
