"""The pictures: cycles by the number of subscriptions, and the transactions on the buses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from silbo.papers.report.drawing import CONTENT, INK, OF_PAPER, PAPER, SIENA, SILBO, drawn, plain, row
from silbo.papers.x2cbbr import paper_cycles as paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# the first has larger markers, so that both are visible where they coincide
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("bitmap", {"color": SILBO, "marker": "o", "markersize": 11}),
    ("list", {"color": SIENA, "marker": "s", "markersize": 5}),
)


def table_1(results: dict[str, Any], path: Path) -> None:
    """Draw registration and matching of one to six times Set1."""

    def draw(figure: Figure) -> None:
        left, right = row(figure, 2)
        for axes, what, times in ((left, "register", paper.REGISTER_US), (right, "match", paper.MATCH_US)):
            published = [paper.cycles(each) for each in times]
            axes.plot(paper.LOADS, published, color=PAPER, label="paper", **OF_PAPER)
            for mode, style in WAYS:
                _line(axes, results[mode]["table_1"], what, label=f"{mode} rows", **style)
            axes.set(xlabel="subscriptions", ylabel="cycles", xticks=paper.LOADS, ylim=(0, None))
            plain(axes)
        left.set_title("mapping and registration, all of them")
        right.set_title("matching one publication of 1,008 bytes")
        figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)

    drawn(path, "Table 1 in cycles: one to six times Set1", draw)


def commonality(results: dict[str, Any], path: Path) -> None:
    """Draw Set1, and the same filter in all subscriptions."""

    def draw(figure: Figure) -> None:
        panels = row(figure, 2)
        for axes, what in zip(panels, ("register", "match"), strict=True):
            for mode, style in WAYS:
                for kind, line, said in (("table_1", "-", "42 filters"), ("one_filter", ":", "one filter for all")):
                    label = f"{mode} rows, {said}"
                    _line(axes, results[mode][kind], what, linestyle=line, label=label, **style)
            axes.set(xlabel="subscriptions", ylabel="cycles", xticks=paper.LOADS, ylim=(0, None))
            plain(axes)
        panels[0].set_title("mapping and registration, all of them")
        panels[1].set_title("matching one publication")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)

    drawn(path, "The cost of commonality: a list row has 31 places, a bitmap row one for every subscription", draw)


def case_2(results: dict[str, Any], path: Path) -> None:
    """Draw the transactions on the buses."""

    def draw(figure: Figure) -> None:
        for axes, case in zip(row(figure, 2), ("worst", "regular"), strict=True):
            of = results["bitmap"]["case_2"][case]
            parts = [("writes", SILBO), ("reads", CONTENT), ("beats", SIENA)]
            bars = axes.barh([name for name, _ in parts], [of[name] for name, _ in parts], color=[c for _, c in parts])
            axes.bar_label(bars, fmt="{:,.0f}", padding=3, color=INK)
            axes.set(xlabel="transactions", xlim=(0, 1.2 * max(of[name] for name, _ in parts)))
        figure.axes[0].set_title("worst: 252 subscriptions, a publication, its result")
        figure.axes[1].set_title("regular: a publication, its result")

    drawn(path, "Case II: the driver's transactions on the buses (bitmap rows)", draw, size=(9.5, 3.6))


def _line(axes: Axes, loads: list[dict[str, int]], what: str, **style: Any) -> None:
    axes.plot([each["subscriptions"] for each in loads], [each[what] for each in loads], **style)
