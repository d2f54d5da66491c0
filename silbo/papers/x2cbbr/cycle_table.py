"""The table that a run prints at its end: the paper's cycles next to ours, with bitmap and with list rows.

Times are cycles divided by the paper's clocks. Nothing ran at these clocks: they are assumed, and labelled so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from silbo.papers.x2cbbr import paper_cycles as paper

Results: TypeAlias = dict[str, Any]
Line: TypeAlias = tuple[str, ...]  # label, the paper's value, ours with bitmaps, ours with lists

ASSUMED = f"at an assumed {paper.CORE_MHZ} MHz"
HEADS = (f"cycles (µs {ASSUMED})", "paper", "bitmap rows", "list rows")


def lines(results: Results) -> Iterator[Line]:
    """Yield every row of the table."""
    yield from _table_1(results)
    yield from _tables_2_and_3(results)
    yield from _case_2(results)
    yield "every answer is right", "", *(_yes(results[mode]["agrees"]) for mode in ("bitmap", "list"))


def text(results: Results) -> str:
    """The table, for a terminal."""
    return _aligned([HEADS, *lines(results)])


def _aligned(rows: Sequence[Line]) -> str:
    first, *others = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join([row[0].ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], others, strict=True))])
        for row in rows
    )


def _table_1(results: Results) -> Iterator[Line]:
    at_150, at_50 = paper.cycles(paper.INIT_US), paper.cycles(paper.INIT_US, paper.INTERFACE_MHZ)
    yield (
        "memory initialisation", f"{at_150:,} or {at_50:,}",
        *(_cycles(results[mode]["init_cycles"]) for mode in ("bitmap", "list")),
    )  # fmt: skip
    for what, times in (("register", paper.REGISTER_US), ("match", paper.MATCH_US)):
        verb = "mapping and registration of" if what == "register" else "matching one publication against"
        for i, count in enumerate(paper.LOADS):
            ours = [results[mode]["table_1"][i][what] for mode in ("bitmap", "list")]
            yield f"Table 1: {verb} {count}", _cycles(paper.cycles(times[i])), *(_cycles(each) for each in ours)


def _tables_2_and_3(results: Results) -> Iterator[Line]:
    for i, each in enumerate(results["bitmap"]["publications"]):
        yield (
            f"Tables 2, 3: matching against 252, {each['publication']}",
            _cycles(paper.cycles(paper.MATCH_US[-1])) if i == 0 else "",
            *(_cycles(results[mode]["publications"][i]["match"]) for mode in ("bitmap", "list")),
        )
    for counted, bytes_ in (("publication and filters", paper.PUBLICATION + paper.LOADS[-1] * paper.FILTER),
                            ("publication alone", paper.PUBLICATION)):  # fmt: skip
        ours = (results[mode]["publications"][0]["match"] for mode in ("bitmap", "list"))
        yield (
            f"  Mbps of matching, {counted} ({bytes_:,} bytes), {ASSUMED}",
            f"{paper.mbps(bytes_, paper.MATCH_US[-1]):,.1f}",
            *(f"{paper.mbps(bytes_, paper.microseconds(each)):,.0f}" for each in ours),
        )
    both = paper.LOADED + paper.PUBLICATION
    for counted, bytes_ in ((f"with {paper.LOADED:,} bytes of subscriptions loaded before", both),
                            ("for the publication alone", paper.PUBLICATION)):  # fmt: skip
        yield (
            f"Table 3: parsing and matching, Mbps {counted}",
            f"{paper.mbps(bytes_, paper.BEST_US):,.1f}", "no parser yet", "no parser yet",
        )  # fmt: skip


def _case_2(results: Results) -> Iterator[Line]:
    for case in ("worst", "regular"):
        ours = [results[mode]["case_2"][case] for mode in ("bitmap", "list")]
        yield (
            f"Case II, {case}: register writes, reads, beats of the stream", "",
            *(f"{each['writes']:,}, {each['reads']:,}, {each['beats']:,}" for each in ours),
        )  # fmt: skip
        yield (
            f"  in ms, at an assumed {paper.INTERFACE_MHZ} MHz without the software's time",
            f"{paper.INTERFACE_MS[case]:.2f}",
            *(f"{each['cycles'] / paper.INTERFACE_MHZ / 1_000:.2f}" for each in ours),
        )


def _cycles(count: int) -> str:
    """Cycles, and their microseconds at the paper's clock."""
    return f"{count:,} ({paper.microseconds(count):.2f})"


def _yes(holds: bool) -> str:
    return "yes" if holds else "NO"
