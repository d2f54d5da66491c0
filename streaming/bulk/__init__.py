"""Bulk matching without Spark: records in, notifications out, batch after batch."""
