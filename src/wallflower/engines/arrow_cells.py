"""Arrow columns made of Python values, and numpy arrays made of Arrow columns, without a look at pandas.

Arrow's own `array`, `scalar` and `to_numpy` import pandas wherever it is installed, to learn its missing values: most of a second
for a command that has no use for it. Here columns are put together from, and taken apart into, their buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.schema.domains import EPOCH, Categories, Dates, Domain

_REALS = {"halffloat": np.float16, "float": np.float32, "double": np.float64}
"""Arrow's names that numpy takes for others."""


def texts(cells: Sequence[str | None]) -> Any:
    """A column of texts; None is missing."""
    import pyarrow as pa

    raw = [b"" if cell is None else cell.encode("utf-8") for cell in cells]
    ends = np.concatenate([[0], np.cumsum([len(each) for each in raw], dtype=np.int64)]).astype(np.int64)
    there = np.packbits(np.array([cell is not None for cell in cells], dtype=np.bool_), bitorder="little")
    buffers = [pa.py_buffer(there.tobytes()), pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(raw))]
    return pa.Array.from_buffers(pa.large_string(), len(raw), buffers)


def doubles(cells: Sequence[float]) -> Any:
    import pyarrow as pa

    return _plain(pa.float64(), np.array(cells, dtype=np.float64))


def whole(numbers: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    return _plain(pa.int64(), numbers)


def days(cells: Sequence[date]) -> Any:
    import pyarrow as pa

    return _plain(pa.date32(), np.array([(cell - EPOCH).days for cell in cells], dtype=np.int32))


def column_of(domain: Domain, numbers: Sequence[int]) -> Any:
    """Declared integers as a file would hold them: codes as texts, steps as doubles, days as dates."""
    if isinstance(domain, Categories):
        return texts([domain.values[number] for number in numbers])
    if isinstance(domain, Dates):
        return days([EPOCH + timedelta(days=number) for number in numbers])
    return doubles([float(domain.value(number)) for number in numbers])


def as_numpy(cells: Any) -> NDArray[Any]:
    """An array of numbers without nulls. It may share the column's memory, and then cannot be written to."""
    name = str(cells.type)
    kind = np.dtype(_REALS.get(name, name))
    if not len(cells):
        return np.zeros(0, kind)
    return np.frombuffer(cells.buffers()[1], kind, len(cells), cells.offset * kind.itemsize)


def mask(cells: Any) -> NDArray[np.bool_]:
    """A column of booleans, null as False."""
    import pyarrow as pa

    return as_numpy(filled(cells.cast(pa.uint8()), 0)).astype(np.bool_)


def filled(cells: Any, value: str | float) -> Any:
    """The column with `value` in place of nulls."""
    return cells.fill_null(scalar(value, cells.type)) if cells.null_count else cells


def scalar(value: str | float, type_: Any) -> Any:
    """A value of a column's own type: a text, or a number."""
    if isinstance(value, str):
        return texts([value]).cast(type_)[0]
    name = str(type_)
    return _plain(type_, np.array([value], dtype=_REALS.get(name, name)))[0]


def unfolded(cells: Any) -> Any:
    """A column of categories as the values they stand for. Texts get room: a long one may stand for many cells."""
    import pyarrow as pa
    import pyarrow.types as t

    values = cells.dictionary
    if t.is_string(values.type) or t.is_string_view(values.type):
        values = values.cast(pa.large_string())
    return values.take(cells.indices)


def readable_texts(cells: Any) -> Any:
    """The same column with U+FFFD, which is unreadable, in place of bytes that are no text; other columns as they are."""
    import pyarrow as pa
    import pyarrow.types as t

    if not (t.is_string(cells.type) or t.is_large_string(cells.type)):
        return cells
    raw = cells.cast(pa.large_binary() if t.is_large_string(cells.type) else pa.binary()).to_pylist()
    return texts([None if cell is None else cell.decode("utf-8", "replace") for cell in raw]).cast(cells.type)


def _plain(type_: Any, values: NDArray[Any]) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(values.tobytes())])
