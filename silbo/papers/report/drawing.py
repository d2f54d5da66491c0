"""The style of the pictures: colours, the paper's lines, numbers on axes. Pictures are written as PNG files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from silbo.errors import MissingPart

try:
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter
except ImportError:
    raise MissingPart("matplotlib", extra="report") from None
if TYPE_CHECKING:
    from matplotlib.axes import Axes

SILBO, SIENA, CONTENT, PAPER = "#16697a", "#d1495b", "#5aa9b8", "#8a8f98"
INK, GROUND = "#22303c", "#fbfaf7"
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
STYLE: dict[str, Any] = {
    "font.size": 11, "axes.grid": True, "grid.color": "#e3e1db", "axes.axisbelow": True, "axes.facecolor": GROUND,
    "axes.titlesize": 12, "legend.frameon": False, **dict.fromkeys(INKED, INK),
}  # fmt: skip
OF_PAPER: dict[str, Any] = {"linestyle": (0, (5, 3)), "linewidth": 1.6}


def drawn(path: Path, title: str, draw: Callable[[Figure], None], size: tuple[float, float] = (9.5, 5.4)) -> None:
    """Write a picture to a PNG file."""
    with rc_context(STYLE):  # type: ignore[arg-type]  # the keys are names of matplotlib's parameters
        figure = Figure(figsize=size, dpi=130, facecolor=GROUND, layout="constrained")  # inches
        figure.suptitle(title, fontsize=14)
        draw(figure)
        figure.savefig(path, format="png")


def called(name: str) -> str:
    """A system's name for readers."""
    return {"silbo": "silbo", "siena": "SIENA", "content": "silbo, content first"}[name]


def row(figure: Figure, count: int) -> Sequence[Axes]:
    """Panels in one row."""
    panels: Sequence[Axes] = figure.subplots(1, count, squeeze=False)[0]
    return panels


def plain(axes: Axes) -> None:
    """Write numbers on the axes in full, instead of as powers of ten."""
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    if axes.get_xscale() == "log":
        axes.xaxis.set_minor_formatter(NullFormatter())
