"""Matching: filters, covering, the oracle, and the index that finds candidates."""
