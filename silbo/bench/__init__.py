"""Figures on demand: seeded workloads, what silbo takes for them, and what other ways take in the same run."""
