"""Matching: filters, covering, the oracle, and the indexes that find candidates."""
