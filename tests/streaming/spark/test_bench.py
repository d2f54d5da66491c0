"""The stream benchmark on real Spark: it agrees with the naive implementation, and no figure is missing."""

import pytest

from silbo.bench import agreement, context, matching


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Use the smallest sizes that still show that everything works."""
    monkeypatch.setattr(agreement, "ENOUGH", 20)
    monkeypatch.setattr(agreement, "SCANS", 3)
    monkeypatch.setattr(matching, "WARM_UP", 100)
    monkeypatch.setattr(matching, "CHANGED", 100)
    monkeypatch.setattr(matching, "COMPARED", 50)
    monkeypatch.setattr(context, "WARM_UP", 100)
    monkeypatch.setattr(context, "CHANGES", 200)
    monkeypatch.setattr(context, "SIENA_CHANGES", 20)
    monkeypatch.setattr(context, "REPEATS", 3)


def test_the_stream_benchmark_agrees_with_the_naive_implementation_and_has_every_figure(spark):
    from silbo.bench.stream import Plan, measure

    plan = Plan(rounds=2, together=1_000, moves=400, beside=40, quiet=2, few=5, rate=200, seconds=1.0, warm=0.0)
    found = measure(spark, 500, None, 1, plan)
    assert found["agrees"]
    assert found["notifications"] > 0
    assert found["cache_hits"] <= found["cache_asked"]
    assert 0 < found["latency_ms"]["p50"] <= found["latency_ms"]["p99"]
    assert found["naive_ratio"] > 0
    assert {"publications_per_s", "contexts_per_s", "batch_ms", "executors", "untouched", "memory_mb"} <= found.keys()
