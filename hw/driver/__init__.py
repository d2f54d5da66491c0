"""The driver: one class over a `Device`, which is a board, the simulated RTL, or a recording fake."""
