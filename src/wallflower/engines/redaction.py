"""Nothing that a library says about rows gets past this file: DuckDB, Arrow and pandas quote cells in their errors."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from wallflower.errors import DeclarationError, ReleaseFailed, UsageError, WallflowerError

Value = TypeVar("Value")
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM})


def quietly(
    work: Callable[[], Value],
    otherwise: Callable[[], WallflowerError],
    *,
    short: Callable[[], WallflowerError] | None = None,
) -> Value:
    """The value of `work`; when a library fails in it, `otherwise()` without a trace of what the library said.

    With `short`, that is raised instead where memory or room has run out.
    """
    try:
        return work()
    except WallflowerError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it says may quote a row, so it ends here
        because = short if short is not None and _is_shortage(error) else otherwise
    # Raised outside the handler: inside it, even `from None` would keep the library's error as __context__.
    raise because()


def quietly_each(begin: Callable[[], Iterator[Value]], otherwise: Callable[[], WallflowerError]) -> Iterator[Value]:
    """What `begin()` gives, one after the other; a library that fails on the way is told of as in `quietly`."""
    found = quietly(begin, otherwise)
    try:
        while True:
            each = quietly(lambda: next(found, None), otherwise)
            if each is None:
                return
            yield each
    finally:
        if isinstance(found, Generator):
            found.close()


def broken() -> WallflowerError:
    """Something failed while rows were being read."""
    return ReleaseFailed("the rows could not be read.", hint="Run `wallflower check` on the declaration.")


def unreadable(path: Path) -> WallflowerError:
    """The file as a whole is not what its name or its first bytes say."""
    return DeclarationError(
        f"the source '{path.name}' cannot be read as the kind of file that it seems to be.",
        hint="Check that the file is whole, that you may read it, and that its ending says what it is.",
    )


def damaged(path: Path) -> WallflowerError:
    """The file says what its columns are, and not what is in them."""
    return DeclarationError(
        f"the source '{path.name}' is damaged: its columns have names and types, and their cells cannot all be read.",
        hint="It may have been cut off or overwritten: write or fetch it anew. Nothing has been charged for this.",
    )


def no_room() -> WallflowerError:
    """Reading took more than there is."""
    return UsageError(
        "there is not enough memory, or not enough room for temporary files, to read the rows.",
        hint="Set TMPDIR to a folder with room to spare. A damaged file can also ask for more than it holds: "
        "`wallflower check` reads it too.",
    )


def _is_shortage(error: Exception) -> bool:
    """Whether memory or room on a disk has run out; libraries are known by the names of their errors, and are not loaded for it."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return True
    if isinstance(error, OSError):
        return error.errno in FULL
    return type(error).__module__.partition(".")[0].lstrip("_") == "duckdb" and os.strerror(errno.ENOSPC) in str(error)


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that only this user can enter, gone when the block ends, however it ends."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="wallflower-"))  # mkdtemp makes it with mode 0700
    except OSError as error:
        raise UsageError(
            f"there is no folder for temporary files that can be written ({type(error).__name__}).",
            hint="Set TMPDIR to a folder of your own with room to spare; `wallflower doctor` says whether it will do.",
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
