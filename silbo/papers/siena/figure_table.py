"""The table that a run prints at its end: each figure with the paper's value next to ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from silbo.papers.siena import paper_figures as paper
from silbo.papers.siena.spread import Spread, medians, ratios, shown, shown_change

Line: TypeAlias = tuple[str, str, str]  # label, the paper's value, ours

OVERLAY = "needs the overlay"


def lines(results: dict[str, Any]) -> Iterator[Line]:
    """Yield every line of the table."""
    series = results["series"]
    yield from _changes(results, series)
    yield from _notifications(results, series)
    yield from _traded(results["trade_off"])
    yield "both systems agree with the oracle", "", "yes" if results["agrees"] else "NO"


def _changes(results: dict[str, Any], series: dict[str, Any]) -> Iterator[Line]:
    seven = {name: float(np.median(of["1"])) for name, of in series["fig07"]["ms_per_connection"].items()}
    yield "Figure 7: 50 changes, SIENA, ms per connection", f"{paper.SIENA_7:g}", f"{seven['siena']:.3g}"
    yield "Figure 7: 50 changes, silbo, ms per connection", f"{paper.SILBO_7:g}", f"{seven['silbo']:.3g}"
    for most, low, high in flatness(series["fig08"]):
        yield f"Figure 8: silbo's change at {most:,} subscriptions, µs", "0.2 at most", f"{low:.2f} to {high:.2f}"
    change = results["context_change_us"]
    yield "Figure 9: SIENA's message, µs", f"{paper.MESSAGE_SIENA:g}", f"{series['fig09']['siena_us_per_message']:.3g}"
    for step, theirs in change["siena"].items():
        ours = change["silbo"][step]
        yield (
            f"Figure 9: a change with {step} filter{'' if int(step) == 1 else 's'}, SIENA / silbo, µs",
            f"{paper.change_siena(int(step)):,.0f} / {paper.CHANGE_SILBO}",
            f"{theirs:.1f} / {ours:.2f}: {shown(times_dearer(series['fig09'], step), ',.0f')} ×",
        )
    yield "Figure 10: five brokers", "about 5 × faster", OVERLAY


def times_dearer(found: dict[str, Any], step: str) -> Spread:
    """SIENA's time for a change as a multiple of silbo's, with `step` filters."""
    theirs, ours = (medians(found["samples_us"][name][step]) for name in ("siena", "silbo"))
    return ratios(theirs, ours)


def overhead(figure: dict[str, Any], name: str) -> Spread:
    """The time of a notification as a multiple of SIENA's, pass by pass over all publications."""
    return ratios(figure["passes_us"][name], figure["passes_us"]["siena"])


def flatness(found: list[dict[str, Any]]) -> Iterator[tuple[int, float, float]]:
    """Yield for each size the least and the greatest time of a change over the loads, in the longest runs."""
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
            f"Figure 11: notifications per second at {int(size):,}, SIENA / silbo",
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
    last = list(series["fig11"].values())[-1]
    kinds = {"silbo": "overhead of explicit context", "content": "the same with content first, the paper's order"}
    for name, what in kinds.items():
        yield what, f"{paper.OVERHEAD:+.1%}", shown_change(overhead(last, name))


def _traded(found: dict[str, Any]) -> Iterator[Line]:
    names = {"paper_formula": paper.TRADE_OFF, "real_cost": paper.REAL_TRADE_OFF}
    words = {"paper_formula": "one message per change", "real_cost": "the real cost of a change"}
    for name, value in names.items():
        yield f"equation 2: {words[name]}", f"{value:.3g}", crossing(found[name], found["interval"][name])


def crossing(point: float | None, interval: list[float | None] | None) -> str:
    """A crossing of the trade-off, as text."""
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
