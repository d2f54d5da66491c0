"""Labels for the figures that `silbo bench` prints; `--json` has the keys themselves.

A key without a label, such as one of the machine's versions, is printed with spaces in place of its underscores.
"""

from __future__ import annotations

from collections.abc import Sequence

LABELS = {
    # matching
    "events": "publications",
    "matches_per_event": "matches per publication",
    "candidates_per_event": "candidates per publication",
    "visited_per_event": "postings visited per publication",
    "match_us": "match, µs:",
    "publish_us": "publish, µs:",
    "build_s": "building the index, s",
    "rss_mb": "memory of the process, MB",
    "bytes_per_subscription": "index and contexts, bytes per subscription",
    "deliveries_per_publish": "notifications per publication",
    "delivery_us": "publish beyond match, µs per notification",
    "apply_events_per_s": "batch kernel, publications per second",
    "apply_contexts_per_s": "batch kernel, context changes per second",
    "subscribe_us": "subscribe with a filter that was read before, µs",
    "parse_us": "reading the text of a new filter, µs of CPU",
    "add_us": "adding a subscription to the index, µs",
    "remove_us": "removing a subscription from the index, µs",
    "cold_start_s": "first notification of a new process, kernels not compiled, s",
    "cold_cpu_s": "the same, s of CPU",
    "warm_start_s": "first notification of a new process, kernels compiled, s",
    "agrees": "answers agree",
    "agrees_on": "compared with the oracle:",
    "near_misses": "near misses",
    "baselines": "against",
    "numpy_brute": "numpy over all subscriptions:",
    "numpy_context_first": "numpy, context first:",
    "siena_style": "SIENA, the box in the filters:",
    "us": "its match, µs",
    "ours_us": "silbo's match of the same publications, µs",
    "p99": "99th percentile",
    "p50": "median",
    # context
    "table_us": "write to the context table, µs",
    "set_context_us": "set_context, µs:",
    "slope": "set_context with 50 subscriptions, as a multiple of that with none",
    "bulk_ns": "set_contexts, ns per row:",
    "plain": "no grid",
    "grid": "with a grid",
    "siena_us": "the same change with the box in the filters, µs:",
    "ratio": "as a multiple of silbo's",
    # stream
    "load_s": "loading the subscriptions, s",
    "publications_per_s": "publications per second",
    "contexts_per_s": "context changes per second",
    "beside_publications_per_s": "publications per second among the context changes",
    "batch_ms": "a batch, ms:",
    "latency_ms": "from publish to notification, ms:",
    "untouched": "a batch that matches nothing:",
    "step_ms": "matching step, ms",
    "folds": "batches that folded state",
    "fold_ms": "a batch that folded state, ms",
    "small_subscriptions": "subscriptions of the small job, for comparison",
    "small_batch_ms": "batch of the small job, ms",
    "cache_hits": "shard states found in a worker",
    "cache_asked": "shard states asked for",
    "naive_publications_per_s": "Spark SQL join, publications per second",
    "naive_ratio": "silbo's rate as a multiple of the join's",
    "memory_mb": "peak memory, MB",
}
# labels of keys whose meaning depends on their path
PLACED = {
    ("ratio",): "the box in the filters at 10 subscriptions, as a multiple of set_context",
    ("untouched", "batch_ms"): "a batch that matches nothing: ms",
    ("untouched", "ratio"): "a batch that matches nothing: as a multiple of the small job's batch",
}


def label(path: Sequence[str]) -> str:
    """The label of a figure, given the keys that lead to it."""
    placed = PLACED.get(tuple(path))
    return placed if placed is not None else " ".join(map(_word, path))


def _word(key: str) -> str:
    if key.isdecimal():
        return f"{int(key):,} subscription{'s' * (key != '1')} each:"
    return LABELS.get(key, key.replace("_", " "))
