"""Engines by name: sessions by URL, and logs replayed on any of them."""
