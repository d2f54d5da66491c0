"""The driver: one class over a `Device`, which is a board, the simulated RTL, or a fake with a script."""
