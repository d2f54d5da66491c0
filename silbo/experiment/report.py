"""The report: one HTML file that opens offline, its pictures within it, every number from the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from silbo.experiment import pictures, table, words
from silbo.experiment import published as paper
from silbo.experiment.page import folded, heading, listed, paragraph, picture, tabled, whole
from silbo.experiment.surface import CROWDING

Results: TypeAlias = dict[str, Any]

CLEARLY = 1.2  # times as long
NAMES = {"silbo": "silbo", "content": "silbo, content first", "siena": "SIENA"}


def write(results: Results, folder: Path) -> None:
    """Draw every picture into the folder, and write the report beside them."""
    pictures.draw(results, folder)
    page = whole(words.TITLE, words.STYLE, _body(results, folder))
    (folder / "report.html").write_text(page, encoding="utf-8")


def _body(results: Results, folder: Path) -> Iterator[str]:
    series = results["series"]
    yield heading(words.TITLE, 1)
    yield paragraph(_verdict(results))
    yield tabled(("", "paper", "here"), table.lines(results))
    yield from _run(series["run"])
    yield from _changes(results, folder)
    yield from _notifications(series, folder)
    yield from _trade_off(series, folder)
    yield from _stages(series, folder)
    yield from _scopes(series["scopes"], folder)
    yield from _surface(series["surface"], folder)
    yield from _movement(series["movement"], folder)
    yield heading("What the paper leaves open, and what was chosen")
    yield listed(words.CHOICES.split("\n\n"))


def _verdict(results: Results) -> str:
    change, told = results["context_change_us"], results["notification_us"]
    times = [f"{change['siena'][step] / change['silbo'][step]:,.0f}" for step in change["siena"]]
    flat = change["silbo"]["50"] / change["silbo"]["1"]
    overhead = told["silbo"] / told["siena"] - 1
    behind = f"{overhead:.0%} more" if overhead > 0 else f"{-overhead:.0%} less"
    return (
        f"A context change takes {change['silbo']['10']:.2f} µs in silbo, with 50"
        f" filters {flat:.2f} times what it takes with"
        f" one; the SIENA way it is linear in the filters, and at 1, 10 and 50 of"
        f" them {', '.join(times)} times as dear."
        f" A notification takes {behind} time in silbo than the SIENA way"
        f" ({told['silbo']:.1f} and {told['siena']:.1f} µs)."
        f" Both systems {'gave' if results['agrees'] else 'did NOT give'} the oracle's notifications."
    )


def _run(run: Results) -> Iterator[str]:
    yield heading("The run")
    last = [("seed", str(run["seed"])), ("sizes", run["sizes"]), ("the paper's machine", paper.MACHINE)]
    yield tabled(("", ""), [*run["machine"].items(), *last])


# context changes


def _changes(results: Results, folder: Path) -> Iterator[str]:
    yield heading("Context changes: Figures 7, 8 and 9")
    yield picture(folder / "fig07.png", "Fifty changes of each subscriber that joins a loaded broker.")
    yield picture(folder / "fig08.png", "Runs of changes of subscribers drawn at random, while connections grow.")
    yield paragraph(_flatness(results["series"]["fig08"]))
    yield picture(folder / "fig09.png", "One change by filters; the shade is the middle half of the samples.")
    yield heading("The same change at other levels", 3)
    yield paragraph(words.LEVELS)
    yield tabled(("µs a change", "1 filter", "10 filters", "50 filters"), _levels(results))
    yield heading("Why the ratio is not the paper's", 3)
    yield paragraph(_why(results))
    yield heading("Figure 10")
    yield paragraph(f"Five brokers, each with a publisher and 100 subscribers: {table.OVERLAY}.")


def _flatness(found: list[Results]) -> str:
    taken = [f"at {most:,} subscriptions {low:.2f} to {high:.2f}" for most, low, high in table.flatness(found)]
    return (
        f"The time goes by the number of changes. A change takes in silbo, over all numbers of connections,"
        f" {' and '.join(taken)} µs: no subscription is touched, and what differs is"
        f" how much of the table of contexts is"
        f" in the processor's caches."
    )


def _levels(results: Results) -> Iterator[tuple[str, ...]]:
    inside, levels = results["context_change_us"], results["series"]["levels"]
    verbs, anew = levels["set_context"], levels["unsubscribe and subscribe"]["siena"]
    rows = {
        "inside the broker, silbo: one write of the context's row": inside["silbo"],
        "inside the broker, SIENA: each filter out of the index and in again": inside["siena"],
        "silbo: set_context": verbs["silbo"],
        "SIENA behind the broker: set_context": verbs["siena"],
        "SIENA as a client: unsubscribe and subscribe": anew,
    }
    for what, taken in rows.items():
        yield (what, *(f"{value:,.2f}" for value in taken.values()))
    ratios = {
        "SIENA to silbo, inside the broker": (inside["siena"], inside["silbo"]),
        "SIENA to silbo, set_context of both": (verbs["siena"], verbs["silbo"]),
        "SIENA to silbo, as a client": (anew, verbs["silbo"]),
    }
    for what, (theirs, ours) in ratios.items():
        yield (what, *(f"{theirs[step] / ours[step]:,.0f} ×" for step in ours))


def _why(results: Results) -> str:
    series, change = results["series"], results["context_change_us"]
    parts, write = series["change_stages"]["siena"], series["change_stages"]["silbo"]["write"]
    kernels = parts["remove"] + parts["add"]
    return (
        f"The paper has {paper.change_siena(10) / paper.CHANGE_SILBO:,.0f} times at ten filters, here it is"
        f" {change['siena']['10'] / change['silbo']['10']:,.0f}. Two things shrink it. SIENA's message takes"
        f" {series['fig09']['siena_us_per_message']:.1f} µs instead of"
        f" {paper.MESSAGE_SIENA:g}: its filters stand in silbo's own"
        f" index, which takes a filter out and in by compiled kernels, and what does"
        f" not change with the context (a filter's"
        f" normal form, its row) is kept. And silbo's change is a call of Python:"
        f" {change['silbo']['10']:.2f} µs instead of"
        f" {paper.CHANGE_SILBO}. Of SIENA's {sum(parts.values()):.0f} µs with ten"
        f" filters at the largest load (the table of"
        f" stages) {kernels:.0f} are spent on taking out and in, and the rest in"
        f" Python, which writes the filters for the"
        f" kernels; were that free, silbo would still be {kernels / write:,.0f} times cheaper."
    )


# notifications


def _notifications(series: Results, folder: Path) -> Iterator[str]:
    yield heading("Notifications: Figure 11 and Table 1")
    yield picture(folder / "fig11.png", "Notifications a second, from the verb until they stand in the queues.")
    size = int(list(series["fig11"])[-1])
    yield heading(f"Table 1: {size:,} subscriptions", 3)
    heads = ("notifications", "SIENA, a second", "µs", "silbo, a second", "µs", "difference, µs")
    yield tabled((*heads, "paper: SIENA, µs", "paper: explicit, µs"), map(_table_1, series["table1"]))
    yield paragraph(_overhead(series["fig11"][str(size)]))


def _overhead(last: Results) -> str:
    told, matched = last["microseconds"], last["match_microseconds"]
    return (
        f"Silbo's planner had the plan “{last['plan']['silbo']}”. In the paper's"
        f" order, content first, a notification takes"
        f" {told['content']:.1f} µs, {told['content'] / told['siena'] - 1:+.1%} against SIENA; with the planner's plan"
        f" {told['silbo']:.1f} µs, {told['silbo'] / told['siena'] - 1:+.1%}; the"
        f" paper has {paper.OVERHEAD:+.1%}. Matching alone"
        f" takes {matched['silbo']:.1f} µs in silbo, {matched['content']:.1f} with"
        f" content first, {matched['siena']:.1f} the"
        f" SIENA way. Each broker made {last['notifications']['silbo']:,} notifications of {last['publications']:,}"
        f" publications. {words.LEAD if told['silbo'] < told['siena'] else ''}"
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
    yield picture(folder / "tradeoff.png", "SIENA's time as a multiple of silbo's, by notifications to a change.")
    plans = {"the planner's plan": "trade_off", "content first, the paper's order": "trade_off_content_first"}
    ways = {
        "one message a change, the paper's formula": ("paper_formula", paper.TRADE_OFF),
        "what a change of ten filters costs": ("real_cost", paper.REAL_TRADE_OFF),
    }
    rows = [
        (f"silbo with {plan}; {way}", f"{value:.3g}", table.crossing(found[name], found["interval"][name]),
         f"{found['without_crossing'][name]:.0%}")
        for plan, found in ((plan, series[key]) for plan, key in plans.items())
        for way, (name, value) in ways.items()
    ]  # fmt: skip
    yield tabled(("", "paper", "here", "resamples without a crossing"), rows)
    yield paragraph(words.EQUATION)


def _stages(series: Results, folder: Path) -> Iterator[str]:
    yield heading("Microseconds by stage")
    yield picture(
        folder / "stages.png", "Means of a notification, and of a change with ten filters, at the largest load."
    )
    kinds = {"a notification": "notification_stages", "a context change, ten filters": "change_stages"}
    for what, found in ((what, series[key]) for what, key in kinds.items()):
        rows = [
            (NAMES[name], *map(_hundredths, of.values()), _hundredths(sum(of.values()))) for name, of in found.items()
        ]
        yield tabled((what, *found["silbo"], "in all"), rows)
    yield paragraph(words.STAGES)


def _hundredths(value: float) -> str:
    return f"{value:.2f}"


# beyond the paper


def _scopes(found: Results, folder: Path) -> Iterator[str]:
    yield heading("The paper's future work: scopes")
    yield picture(
        folder / "scopes.png", "Publications with a scope over the subscriber's context, and context changes."
    )
    rows: list[tuple[str, ...]] = []
    for name, of in found.items():
        base, changed = of["publish_us"]["no scope"], of["set_context_us"]
        for kind, taken in of["publish_us"].items():
            each = f"{of['notifications'][kind] / of['publications']:.2f}"
            rows.append((f"publish, {name}, {kind}", f"{taken:.1f}", f"{taken / base - 1:+.0%}", each))
        within = changed["scopes in use"]
        rows.append((f"context change, {name}", f"{within:.2f}", f"{within / changed['no scopes'] - 1:+.0%}", ""))
    yield tabled(("", "µs", "against no scopes", "notifications a publish"), rows)
    yield paragraph(words.SCOPES)


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
            f" The lowest crossing is at {least:,.3g} notifications to a change. Where"
            f" both match nearly as fast, a crossing"
            f" is far out and moves from run to run."
        )
    yield paragraph(f"{said} {_mistaken(found)}")


def _mistaken(found: list[Results]) -> str:
    """Where the planner's grid takes clearly longer than SIENA, which looks at the content first."""
    points = [
        f"a box of {point['box_km']:g} km {point['crowding']} with {point['each']} each"
        for point in found
        if point["plan"] == "context first"
        and point["notification_us"]["silbo"] > CLEARLY * point["notification_us"]["siena"]
    ]
    if not points:
        return "Nowhere does the planner keep a grid that takes clearly longer than SIENA's matching."
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
        f" changes, {found['publications']:,} publications ({found['ratio']:.3g} to a change),"
        f" {found['notifications']['silbo']:,} notifications. Silbo took {taken['silbo']:.3g} s, the SIENA way"
        f" {taken['siena']:.3g} s: {taken['siena'] / taken['silbo']:,.0f} times as long."
    )
