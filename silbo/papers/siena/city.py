"""Real movement: a seeded city and its traffic, simulated by eclipse-sumo, as a trace of positions by second.

The network and the demand depend only on the seed. The simulator is an extra; without it there is no trace, and
`MissingPart` says how to install it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import numpy as np

from silbo.errors import MissingPart
from silbo.papers.siena.systems import Place

PARTS = 350  # iterations of the network's random growth
ARRIVING = 0.5  # share of the time in which all vehicles depart


@dataclass(frozen=True, slots=True)
class Trace:
    """The position in metres of each vehicle on the road, by second; and the simulator that made the trace."""

    seconds: list[dict[str, Place]]
    simulator: str

    @property
    def vehicles(self) -> list[str]:
        """The names of the vehicles, in the order in which they depart."""
        return list(dict.fromkeys(vehicle for second in self.seconds for vehicle in second))


def drive(vehicles: int, seconds: int, seed: int) -> Trace:
    """Simulate the traffic of a city."""
    home, version = simulator()
    with TemporaryDirectory(prefix="silbo-city-") as folder:
        net, trips, out = (Path(folder) / name for name in ("net.xml", "trips.xml", "fcd.xml"))
        _run(home, "netgenerate", "--rand", f"--rand.iterations={PARTS}", "--rand.bidi-probability=1",
             f"--seed={seed}", f"--output-file={net}")  # fmt: skip
        trips.write_text(_demand(net, vehicles, seconds, seed), encoding="utf-8")
        _run(home, "sumo", f"--net-file={net}", f"--route-files={trips}", f"--seed={seed}", f"--end={seconds}",
             f"--fcd-output={out}", "--fcd-output.attributes=x,y", "--ignore-route-errors=true",
             "--no-step-log=true", "--no-warnings=true")  # fmt: skip
        return Trace(list(read(out)), f"eclipse-sumo {version}")


def simulator() -> tuple[Path, str]:
    """The simulator's folder, and its version."""
    try:
        import sumo
    except ImportError:
        raise MissingPart("eclipse-sumo", extra="sumo") from None
    from importlib.metadata import version

    return Path(sumo.SUMO_HOME), version("eclipse-sumo")


def _run(home: Path, program: str, *arguments: str) -> None:
    command = [str(home / "bin" / program), *arguments]
    environment = {**os.environ, "SUMO_HOME": str(home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # ours
    if done.returncode:
        raise MissingPart(program, command="pip install --force-reinstall eclipse-sumo", why=done.stderr.strip())


def _demand(net: Path, vehicles: int, seconds: int, seed: int) -> str:
    """Trips between random streets, ordered by the time of departure."""
    streets = [edge.attrib["id"] for edge in ET.parse(net).iter("edge") if "function" not in edge.attrib]  # noqa: S314
    chance = np.random.default_rng([seed, 14])
    departures = np.sort(chance.uniform(0, ARRIVING * seconds, vehicles)).round(2).tolist()
    ends = chance.integers(0, len(streets), (vehicles, 2)).tolist()
    trips = [
        f'<trip id="car-{i}" depart="{depart}" from="{streets[a]}" to="{streets[b]}"/>'
        for i, (depart, (a, b)) in enumerate(zip(departures, ends, strict=True))
    ]
    return "\n".join(["<routes>", *trips, "</routes>"])


def read(path: Path) -> Iterator[dict[str, Place]]:
    """Read the positions of vehicles, second by second, from the simulator's output."""
    for _, element in ET.iterparse(path):  # noqa: S314  # the simulator wrote it
        if element.tag == "timestep":
            yield {
                each.attrib["id"]: {"x": float(each.attrib["x"]), "y": float(each.attrib["y"])}
                for each in element.iter("vehicle")
            }
            element.clear()
