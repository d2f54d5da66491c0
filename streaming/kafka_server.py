"""Run Apache Kafka on this machine: the program `python -m silbo.streaming.kafka_server`."""

import sys

from silbo.streaming.local.kafka_server import main

if __name__ == "__main__":
    sys.exit(main())
