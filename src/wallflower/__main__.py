"""`wallflower` and `python -m wallflower`."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    from wallflower.cli.app import run

    signal.signal(signal.SIGTERM, _stop)
    sys.exit(run(sys.argv[1:]))


def _stop(number: int, _frame: object) -> None:
    """Leave as by an exception, so that the private folders that may hold rows are removed."""
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
