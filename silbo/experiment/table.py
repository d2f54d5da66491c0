"""The one table that a run ends with: each figure with the paper's value beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from silbo.experiment import published as paper

Line: TypeAlias = tuple[str, str, str]  # what, the paper's, ours

OVERLAY = "needs the overlay"


def lines(results: dict[str, Any]) -> Iterator[Line]:
    """Every line."""
    series = results["series"]
    yield from _changes(results, series)
    yield from _notifications(results, series)
    yield from _traded(results["trade_off"])
    yield "both systems agree with the oracle", "", "yes" if results["agrees"] else "NO"


def _changes(results: dict[str, Any], series: dict[str, Any]) -> Iterator[Line]:
    seven = {name: float(np.median(of["1"])) for name, of in series["fig07"]["ms_per_connection"].items()}
    yield "Figure 7: 50 changes, SIENA, ms a connection", f"{paper.SIENA_7:g}", f"{seven['siena']:.3g}"
    yield "Figure 7: 50 changes, silbo, ms a connection", f"{paper.SILBO_7:g}", f"{seven['silbo']:.3g}"
    for most, low, high in flatness(series["fig08"]):
        yield f"Figure 8: silbo's change at {most:,} subscriptions, µs", "0.2 at most", f"{low:.2f} to {high:.2f}"
    change = results["context_change_us"]
    yield "Figure 9: SIENA's message, µs", f"{paper.MESSAGE_SIENA:g}", f"{series['fig09']['siena_us_per_message']:.3g}"
    for step, theirs in change["siena"].items():
        ours = change["silbo"][step]
        yield (
            f"Figure 9: a change with {step} filters, SIENA / silbo, µs",
            f"{paper.change_siena(int(step)):,.0f} / {paper.CHANGE_SILBO}",
            f"{theirs:.1f} / {ours:.2f} ({theirs / ours:,.0f} ×)",
        )
    yield "Figure 10: five brokers", "about 5 × faster", OVERLAY


def flatness(found: list[dict[str, Any]]) -> Iterator[tuple[int, float, float]]:
    """By size the least and the greatest time of a change, over the loads, in the longest runs."""
    longest = max(each["changes"] for each in found)
    for most in sorted({each["most"] for each in found}):
        each_us = [
            each["seconds"]["silbo"] / longest * 1e6
            for each in found
            if (each["most"], each["changes"]) == (most, longest)
        ]
        yield most, min(each_us), max(each_us)


def _notifications(results: dict[str, Any], series: dict[str, Any]) -> Iterator[Line]:
    for size, figure in series["fig11"].items():
        speeds = figure["throughput"]
        yield (
            f"Figure 11: notifications a second at {int(size):,}, SIENA / silbo",
            "1,092 / 1,000" if size == "80000" else "drawn only",
            f"{speeds['siena'][-1]:,.0f} / {speeds['silbo'][-1]:,.0f}",
        )
    own = results["notification_us"]
    size = int(list(series["fig11"])[-1])
    yield (
        f"Table 1: a notification at {size:,}, SIENA / silbo, µs",
        f"{paper.NOTIFICATION_SIENA:g} / {paper.NOTIFICATION_SILBO:,.0f}",
        f"{own['siena']:.1f} / {own['silbo']:.1f}",
    )
    content = list(series["fig11"].values())[-1]["microseconds"]["content"]
    yield "overhead of explicit context", f"{paper.OVERHEAD:+.1%}", f"{own['silbo'] / own['siena'] - 1:+.1%}"
    yield (
        "the same with content first, the paper's order",
        f"{paper.OVERHEAD:+.1%}",
        f"{content / own['siena'] - 1:+.1%}",
    )


def _traded(found: dict[str, Any]) -> Iterator[Line]:
    names = {"paper_formula": paper.TRADE_OFF, "real_cost": paper.REAL_TRADE_OFF}
    words = {"paper_formula": "one message a change", "real_cost": "what a change costs"}
    for name, value in names.items():
        yield f"equation 2: {words[name]}", f"{value:.3g}", crossing(found[name], found["interval"][name])


def crossing(point: float | None, interval: list[float | None] | None) -> str:
    """A trade-off point in words."""
    if point is None:
        return "no crossing: silbo takes less at every ratio" if interval is None else f"no crossing {_ends(interval)}"
    return f"{point:,.3g} {_ends(interval)}"


def _ends(interval: list[float | None] | None) -> str:
    if interval is None:
        return ""
    low, high = interval
    return f"(95 %: {low:,.3g} to {'none' if high is None else f'{high:,.3g}'})"


def text(results: dict[str, Any]) -> str:
    """The table, for a terminal."""
    rows = [("", "paper", "here"), *lines(results)]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    return "\n".join(f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c}" for a, b, c in rows)
