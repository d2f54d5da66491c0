"""What only silbo's own tests need; programs that use silbo have no use for it, and it may change at any time."""
