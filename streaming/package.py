"""Write the files for `spark-submit`: the program `python -m silbo.streaming.package`."""

import sys

from silbo.streaming.local.package import main

if __name__ == "__main__":
    sys.exit(main())
