"""The core: tables and rules. It takes events and does no I/O."""
