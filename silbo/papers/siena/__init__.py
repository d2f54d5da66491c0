"""The paper's experiment against SIENA, repeated on this machine: figures, trade-off, and extensions."""
