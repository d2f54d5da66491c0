"""Benchmarks: seeded workloads, silbo's times for them, and the times of other methods in the same run."""
