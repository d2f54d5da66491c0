"""The wire: events, records and lines of logs as bytes, and back. It is pure: no socket, no file, no clock."""
