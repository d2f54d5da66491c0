"""Draw the road scenario: where cars drove, where cameras stand, and where a car was when an alert reached it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from traffic import KINDS, REACH, SQUARE, Car, Place, Road

from silbo.errors import MissingPart
from silbo.model.notification import Notified

try:
    from matplotlib import rc_context
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
except ImportError:
    raise MissingPart("matplotlib", extra="report") from None
if TYPE_CHECKING:
    from matplotlib.axes import Axes

Alert: TypeAlias = tuple[int, Notified]  # the minute, and what was notified

TRACKS = 250  # cars whose tracks are drawn: more of them cover the same roads
RAYS = 1_500  # alerts with a line to their camera
COLOURS: Mapping[str, str] = dict(zip(KINDS, ("#d1495b", "#e9a820", "#7b5ea7", "#2a9fd6"), strict=True))
ROAD, INK, PAPER = "#b9c0c8", "#22303c", "#fbfaf7"
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")


def draw(road: Road, alerts: list[Alert], path: Path) -> None:
    """Write the picture of a drive to a PNG file."""
    with rc_context({"font.size": 11, **dict.fromkeys(INKED, INK)}):
        figure = Figure(figsize=(9, 10), dpi=140, facecolor=PAPER, layout="constrained")  # inches
        figure.get_layout_engine().set(h_pad=0.08)
        axes = figure.add_subplot(facecolor=PAPER)
        _tracks(axes, road)
        _alerts(axes, road, alerts)
        _cameras(axes, road)
        if alerts:
            _one_car(axes, road, alerts)
        axes.set(xlim=(0, SQUARE), ylim=(0, SQUARE), aspect="equal", xlabel="km east", ylabel="km north")
        axes.set_title("A dot is where an alert reached a car; a line, drawn for some, leads to a camera.", size=11)
        what = f"{len(road.cars):,} cars, {len(road.cameras)} cameras, {road.minute} minutes: {len(alerts):,} alerts"
        figure.suptitle(what, fontsize=17)
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="png")


def _tracks(axes: Axes, road: Road) -> None:
    for car in road.cars[:TRACKS]:
        axes.plot(*zip(*car.track, strict=True), color=ROAD, linewidth=0.6, alpha=0.5, zorder=1)
    axes.plot([], [], color=ROAD, label=f"tracks of {min(TRACKS, len(road.cars))} cars")


def _alerts(axes: Axes, road: Road, alerts: list[Alert]) -> None:
    """A dot where the car was, and of some a ray from the camera."""
    cars, cameras = _cars(road), _places(road)
    ends = [(cameras[alert.publisher], cars[alert.subscriber].track[minute]) for minute, alert in alerts]
    kinds = [str(alert.attributes["msg"]) for _, alert in alerts]
    colours = [COLOURS[kind] for kind in kinds]
    every = max(1, len(alerts) // RAYS)
    axes.add_collection(LineCollection(ends[::every], colors=colours[::every], linewidths=0.5, alpha=0.3, zorder=2))
    x, y = [place[0] for _, place in ends], [place[1] for _, place in ends]
    axes.scatter(x, y, s=4, c=colours, alpha=0.6, linewidths=0, zorder=2)
    for kind, colour in COLOURS.items():
        axes.scatter([], [], s=36, color=colour, label=f"alert: {kind} ({kinds.count(kind):,})")


def _cameras(axes: Axes, road: Road) -> None:
    x, y = [camera.place[0] for camera in road.cameras], [camera.place[1] for camera in road.cameras]
    sizes = [30 + 4 * camera.published for camera in road.cameras]
    label = "camera, larger if it published more"
    axes.scatter(x, y, s=sizes, marker="^", color=INK, edgecolor=PAPER, linewidth=1, zorder=4, label=label)


def _one_car(axes: Axes, road: Road, alerts: list[Alert]) -> None:
    """The car that the most cameras reached: its track, its alerts, and its box at one of them."""
    cameras, car = _places(road), _cars(road)[_most_reached(alerts)]
    name = car.session.name
    own = [(minute, alert) for minute, alert in alerts if alert.subscriber == name]
    axes.plot(*zip(*car.track, strict=True), color=INK, linewidth=1.6, zorder=3, label=f"track of {name}")
    for minute, alert in own:
        ray = zip(cameras[alert.publisher], car.track[minute], strict=True)
        axes.plot(*ray, color=COLOURS[str(alert.attributes["msg"])], linewidth=2, zorder=3)
    _box(axes, car, own[len(own) // 2][0])


def _most_reached(alerts: list[Alert]) -> str:
    cameras: dict[str, set[str]] = {}
    for _, alert in alerts:
        cameras.setdefault(alert.subscriber, set()).add(alert.publisher)
    return max(cameras, key=lambda name: len(cameras[name]))


def _box(axes: Axes, car: Car, minute: int) -> None:
    """What a car's context function reads: the square around it, at a minute."""
    (x, y), side = car.track[minute], 2 * REACH
    axes.add_patch(Rectangle((x - REACH, y - REACH), side, side, color=INK, alpha=0.07, linewidth=0, zorder=2))
    label = f"its box of {side:.0f} km at minute {minute}"
    axes.add_patch(Rectangle((x - REACH, y - REACH), side, side, fill=False, color=INK, zorder=5, label=label))
    axes.scatter(x, y, s=70, color=PAPER, edgecolor=INK, linewidth=2, zorder=5, label="and the car in it")


def _cars(road: Road) -> dict[str, Car]:
    return {car.session.name: car for car in road.cars}


def _places(road: Road) -> dict[str, Place]:
    return {camera.session.name: camera.place for camera in road.cameras}
