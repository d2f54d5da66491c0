"""The pictures of the paper's figures and of its trade-off, with both systems and the paper's published numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from silbo.papers.report.drawing import CONTENT, INK, OF_PAPER, PAPER, SIENA, SILBO, called, drawn, plain, row
from silbo.papers.siena import paper_figures as paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATIOS = np.logspace(-3, 4, 200)  # notifications per context change


# the paper's figures


def figure_7(found: dict[str, Any], path: Path) -> None:
    """Draw fifty changes of each new subscriber."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        x = found["connections"]
        for name, colour in (("siena", SIENA), ("silbo", SILBO)):
            for filters, marker, alpha in (("10", "s", 0.55), ("1", "o", 1.0)):
                taken = found["ms_per_connection"][name][filters]
                label = f"{called(name)}, {filters} filter{'s' * (filters != '1')} each"
                axes.plot(*_binned(x, taken), marker=marker, color=colour, alpha=alpha, label=label)
        _level(axes, paper.SIENA_7, SIENA, f"paper, SIENA: {paper.SIENA_7:g} ms")
        _level(axes, paper.SILBO_7, SILBO, f"paper, SilboPS: {paper.SILBO_7:g} ms (50 × {paper.CHANGE_SILBO} µs)")
        axes.set(yscale="log", xlabel="connections of the broker", ylabel="ms per connection, for 50 context changes")
        plain(axes)
        figure.legend(loc="outside lower center", ncols=3)

    before = found["connections_before"]
    drawn(path, f"Figure 7: 50 context changes of each new subscriber, {before:,} connections before", draw)


def figure_8(found: list[dict[str, Any]], path: Path) -> None:
    """Draw runs of changes while the load grows."""

    def draw(figure: Figure) -> None:
        sizes = sorted({each["most"] for each in found})
        panels = figure.subplots(1, len(sizes), squeeze=False, sharey=True)[0]
        for axes, most in zip(panels, sizes, strict=True):
            points = [each for each in found if each["most"] == most]
            for name, colour in (("siena", SIENA), ("silbo", SILBO)):
                _runs(axes, points, name, colour)
            x = np.array(sorted({each["changes"] for each in points}))
            for name, colour, each in (("SIENA: 20 messages of 105 µs", SIENA, paper.change_siena(paper.EACH)),
                                       ("SilboPS: 0.2 µs per change", SILBO, paper.CHANGE_SILBO)):  # fmt: skip
                axes.plot(x, x * each / 1_000, color=colour, label=f"paper, {name}", **OF_PAPER)
            axes.set(xscale="log", yscale="log", xlabel="context changes", ylabel="ms in total")
            axes.set_title(f"{points[-1]['connections']:,} connections at most, {most:,} subscriptions")
            axes.set_xticks(x, [f"{each:,}" for each in x.tolist()])
            plain(axes)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=10)

    drawn(
        path, "Figure 8: total time of context changes, while connections grow (10 subscriptions each)", draw, (12.5, 6)
    )


def _runs(axes: Axes, points: Sequence[dict[str, Any]], name: str, colour: str) -> None:
    """Draw a thin line for each part of the connections, with one legend entry for all of them."""
    parts = sorted({each["part"] for each in points})
    for part in parts:
        of = [each for each in points if each["part"] == part]
        x, y = [each["changes"] for each in of], [1_000 * each["seconds"][name] for each in of]
        axes.plot(x, y, marker="o", markersize=4, color=colour, alpha=0.7, linewidth=1.1)
    axes.lines[-1].set_label(f"{called(name)}, one line each at {_listed(parts)} of the connections")


def _listed(parts: Sequence[float]) -> str:
    *first, last = (f"{100 * part:.0f}" for part in parts)
    return f"{', '.join(first)} and {last} %"


def figure_9(found: dict[str, Any], path: Path) -> None:
    """Draw one change by the number of filters."""

    def draw(figure: Figure) -> None:
        left, right = row(figure, 2)
        steps = np.array([int(step) for step in found["median_us"]["silbo"]])
        for axes, scale in ((left, "linear"), (right, "log")):
            axes.plot(
                steps, paper.change_siena(1) * steps, color=SIENA, label="paper, SIENA: 2 × 105 µs/filter", **OF_PAPER
            )
            slope = found["siena_us_per_filter"]
            _spread(axes, steps, found["samples_us"]["siena"], SIENA, f"SIENA: {slope:.1f} µs/filter")
            ours = found["median_us"]["silbo"]["10"]
            _spread(axes, steps, found["samples_us"]["silbo"], SILBO, f"silbo: {ours:.2f} µs at 10 filters")
            axes.plot(
                steps,
                np.full(len(steps), paper.CHANGE_SILBO),
                color=SILBO,
                label="paper, SilboPS: 0.2 µs at most",
                **OF_PAPER,
            )
            axes.set(yscale=scale, xlabel="filters (subscriptions) of the subscriber", ylabel="µs per context change")
            axes.set_title("linear scale" if scale == "linear" else "the same, logarithmic")
            plain(axes)
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)

    drawn(path, "Figure 9: one context change, by the subscriptions of its subscriber", draw, (12, 5.6))


