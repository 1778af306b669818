"""`memory = "4 GiB"`: how much of the rows one process may hold."""

from __future__ import annotations

import re

from wallflower.schema.declaration import MEMORY
from wallflower.schema.section import Section

_SIZE = re.compile(r"([1-9][0-9]{0,5}) ?([KMGT])iB")
_POWERS = {"K": 10, "M": 20, "G": 30, "T": 40}


def read_memory(table: Section) -> int:
    """In bytes; 4 GiB where nothing is said."""
    text = table.raw.get("memory")
    if text is None:
        return MEMORY
    found = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        table.wrong("memory", 'a size in quotes such as "4 GiB" (KiB, MiB, GiB or TiB)')
        return MEMORY
    return int(found[1]) << _POWERS[found[2]]
