"""Covering: compare two filters without a message."""
