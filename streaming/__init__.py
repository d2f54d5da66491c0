"""Bulk matching on Spark Structured Streaming: records, the step that matches a batch of them, and its hosts."""
