"""The time to read a filter's text for the first time: tokens, tree and checks, in µs of CPU."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count

from silbo.bench.timing import median, times
from silbo.bench.workloads import Workload
from silbo.matching.filter import Filter

READ = 2_000  # texts
BLANKS = str.maketrans("01", " \t")

_numbers = count()  # of the texts that this process has made


def parse_figure(workload: Workload) -> float:
    """The median over the workload's filters, each read from a text that no cache knows."""
    return median(times(Filter.of, [(text,) for text in new_texts(workload)], clock=time.thread_time_ns))


def new_texts(workload: Workload) -> Iterator[str]:
    """The texts of the first filters, each with blanks at its end that no other text has."""
    for filter, number in zip(workload.filters[:READ], _numbers, strict=False):
        yield filter.text + f"{number:b}".translate(BLANKS)
