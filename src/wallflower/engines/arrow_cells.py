"""Arrow columns whose bytes are not what their type says."""

from __future__ import annotations

from typing import Any


def readable_texts(cells: Any) -> Any:
    """The same column with U+FFFD, which is unreadable, in place of bytes that are no text; other columns as they are."""
    import pyarrow as pa
    import pyarrow.types as t

    if not (t.is_string(cells.type) or t.is_large_string(cells.type)):
        return cells
    raw = cells.cast(pa.large_binary() if t.is_large_string(cells.type) else pa.binary()).to_pylist()
    return pa.array([None if cell is None else cell.decode("utf-8", "replace") for cell in raw], type=cells.type)
