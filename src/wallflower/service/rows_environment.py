"""Credentials for rows, in a file that workers alone read: lines NAME=value, as systemd's EnvironmentFile has them.

The web process and the clerk answer strangers and open no rows; they never hold what opens them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from wallflower.errors import UsageError

_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)")


def read(path: Path) -> dict[str, str]:
    """The settings of the file; one that others can read is refused, and no error quotes a value."""
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"'{path.name}' of rows_environment cannot be read ({type(error).__name__}).") from None
    if mode & 0o077:
        raise UsageError(
            f"'{path.name}' of rows_environment can be read by others.", hint=f"Run: chmod 600 {path.name}"
        )
    found: dict[str, str] = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise UsageError(f"line {number} of '{path.name}' is not NAME=value.")
        found[parts[1]] = parts[2]
    return found


def take_over(path: Path | None) -> None:
    """Put them into this process's environment, before anything is connected."""
    if path is not None:
        os.environ.update(read(path))
