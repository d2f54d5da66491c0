"""The pictures of the extensions of the paper: stages, scopes, the trade-off as a surface, and traffic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from silbo.papers.report.drawing import CONTENT, GROUND, INK, OF_PAPER, PAPER, SIENA, SILBO, called, drawn, plain, row
from silbo.papers.siena import paper_figures as paper
from silbo.papers.siena.surface import RATIOS, times_cheaper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.figure import Figure


# the surface: bands of SIENA's time as a multiple of silbo's, and their colours, none of which is near white
BANDS = (0.1, 0.5, 0.8, 1.0, 1.25, 2.0, 10.0, 100.0, 1_000.0)
CELLS = 280  # cells of a column
BELOW, ABOVE = ["#9e2a3c", "#d1495b", "#f0a58f"], ["#a9d3dd", "#6db3c4", "#3a8ea1", "#16697a", "#0c3f4a"]


def stages(notification: dict[str, dict[str, float]], change: dict[str, dict[str, float]], path: Path) -> None:
    """Draw the times by stage."""
    colours = ("#c9b458", "#16697a", "#d1495b", "#7b5ea7", "#b9c0c8")

    def draw(figure: Figure) -> None:
        for axes, found, what in zip(
            row(figure, 2), (notification, change), ("notification", "context change, 10 filters"), strict=True
        ):
            left = np.zeros(len(found))
            for part, colour in zip(next(iter(found.values())), colours, strict=True):
                widths = np.array([of[part] for of in found.values()])
                axes.barh([called(name) for name in found], widths, left=left, color=colour, label=part)
                left += widths
            for i, width in enumerate(left.tolist()):
                axes.text(width, i, f" {width:.1f} µs", va="center")
            axes.set(xlabel="µs", xlim=(0, 1.2 * max(left)), title=f"a {what}")
            axes.invert_yaxis()
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize=9)

    drawn(path, "Where the time goes, by stage", draw, (13, 4.6))


def scopes(found: dict[str, Any], path: Path) -> None:
    """Draw publications and changes with scopes."""

    def draw(figure: Figure) -> None:
        left, right = row(figure, 2)
        for axes, what, unit in ((left, "publish_us", "publish"), (right, "set_context_us", "context change")):
            kinds = list(next(iter(found.values()))[what])
            for i, kind in enumerate(kinds):
                spreads = [of[what][kind] for of in found.values()]
                x = np.arange(len(spreads)) + (i - (len(kinds) - 1) / 2) * 0.8 / len(kinds)
                _bars(axes, x, spreads, 0.75 / len(kinds), (PAPER, SILBO, CONTENT)[i], kind)
            axes.set_xticks(range(len(found)), list(found))
            axes.set(ylabel=f"µs per {unit}")
            axes.set_title(f"a {unit}")
            axes.set_ylim(0, axes.get_ylim()[1] * 1.28)
            axes.legend(fontsize=9, loc="upper left")

    title = "Scopes (the paper's future work) in silbo; the paper has no numbers"
    drawn(path, f"{title}\nbars: median of the rounds; lines: least to greatest round", draw, (11.5, 5.4))


def _bars(axes: Axes, x: Any, spreads: Sequence[dict[str, float]], width: float, colour: str, label: str) -> None:
    """Draw medians as bars, and ranges as lines on them."""
    middle, low, high = (np.array([of[name] for of in spreads]) for name in ("median", "low", "high"))
    error = {"ecolor": INK, "capsize": 3, "elinewidth": 1}
    bars = axes.bar(x, middle, width, yerr=(middle - low, high - middle), error_kw=error, color=colour, label=label)
    axes.bar_label(bars, [f"{value:.2f}" if value < 10 else f"{value:.1f}" for value in middle], fontsize=9, padding=2)


def surface(found: list[dict[str, Any]], path: Path) -> None:
    """Draw SIENA's time as a multiple of silbo's by box and ratio, a panel for each crowding and number of filters."""
    crowds, eaches = (list(dict.fromkeys(point[name] for point in found)) for name in ("crowding", "each"))

    def draw(figure: Figure) -> None:
        panels = figure.subplots(len(crowds), len(eaches), squeeze=False, sharex=True, sharey=True)
        for panel, (crowd, each) in zip(panels.flat, product(crowds, eaches), strict=True):
            points = [point for point in found if (point["crowding"], point["each"]) == (crowd, each)]
            image = _panel(panel, points, f"{crowd},\n{each} subscription{'s' * (each > 1)} per subscriber")
        for bottom in panels[-1]:
            bottom.set_xlabel("side of the box, km")
        for left in panels[:, 0]:
            left.set_ylabel("notifications per change")
        bar = figure.colorbar(image, ax=panels, shrink=0.8, spacing="uniform", ticks=BANDS)
        bar.ax.set_yticklabels([f"{band:g}" for band in BANDS])
        bar.set_label("SIENA's time as a multiple of silbo's (blue: silbo takes less; red: SIENA does)")

    words = "black line: both take the same; letters: silbo's plan, G grid (context first), C content first"
    drawn(path, f"Which takes less time?\n{words}", draw, (4.1 * len(eaches) + 2, 3.6 * len(crowds) + 1.4))


def banded() -> tuple[ListedColormap, BoundaryNorm]:
    """The colours of the surface, and the bands of the ratio that have them; red and blue meet at 1."""
    from matplotlib.colors import BoundaryNorm, ListedColormap  # `drawing` says how to install matplotlib

    return ListedColormap(BELOW + ABOVE), BoundaryNorm(BANDS, len(BELOW + ABOVE), clip=True)


def _panel(axes: Axes, points: Sequence[dict[str, Any]], title: str) -> Any:
    axes.grid(visible=False)
    boxes, ratios = [point["box_km"] for point in points], np.geomspace(RATIOS[0], RATIOS[-1], CELLS + 1)
    middles = np.sqrt(ratios[:-1] * ratios[1:]).tolist()
    times = np.array([[times_cheaper(point, ratio) for point in points] for ratio in middles])
    colours, bands = banded()
    edges = np.arange(len(boxes) + 1) - 0.5
    image = axes.pcolormesh(
        edges, ratios, times, cmap=colours,
        norm=bands, shading="flat",
    )  # fmt: skip
    for i, point in enumerate(points):
        if point["crossing"] is not None:
            axes.plot([i - 0.5, i + 0.5], [point["crossing"]] * 2, color="black", linewidth=2)
        plan = "G" if point["plan"] == "context first" else "C"
        axes.text(i, ratios[0] * 1.6, plan, ha="center", weight="bold", color="white")
    axes.axhline(paper.TRADE_OFF, color=INK, linewidth=0.8, linestyle=":")
    axes.text(len(boxes) - 0.55, paper.TRADE_OFF, "paper: 1.23", ha="right", va="bottom", fontsize=8)
    axes.set(yscale="log", ylim=(ratios[0], ratios[-1]), xlim=(edges[0], edges[-1]))
    axes.set_xticks(range(len(boxes)), [f"{box:g}" for box in boxes])
    axes.set_title(title, fontsize=10)
    return image


def movement(found: dict[str, Any], path: Path) -> None:
    """Draw the city, and the time of both systems for its traffic."""

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.25))
        _city(left, found)
        _so_far(right, found)

    drawn(path, f"Real movement: a city's traffic by {found['simulator']}", draw, (13, 6))


def _city(axes: Axes, found: dict[str, Any]) -> None:
    for track in found["tracks"]:
        axes.plot(*zip(*track, strict=True), color=SILBO, linewidth=0.8, alpha=0.35)
    x, y = zip(*found["cameras"], strict=True)
    axes.scatter(x, y, marker="^", s=40, color=SIENA, edgecolor=GROUND, zorder=3)
    axes.set(aspect="equal", xlabel="metres east", ylabel="metres north")
    axes.set_title(f"{len(found['tracks'])} of {found['vehicles']:,} vehicles, and {len(x)} cameras (triangles)")


def _so_far(axes: Axes, found: dict[str, Any]) -> None:
    """Draw the cumulative time of both systems, and the paper's time for the changes alone."""
    changes = np.cumsum(found["on_the_road"], dtype=float)
    changes[changes == 0] = np.nan
    seconds = range(1, len(changes) + 1)
    for name, colour in (("siena", SIENA), ("silbo", SILBO)):
        parts = f"{found['changes_s'][name]:.3g} s changes + {found['publications_s'][name]:.3g} s matching"
        axes.plot(seconds, found["so_far_s"][name], color=colour, label=f"{called(name)}: {parts}")
    costs = (("SIENA", SIENA, paper.change_siena(paper.EACH)), ("SilboPS", SILBO, paper.CHANGE_SILBO))
    for name, colour, each in costs:
        axes.plot(seconds, changes * each / 1e6, color=colour, label=f"paper's cost of {name}'s changes", **OF_PAPER)
    axes.set(yscale="log", xlabel="second of the simulation", ylabel="processor seconds so far")
    axes.set_title(f"{found['changes']:,} context changes, {found['publications']:,} publications")
    axes.set_ylim(1e-4, 30 * axes.get_ylim()[1])
    plain(axes)
    axes.legend(fontsize=10, loc="upper left")
