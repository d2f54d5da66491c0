"""The papers' experiments, one room for each paper, and what their reports share."""
