"""The pictures of a run, and the names of their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from silbo.papers.siena import extension_plots, figure_plots


def draw(results: dict[str, Any], folder: Path) -> None:
    """Write every picture into the folder."""
    series = results["series"]
    figure_plots.figure_7(series["fig07"], folder / "fig07.png")
    figure_plots.figure_8(series["fig08"], folder / "fig08.png")
    figure_plots.figure_9(series["fig09"], folder / "fig09.png")
    figure_plots.figure_11(series["fig11"], folder / "fig11.png")
    figure_plots.trade_off(_traded(results), folder / "tradeoff.png")
    extension_plots.stages(series["notification_stages"], series["change_stages"], folder / "stages.png")
    extension_plots.scopes(series["scopes"], folder / "scopes.png")
    extension_plots.surface(series["surface"], folder / "surface.png")
    if "missing" not in series["movement"]:
        extension_plots.movement(series["movement"], folder / "movement.png")


def _traded(results: dict[str, Any]) -> dict[str, Any]:
    """The figures that the picture of the trade-off needs."""
    series, change = results["series"], results["context_change_us"]
    return {
        "context_change_us": {name: change[name]["10"] for name in change},
        "siena_us_per_message": series["fig09"]["siena_us_per_message"],
        "notification_us": list(series["fig11"].values())[-1]["microseconds"],
        "crossings": [
            (way[name], way["interval"][name])
            for way in (series["trade_off"], series["trade_off_content_first"])
            for name in ("paper_formula", "real_cost")
            if way[name] is not None and way["interval"][name] is not None
        ],
    }
