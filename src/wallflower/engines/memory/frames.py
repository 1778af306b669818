"""Columns of pandas and polars frames and Arrow tables as Arrow arrays, without importing a library nobody uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wallflower.engines.memory.dialect import refused
from wallflower.engines.reading_rule import cell_text
from wallflower.errors import UsageError


def library_of(frame: Any) -> str:
    """Which of the three libraries the frame comes from."""
    for base in type(frame).__mro__:
        found = (base.__module__.partition(".")[0], base.__name__)
        if found in {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}:
            return found[0]
    raise UsageError(
        f"a table must be a pandas or polars DataFrame or a pyarrow Table, got {type(frame).__name__}.",
        hint="Collect a lazy frame first; name a file in the declaration's `source` instead of passing its path.",
    )


def column_names(frame: Any) -> list[str]:
    names = frame.column_names if library_of(frame) == "pyarrow" else frame.columns
    return [name for name in names if isinstance(name, str)]


def arrow_column(frame: Any, name: str, text: Callable[[object], str | None] = cell_text) -> Any:
    """One column as an Arrow array; its type comes from the frame's own, never from what the cells hold.

    `text` writes a cell that carries its own type.
    """
    import pyarrow as pa

    library = library_of(frame)
    if library == "pyarrow":
        return frame.column(name)
    series = frame[name]
    if library == "polars":
        if str(series.dtype).startswith("Object"):
            raise refused(name)
        return _to_arrow(series, name)
    if str(series.dtype) == "object":
        # Each cell by its own type: were Arrow to infer one for all, a single row would change how the others are read.
        return _texts(series, text)
    if str(series.dtype) == "category":
        codes = series.cat.codes.to_numpy()
        return _texts(series.dtype.categories, text).take(pa.array(codes, mask=codes < 0))
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        unsupported = not str(series.dtype).startswith("str")
    if unsupported:
        raise refused(name)
    return _texts(series, text)  # texts that Arrow cannot hold, such as lone surrogates


def _to_arrow(series: Any, name: str) -> Any:
    """Integers of 128 bits are polars' alone: a type that Arrow lacks, whatever is in it."""
    if str(series.dtype) not in {"Int128", "UInt128"}:
        return series.to_arrow()
    raise refused(name)


def _texts(cells: Any, text: Callable[[object], str | None]) -> Any:
    import pyarrow as pa

    return pa.array([text(value) for value in cells], type=pa.large_string())


def without_rows(frame: Any) -> Any:
    """The frame's names and types."""
    return frame.slice(0, 0) if library_of(frame) == "pyarrow" else frame.head(0)
