"""The broker in this process: `memory://`."""
