"""Where a program that a test starts looks for modules."""

from __future__ import annotations

import os
from pathlib import Path


def searched(*folders: Path) -> str:
    """A PYTHONPATH: what it is here comes first, so that a changed copy of the package (`scripts/mutations.py`) is run there too."""
    return os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), *map(str, folders))))
