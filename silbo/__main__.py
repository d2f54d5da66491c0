"""`python -m silbo` is the program `silbo`."""

import sys

from silbo.cli import main

if __name__ == "__main__":
    sys.exit(main())
