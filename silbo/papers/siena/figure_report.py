"""The report: one HTML file with embedded pictures that opens offline; every number comes from the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from silbo.papers.report.page import folded, heading, listed, paragraph, picture, tabled, whole
from silbo.papers.siena import figure_table, pictures, report_texts
from silbo.papers.siena import paper_figures as paper
from silbo.papers.siena.changes import HEADLINES
from silbo.papers.siena.spread import ROUNDS, medians, shown, shown_change, spread
from silbo.papers.siena.surface import CROWDING

Results: TypeAlias = dict[str, Any]

STEPS = tuple(str(step) for step in HEADLINES)
CLEARLY = 1.2  # a ratio of times from which one is clearly longer
NAMES = {"silbo": "silbo", "content": "silbo, content first", "siena": "SIENA"}


def write(results: Results, folder: Path) -> None:
    """Draw every picture into the folder, and write the report next to them."""
    pictures.draw(results, folder)
    page = whole(report_texts.TITLE, _body(results, folder))
    (folder / "report.html").write_text(page, encoding="utf-8")


def _body(results: Results, folder: Path) -> Iterator[str]:
    series = results["series"]
    yield heading(report_texts.TITLE, 1)
    yield paragraph(_verdict(results))
    yield tabled(("", "paper", "here"), figure_table.lines(results))
    yield from _run(series["run"])
    yield from _changes(results, folder)
    yield from _notifications(series, folder)
    yield from _trade_off(series, folder)
    yield from _stages(series, folder)
    yield from _scopes(series["scopes"], folder)
    yield from _surface(series["surface"], folder)
    yield from _movement(series["movement"], folder)
    yield heading("What the paper leaves open, and the choices made")
    yield listed(report_texts.CHOICES.split("\n\n"))


def _verdict(results: Results) -> str:
    change, notification = results["context_change_us"], results["notification_us"]
    times = [f"{change['siena'][step] / change['silbo'][step]:,.0f}" for step in change["siena"]]
    overhead = notification["silbo"] / notification["siena"] - 1
    difference = f"{overhead:.0%} more" if overhead > 0 else f"{-overhead:.0%} less"
    return (
        f"A context change takes {change['silbo']['10']:.2f} µs in silbo, whatever the number of filters. In the SIENA"
        f" style its time is linear in the filters: with 1, 10 and 50 filters, {', '.join(times)} times as long."
        f" A notification takes {difference} time in silbo than in the SIENA style"
        f" ({notification['silbo']:.1f} and {notification['siena']:.1f} µs)."
        f" Both systems {'gave' if results['agrees'] else 'did NOT give'} the oracle's notifications."
    )


def _run(run: Results) -> Iterator[str]:
    yield heading("The run")
    last = [("seed", str(run["seed"])), ("sizes", run["sizes"]), ("the paper's machine", paper.MACHINE)]
    yield tabled(("", ""), [*run["machine"].items(), *last])


# context changes


def _changes(results: Results, folder: Path) -> Iterator[str]:
    yield heading("Context changes: Figures 7, 8 and 9")
    yield picture(folder / "fig07.png", "Fifty context changes of each subscriber that joins a loaded broker.")
    yield picture(folder / "fig08.png", "Runs of context changes of random subscribers, while connections are added.")
    yield paragraph(_flatness(results["series"]["fig08"]))
    yield picture(folder / "fig09.png", "One change by number of filters; the shade is the middle half of the samples.")
    yield paragraph(_growth(results["series"]["fig09"]))
    yield heading("The same change at other levels", 3)
    yield paragraph(report_texts.LEVELS)
    yield tabled(("µs per change", "1 filter", "10 filters", "50 filters"), _levels(results))
    yield heading("Why the ratio differs from the paper's", 3)
    yield paragraph(_why(results))
    yield heading("Figure 10")
    yield paragraph(f"Five brokers, each with a publisher and 100 subscribers: {figure_table.OVERLAY}.")


def _flatness(found: list[Results]) -> str:
    taken = [f"at {most:,} subscriptions {low:.2f} to {high:.2f}" for most, low, high in figure_table.flatness(found)]
    return (
        f"The time is proportional to the number of changes. Over all numbers of connections, a change in silbo takes"
        f" {' and '.join(taken)} µs. It touches no subscription; the times differ because more or less of the context"
        f" table is in the processor's caches."
    )


def _growth(found: Results) -> str:
    """A sentence on whether silbo's change depends on the filters, alone and measured in turns with SIENA's."""
    beside, alone = found["median_us"]["silbo"], found["alone_us"]
    return (
        f"Silbo's change writes one row of the context table and does not look at the subscriptions. Measured alone it"
        f" takes {shown(alone['1'])} µs with one filter and {shown(alone['50'])} µs with 50 (median and range of"
        f" {ROUNDS} parts of the run). In the figure, where batches alternate with SIENA's, it takes"
        f" {beside['1']:.2f} and {beside['50']:.2f} µs: with more filters SIENA's batch reads and writes more memory,"
        f" and leaves less of silbo's data in the processor's caches."
    )


def _levels(results: Results) -> Iterator[tuple[str, ...]]:
    series, levels = results["series"]["fig09"]["samples_us"], results["series"]["levels"]
    inside = {name: {step: spread(medians(series[name][step])) for step in STEPS} for name in ("silbo", "siena")}
    verbs, client = levels["set_context"], levels["unsubscribe and subscribe"]["siena"]
    rows = {
        "inside the broker, silbo: one write of the context's row": inside["silbo"],
        "inside the broker, SIENA: each filter removed from the index and added again": inside["siena"],
        "silbo: `set_context`": verbs["silbo"],
        "a broker with the SIENA index: `set_context`": verbs["siena"],
        "SIENA as a client: `unsubscribe` and `subscribe`": client,
    }
    for what, taken in rows.items():
        yield (what, *(shown(taken[step], ",.2f") for step in STEPS))
    ratios = {
        "SIENA to silbo, inside the broker": (inside["siena"], inside["silbo"]),
        "SIENA to silbo, `set_context` of both": (verbs["siena"], verbs["silbo"]),
        "SIENA to silbo, as a client": (client, verbs["silbo"]),
    }
    for what, (theirs, ours) in ratios.items():
        yield (what, *(f"{theirs[step]['median'] / ours[step]['median']:,.0f} ×" for step in STEPS))


def _why(results: Results) -> str:
    series, change = results["series"], results["context_change_us"]
    parts, write = series["change_stages"]["siena"], series["change_stages"]["silbo"]["write"]
    kernels = parts["remove"] + parts["add"]
    return (
        f"At ten filters the ratio is {paper.change_siena(10) / paper.CHANGE_SILBO:,.0f} in the paper and"
        f" {change['siena']['10'] / change['silbo']['10']:,.0f} here, for two reasons. First, SIENA's message takes"
        f" {series['fig09']['siena_us_per_message']:.1f} µs instead of {paper.MESSAGE_SIENA:g}: its filters are in"
        f" silbo's own index, which removes and adds a filter with compiled kernels, and the parts that do not change"
        f" with the context (a filter's normal form, its row) are kept. Second, silbo's change is a call in Python:"
        f" {change['silbo']['10']:.2f} µs instead of {paper.CHANGE_SILBO}. Of SIENA's {sum(parts.values()):.0f} µs with"
        f" ten filters at the largest load (see the table of stages), {kernels:.0f} are spent on removing and adding,"
        f" and the rest in Python, which encodes the filters for the kernels. If the part in Python took no time,"
        f" silbo's change would still be {kernels / write:,.0f} times cheaper."
    )


# notifications


def _notifications(series: Results, folder: Path) -> Iterator[str]:
    yield heading("Notifications: Figure 11 and Table 1")
    yield picture(folder / "fig11.png", "Notifications per second, from the call until they are in the queues.")
    size = int(list(series["fig11"])[-1])
    yield heading(f"Table 1: {size:,} subscriptions", 3)
    heads = ("notifications", "SIENA, per second", "µs", "silbo, per second", "µs", "difference, µs")
    yield tabled((*heads, "paper: SIENA, µs", "paper: explicit, µs"), map(_table_1, series["table1"]))
    yield paragraph(_overhead(series["fig11"][str(size)]))


def _overhead(last: Results) -> str:
    taken, matched = last["microseconds"], last["match_microseconds"]
    passes = {name: f"{min(of):.1f} to {max(of):.1f}" for name, of in last["passes_us"].items()}
    return (
        f"Silbo's planner chose the plan “{last['plan']['silbo']}”. In the paper's order, content first, a notification"
        f" takes {taken['content']:.1f} µs, {taken['content'] / taken['siena'] - 1:+.1%} compared with SIENA; with the"
        f" planner's plan it takes {taken['silbo']:.1f} µs, {taken['silbo'] / taken['siena'] - 1:+.1%}. The paper has"
        f" {paper.OVERHEAD:+.1%}. Matching alone takes {matched['silbo']:.1f} µs in silbo, {matched['content']:.1f}"
        f" with content first, and {matched['siena']:.1f} in the SIENA style. Each broker made"
        f" {last['notifications']['silbo']:,} notifications of {last['publications']:,} publications. Single passes"
        f" over all publications took {passes['silbo']} µs per notification in silbo, {passes['content']} with content"
        f" first, and {passes['siena']} in the SIENA style."
        f" {report_texts.LEAD if taken['silbo'] < taken['siena'] else ''}"
    )


def _table_1(row: Results) -> tuple[str, ...]:
    at, speeds, taken = row["notifications"], row["per_second"], row["microseconds"]
    ours = [
        f"{each:,.{digits}f}" for name in ("siena", "silbo") for each, digits in ((speeds[name], 0), (taken[name], 1))
    ]
    theirs = [f"{each:,}" for each in paper.MICROSECONDS.get(at, ())] or ["", ""]
    return (at, *ours, f"{taken['silbo'] - taken['siena']:+.1f}", *theirs)


def _trade_off(series: Results, folder: Path) -> Iterator[str]:
    yield heading("Equation 2: the trade-off")
    yield picture(folder / "tradeoff.png", "SIENA's time as a multiple of silbo's, by notifications per change.")
    plans = {"the planner's plan": "trade_off", "content first, the paper's order": "trade_off_content_first"}
    ways = {
        "one message per change, the paper's formula": ("paper_formula", paper.TRADE_OFF),
        "the cost of a change with ten filters": ("real_cost", paper.REAL_TRADE_OFF),
    }
    rows = [
        (f"silbo with {plan}; {way}", f"{value:.3g}", figure_table.crossing(found[name], found["interval"][name]),
         f"{found['without_crossing'][name]:.0%}")
        for plan, found in ((plan, series[key]) for plan, key in plans.items())
        for way, (name, value) in ways.items()
    ]  # fmt: skip
    yield tabled(("", "paper", "here", "resamples without a crossing"), rows)
    yield paragraph(report_texts.EQUATION)


def _stages(series: Results, folder: Path) -> Iterator[str]:
    yield heading("Microseconds by stage")
    yield picture(
        folder / "stages.png", "Means of a notification, and of a context change with ten filters, at the largest load."
    )
    kinds = {"a notification": "notification_stages", "a context change, ten filters": "change_stages"}
    for what, found in ((what, series[key]) for what, key in kinds.items()):
        rows = [
            (NAMES[name], *map(_hundredths, of.values()), _hundredths(sum(of.values()))) for name, of in found.items()
        ]
        yield tabled((what, *found["silbo"], "total"), rows)
    yield paragraph(report_texts.STAGES)


def _hundredths(value: float) -> str:
    return f"{value:.2f}"


# beyond the paper


def _scopes(found: Results, folder: Path) -> Iterator[str]:
    yield heading("The paper's future work: scopes")
    yield picture(
        folder / "scopes.png", "Publications with a scope over the subscriber's context, and context changes."
    )
    rows = [row for name, of in found.items() for row in _scope_rows(name, of)]
    yield tabled(("median (least to greatest round)", "µs", "change from no scope", "notifications per publish"), rows)
    yield paragraph(report_texts.SCOPES)


def _scope_rows(name: str, found: Results) -> Iterator[tuple[str, ...]]:
    """The rows for a load: its publications by kind of scope, and its context changes."""
    for kind, taken in found["publish_us"].items():
        each = f"{found['notifications'][kind] / found['publications']:.2f}"
        yield f"publish, {name}, {kind}", shown(taken, ".1f"), _against(found["publish_us_ratio"], kind), each
    for kind, taken in found["set_context_us"].items():
        yield f"context change, {name}, {kind}", shown(taken), _against(found["set_context_us_ratio"], kind), ""


def _against(ratios: Results, kind: str) -> str:
    return shown_change(ratios[kind]) if kind in ratios else ""


def _surface(found: list[Results], folder: Path) -> Iterator[str]:
    yield heading("Beyond the paper: the trade-off as a surface")
    yield picture(
        folder / "surface.png", "SIENA's time as a multiple of silbo's, over box, rates, crowding and filters."
    )
    systems = ("match, silbo, µs", "match, SIENA, µs", "change, silbo, µs", "change, SIENA, µs")
    heads = ("positions", "subscriptions each", "box, km", "silbo's plan", *systems, "crossing")
    yield folded("All points", tabled(heads, map(_point, found)))
    never = sum(point["crossing"] is None for point in found)
    least = min((point["crossing"] for point in found if point["crossing"] is not None), default=None)
    said = f"{never} of {len(found)} points have no crossing; positions are {' or '.join(CROWDING)}."
    if least is not None:
        said += (
            f" The lowest crossing is at {least:,.3g} notifications per change. If both match at nearly the same speed,"
            f" the crossing is at a high ratio and differs from run to run."
        )
    yield paragraph(f"{said} {_mistaken(found)}")


def _mistaken(found: list[Results]) -> str:
    """A sentence that names the points where the planner's grid takes clearly longer than SIENA's content first."""
    points = [
        f"a box of {point['box_km']:g} km {point['crowding']} with {point['each']} each"
        for point in found
        if point["plan"] == "context first"
        and point["notification_us"]["silbo"] > CLEARLY * point["notification_us"]["siena"]
    ]
    if not points:
        return "At no point does the planner keep a grid that takes clearly longer than SIENA's matching."
    where = "; ".join(points)
    return f"The planner's choice is not the best one for {where}: its grid takes clearly longer than content first."


def _point(point: Results) -> tuple[str, ...]:
    crossing = "none" if point["crossing"] is None else f"{point['crossing']:,.3g}"
    taken = [point[what][name] for what in ("notification_us", "context_change_us") for name in ("silbo", "siena")]
    where = (point["crowding"], str(point["each"]), f"{point['box_km']:g}", point["plan"])
    return (*where, *map(_hundredths, taken), crossing)


def _movement(found: Results, folder: Path) -> Iterator[str]:
    yield heading("Beyond the paper: real movement")
    if "missing" in found:
        yield paragraph(f"Not run: {found['missing']}")
        return
    yield picture(folder / "movement.png", "Vehicles set their context every second; cameras publish.")
    taken = {name: found["changes_s"][name] + found["publications_s"][name] for name in ("silbo", "siena")}
    yield paragraph(
        f"{found['vehicles']:,} vehicles with ten subscriptions each and a box of 400 m, {found['changes']:,} context"
        f" changes, {found['publications']:,} publications ({found['ratio']:.3g} per change),"
        f" {found['notifications']['silbo']:,} notifications. Silbo took {taken['silbo']:.3g} s, and the SIENA style"
        f" {taken['siena']:.3g} s: {taken['siena'] / taken['silbo']:,.0f} times as long."
    )
