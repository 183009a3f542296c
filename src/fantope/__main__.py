"""``python -m fantope`` is the command ``fantope``."""

from fantope.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
