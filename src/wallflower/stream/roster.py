"""The sensors of a stream: their names, and the part of the stream that each belongs to."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from wallflower.errors import UsageError, nearest_name
from wallflower.schema.section import Section

RESERVED = ("analyst", "corrector")
"""No sensor may have these names: the broker lets every party write under its own name, and only sensors have readings."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
IN_WORDS = "1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit"


def read_roster(section: Section, folder: Path) -> tuple[str, ...]:
    """The declared names: a list, or a text file beside the declaration with one name a line."""
    written = section.raw.get("roster")
    if written is None:
        return ()
    if isinstance(written, str):
        try:
            lines = (folder / written).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):  # no text, or no name that a file can have
            section.wrong("roster", "a list of names, or the name of a readable text file with one name a line")
            return ()
        names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    elif isinstance(written, list) and all(isinstance(each, str) for each in written):
        names = written
    else:
        section.wrong("roster", "a list of names in quotes, or the name of a text file")
        return ()
    seen: set[str] = set()
    for name in names:
        if not NAME.fullmatch(name):
            section.refuse("roster", f"a sensor's name is {IN_WORDS}, got {name!r}.", "For example boiler-7.")
        elif name in RESERVED:
            section.refuse("roster", f"'{name}' is another party's name.", "For example boiler-7.")
        elif name in seen:
            section.refuse("roster", f"'{name}' stands on the roster twice.", "Two sensors need two names.")
        seen.add(name)
    if not names:
        section.refuse("roster", "the roster names no sensor.", 'For example roster = ["boiler-7"].')
    return tuple(names)


def rostered(name: str, roster: tuple[str, ...]) -> str:
    """`name`, if it is a sensor of this stream."""
    if not NAME.fullmatch(name):
        raise UsageError(f"a sensor's name is {IN_WORDS}, got {name!r}.", hint="For example --name boiler-7.")
    if name not in roster:
        raise UsageError(
            f"'{name}' is not on the stream's roster, so nobody would listen to it.", hint=nearest_name(name, roster)
        )
    return name


def part_of(name: str, partitions: int) -> int:
    """Which part of the stream a sensor belongs to: by its name alone, the same on every machine and for ever."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % partitions
