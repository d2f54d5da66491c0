"""Which pictures a run has, and under which names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from silbo.experiment import plots, plots_beyond


def draw(results: dict[str, Any], folder: Path) -> None:
    """Write every picture into the folder."""
    series = results["series"]
    plots.figure_7(series["fig07"], folder / "fig07.png")
    plots.figure_8(series["fig08"], folder / "fig08.png")
    plots.figure_9(series["fig09"], folder / "fig09.png")
    plots.figure_11(series["fig11"], folder / "fig11.png")
    plots.trade_off(_traded(results), folder / "tradeoff.png")
    plots_beyond.stages(series["notification_stages"], series["change_stages"], folder / "stages.png")
    plots_beyond.scopes(series["scopes"], folder / "scopes.png")
    plots_beyond.surface(series["surface"], folder / "surface.png")
    if "missing" not in series["movement"]:
        plots_beyond.movement(series["movement"], folder / "movement.png")


def _traded(results: dict[str, Any]) -> dict[str, Any]:
    """What the picture of the trade-off needs."""
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
