"""`wallflower` and `python -m wallflower`."""

from __future__ import annotations

import sys


def main() -> None:
    from wallflower.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
