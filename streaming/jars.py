"""Print the jars that `spark-submit` needs for Kafka: the program `python -m silbo.streaming.jars`."""

import sys

from silbo.streaming.local.jars import main

if __name__ == "__main__":
    sys.exit(main())
