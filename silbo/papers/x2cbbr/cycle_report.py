"""The report: one HTML file with embedded pictures that opens offline; all numbers are of the run or the paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from silbo.papers.report.page import heading, listed, paragraph, picture, tabled, whole
from silbo.papers.x2cbbr import cycle_plots, cycle_table
from silbo.papers.x2cbbr import paper_cycles as paper
from silbo.papers.x2cbbr.cycle_table import Results

TITLE = "X2CBBR's matching unit: the paper's cycles, and ours"

# one paragraph each
NOTES = f"""\
The core itself counts the cycles, in a simulation of its Verilog. No board and no vendor's tool was used. The time of
the simulation on this machine says nothing about a board, and is not reported.

Times are cycles divided by the paper's clocks, {paper.CORE_MHZ} MHz for the core and {paper.INTERFACE_MHZ} MHz for
its interface. Nothing here shows that our core reaches them on the paper's or any other device: they are assumed.

The paper prints neither its XML documents nor its filters. Set1 is a reconstruction: 42 subscriptions of one filter
each, all different, all matched; each further load has the same filters again.

Matching is counted from a publication's first beat to the result; two of the beats are its position, here none.
Registration is counted from the command until the subscription's last row is written. In the paper, buffering is a
separate row; here the transactions on the bus are in Case II.

The paper's clock for memory initialisation is not stated: its {paper.INIT_US} µs are {paper.cycles(paper.INIT_US):,}
cycles at {paper.CORE_MHZ} MHz, {paper.cycles(paper.INIT_US, paper.INTERFACE_MHZ):,} at {paper.INTERFACE_MHZ}.

The paper's {paper.mbps(paper.LOADED + paper.PUBLICATION, paper.BEST_US):,.0f} Mbps count
{paper.LOADED + paper.PUBLICATION:,} bytes, of which {paper.LOADED:,} are subscriptions that were loaded before; for the
publication alone, {paper.PUBLICATION:,} bytes, it is {paper.mbps(paper.PUBLICATION, paper.BEST_US):.1f} Mbps. Both are
for parsing and matching together.

Case II: the paper's times are those of a Nios II with its software, and include its parser's tasks. Ours are the
cycles of the buses while the driver does the same with the matching unit, without the software's own time. The regular
and the best case differ only in the parser, which does not exist here yet: one line is for both.

The parser (SCBXP), routing and the modes are not part of this: their rows of the paper's tables are missing, because
they were not measured."""


def write(results: Results, folder: Path) -> None:
    """Draw the pictures into the folder, and write the report next to them."""
    cycle_plots.table_1(results, folder / "table1.png")
    cycle_plots.commonality(results, folder / "commonality.png")
    cycle_plots.case_2(results, folder / "case2.png")
    (folder / "report.html").write_text(whole(TITLE, _body(results, folder)), encoding="utf-8")


def _body(results: Results, folder: Path) -> Iterator[str]:
    yield heading(TITLE, 1)
    yield paragraph(_verdict(results))
    yield picture(folder / "table1.png", "Cycles for one to six loads of Set1.")
    yield tabled(cycle_table.HEADS, cycle_table.lines(results))
    yield heading("Commonality")
    yield paragraph(_common(results))
    yield picture(folder / "commonality.png", "Set1's 42 filters, and one filter for all.")
    yield heading("Case II: through the driver")
    yield picture(folder / "case2.png", "Register writes and reads, and beats of the stream.")
    yield heading("How to read this")
    yield listed(NOTES.split("\n\n"))
    yield tabled(("", ""), results["run"].items())


def _verdict(results: Results) -> str:
    match = {mode: results[mode]["table_1"][-1]["match"] for mode in ("bitmap", "list")}
    theirs = paper.cycles(paper.MATCH_US[-1])
    each = [line["match"] for line in results["bitmap"]["publications"]]
    same = "whatever the publication contains" if len(set(each)) == 1 else f"between {min(each)} and {max(each)}"
    return (
        f"A publication of 252 words is matched against 252 subscriptions in {match['bitmap']:,} cycles with bitmap"
        f" rows, {same}, and in {match['list']:,} with the paper's list rows; the paper has {theirs:,}."
        f" Every answer was {'right' if results['agrees'] else 'NOT right'}. These are cycles of a simulation, not a"
        " board's time."
    )


def _common(results: Results) -> str:
    last = {mode: results[mode]["one_filter"][-1] for mode in ("bitmap", "list")}
    return (
        "If all 252 subscriptions have the same filter, list rows are chained. Each registration walks the chain:"
        f" {last['list']['register']:,} cycles in all, compared with {last['bitmap']['register']:,} for bitmap rows. A"
        f" match reads the whole chain: {last['list']['match']:,} cycles, compared with {last['bitmap']['match']:,}."
    )
