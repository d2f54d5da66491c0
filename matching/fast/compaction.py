"""Compaction: move slices of postings and blocks of words together, and update the records that point to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from silbo.matching.fast.arrays import Arrays
from silbo.matching.fast.kernels import layout


def pack_postings(arrays: Arrays) -> None:
    """Give every list a slice that fits it, with room for a quarter more."""
    lists = arrays.lists.reshape(-1, layout.LIST)[: arrays.state[layout.LISTS]]
    live = lists[lists[:, layout.L_COUNT] > 0]
    capacities = live[:, layout.L_COUNT] + live[:, layout.L_COUNT] // 4
    starts = np.cumsum(capacities) - capacities
    total = int(capacities.sum())
    postings = np.zeros((max(256, total + total // 4), layout.POSTING), np.int64)
    old = arrays.postings.reshape(-1, layout.POSTING)
    into, source = _moves(live[:, layout.L_START], live[:, layout.L_COUNT], starts)
    postings[into] = old[source]
    which = np.flatnonzero(lists[:, layout.L_COUNT] > 0)
    lists[which, layout.L_START] = starts
    lists[which, layout.L_CAPACITY] = capacities
    arrays.state[layout.POSTINGS] = total
    arrays.replace("postings", postings.reshape(-1))


def pack_words(arrays: Arrays) -> None:
    """Move the blocks of conjunctions and programs together."""
    conjunctions = arrays.conjunctions.reshape(-1, layout.CONJUNCTION)[: arrays.state[layout.CONJUNCTIONS]]
    programs = arrays.programs.reshape(-1, layout.PROGRAM)
    filters = np.flatnonzero(conjunctions[:, layout.C_SUBSCRIPTION] >= 0)
    functions = np.flatnonzero(programs[:, layout.R_WORDS] > 0)
    firsts = np.concatenate([conjunctions[filters, layout.C_FIRST], programs[functions, layout.R_FIRST]]).astype(
        np.int64
    )
    sizes = np.concatenate([conjunctions[filters, layout.C_SIZE], programs[functions, layout.R_WORDS]]).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    words = np.zeros(max(4_096, total + total // 4), np.int64)
    into, source = _moves(firsts, sizes, starts)
    words[into] = arrays.words[source]
    conjunctions[filters, layout.C_FIRST] = starts[: filters.size]
    _update_postings(arrays, conjunctions[filters])
    programs[functions, layout.R_FIRST] = starts[filters.size :]
    arrays.state[layout.WORDS], arrays.state[layout.WORDS_DEAD] = total, 0
    arrays.replace("words", words)


def _update_postings(arrays: Arrays, conjunctions: np.ndarray[Any, Any]) -> None:
    """Update the postings, which hold the first word of their conjunction's block."""
    lists = arrays.lists.reshape(-1, layout.LIST)
    at = lists[conjunctions[:, layout.C_LIST], layout.L_START] + conjunctions[:, layout.C_PLACE]
    blocks = arrays.postings.reshape(-1, layout.POSTING)[:, layout.P_BLOCK]
    blocks[at] = (blocks[at] & ~np.int64(0xFFFFFFFF)) | conjunctions[:, layout.C_FIRST]


def _moves(
    firsts: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any], starts: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The new and the old index of each item of these blocks."""
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(starts, sizes) + within, np.repeat(firsts, sizes) + within
