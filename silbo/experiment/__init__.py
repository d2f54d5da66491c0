"""The paper's experiment against SIENA, run again on this machine: figures, trade-off, and what goes beyond it."""
