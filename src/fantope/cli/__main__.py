"""Lets `python -m fantope.cli` stand in for the `fantope` script."""

import sys

from fantope.cli import main

if __name__ == "__main__":
    sys.exit(main())
