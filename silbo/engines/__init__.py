"""Engines by name: connect by URL, and replay logs on any engine."""
