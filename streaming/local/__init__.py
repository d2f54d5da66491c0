"""Everything on one machine: the local log, Kafka for trials, and the Java programs and jars that they need."""
