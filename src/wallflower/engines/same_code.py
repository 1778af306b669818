"""Whether another process runs the code that this one runs: a task that was sent there must mean the same.

Tasks travel by the names of their functions. Where another version is installed a name may mean something else, and the answer would be
another table's; so the sources are compared, and not only the version's number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wallflower.errors import DeclarationError, ReleaseFailed
from wallflower.version import __version__

PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Installed:
    """What is installed where a task runs."""

    version: str
    digest: str
    """Of every source file of this package."""

    def refuse_another(self) -> None:
        """Called by every task, where it runs: an executor that joined late is looked at, too."""
        if installed() != self:
            raise ReleaseFailed("an executor has another version of Wallflower.")


@cache
def installed() -> Installed:
    """What this process runs."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        name, content = path.relative_to(PACKAGE).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{name}\n{content}\n".encode())
    return Installed(__version__, found.hexdigest())


def look(_payload: object) -> Installed:
    """A task that says what is installed where it runs."""
    return installed()


def compare(found: Sequence[Installed]) -> None:
    """Refuse, in words, executors that do not run what this process runs."""
    here = installed()
    for each in found:
        if each.version != here.version:
            raise DeclarationError(
                f"an executor has Wallflower {each.version}, and this process {here.version}.",
                hint="Install the same version everywhere, or leave out executors = true: then this process compares the rows.",
            )
        if each != here:
            raise DeclarationError(
                f"an executor has other files of Wallflower {here.version} than this process.",
                hint="Install the same package everywhere, or leave out executors = true: then this process compares the rows.",
            )