def figure_11(found: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw the throughput of notifications."""

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
        for axes, (size, of) in zip(panels, found.items(), strict=True):
            for name, colour, marker in (("silbo", SILBO, "o"), ("content", CONTENT, "^"), ("siena", SIENA, "s")):
                label = f"{called(name)}: {of['microseconds'][name]:.1f} µs"
                axes.plot(of["at"], of["throughput"][name], marker=marker, color=colour, label=label)
            axes.set(yscale="log", xlabel="notifications sent", ylabel="notifications per second")
            axes.set_title(f"{int(size):,} subscriptions")
            if axes is panels[-1]:
                _points(axes)
            else:
                axes.text(0.5, 0.04, "paper: a drawing without numbers", ha="center", transform=axes.transAxes)
            plain(axes)
            axes.legend(loc="center right", fontsize=10)

    drawn(path, "Figure 11: notification throughput of a loaded broker", draw, (12.5, 5.6))


def _points(axes: Axes) -> None:
    at = ("3000", "4000")
    for i, (name, colour) in enumerate((("SIENA", SIENA), ("SilboPS", SILBO))):
        speeds = [paper.PER_SECOND[each][i] for each in at]
        label = f"paper, {name}: {paper.MICROSECONDS['average'][i]:,} µs"
        axes.plot(
            [int(each) for each in at], speeds, color=colour, marker="so"[i], fillstyle="none", label=label, **OF_PAPER
        )


# the trade-off


def trade_off(found: dict[str, Any], path: Path) -> None:
    """Draw SIENA's time as a multiple of silbo's, by the number of notifications per change."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _multiples(axes, found)
        _crossings(axes, found["crossings"])
        axes.axhline(1, color=INK, linewidth=1)
        axes.text(RATIOS[0] * 1.3, 1.06, "above: silbo takes less", va="bottom")
        axes.text(RATIOS[0] * 1.3, 0.94, "below: SIENA takes less", va="top")
        axes.set(xscale="log", xlabel="notifications per context change")
        axes.set(yscale="log", ylabel="SIENA's time as a multiple of silbo's", ylim=(0.5, None))
        plain(axes)
        figure.legend(loc="outside lower center", ncols=2)

    said = "where SIENA takes less" if found["crossings"] else "no crossing in this run"
    drawn(path, f"The trade-off of equation 2: {said}", draw, (10, 6.6))


def _multiples(axes: Axes, found: dict[str, Any]) -> None:
    """Draw a line for each of ours and for the paper, for both ways to count SIENA's change."""
    change, notification = found["context_change_us"], found["notification_us"]
    here, there = (change["siena"], found["siena_us_per_message"]), (paper.change_siena(10), paper.MESSAGE_SIENA)
    lines = (
        ("silbo", SILBO, change["silbo"], notification["silbo"], here, notification["siena"]),
        ("silbo, content first", CONTENT, change["silbo"], notification["content"], here, notification["siena"]),
        ("paper", PAPER, paper.CHANGE_SILBO, paper.NOTIFICATION_SILBO, there, paper.NOTIFICATION_SIENA),
    )
    for name, colour, ours, our_notification, theirs, their_notification in lines:
        for each, style, words in zip(theirs, ("-", ":"), ("10 filters", "one message"), strict=True):
            more = (each + RATIOS * their_notification) / (ours + RATIOS * our_notification)
            axes.plot(RATIOS, more, color=colour, linestyle=style, label=f"{name}, SIENA's change: {words}")


def _crossings(axes: Axes, found: Sequence[tuple[float, Sequence[float | None]]]) -> None:
    """Draw the paper's points, and ours with their intervals if there are any."""
    for point in (paper.TRADE_OFF, paper.REAL_TRADE_OFF):
        axes.plot(point, 1, "o", color=PAPER, markeredgecolor=INK)
        axes.annotate(f"paper: {point:.3g}", (point, 1), (0, -16), textcoords="offset points", ha="center", color=INK)
    for point, (low, high) in found:
        axes.axvspan(low or RATIOS[0], high or RATIOS[-1], color=SILBO, alpha=0.12, linewidth=0)
        axes.plot(point, 1, "D", color=SILBO, markeredgecolor=INK, label=f"crossing here: {point:,.3g}")


# parts


def _level(axes: Axes, value: float, colour: str, label: str) -> None:
    axes.axhline(value, color=colour, label=label, **OF_PAPER)


def _binned(x: Sequence[float], y: Sequence[float], bins: int = 10) -> tuple[list[float], list[float]]:
    """Medians of up to ten groups."""
    groups = [part for part in np.array_split(np.arange(len(x)), min(bins, len(x))) if part.size]
    return [float(np.mean(np.take(x, part))) for part in groups], [
        float(np.median(np.take(y, part))) for part in groups
    ]


def _spread(axes: Axes, steps: np.ndarray[Any, Any], samples: dict[str, list[float]], colour: str, label: str) -> None:
    """Draw the medians as a line, and the middle half of the samples as an area."""
    low, middle, high = np.percentile(list(samples.values()), (25, 50, 75), axis=1)
    axes.plot(steps, middle, marker="o", color=colour, label=label)
    axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
