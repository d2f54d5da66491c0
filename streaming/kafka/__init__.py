"""Kafka: its topics, sessions over it, and the job that reads and writes it."""
