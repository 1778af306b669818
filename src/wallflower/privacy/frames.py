"""An answer as a table of pandas, polars or Arrow, from nothing but what is released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallflower.errors import UsageError


def rows_of(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each part of an answer that has parts, else one row.

    >>> rows_of({"groups": [{"value": "a", "count": 3, "interval": None}]})
    [{'value': 'a', 'count': 3, 'interval_low': None, 'interval_high': None}]
    >>> rows_of({"answers": [{"asked": {"age": 37}, "anomalous": True}]})
    [{'age': 37, 'anomalous': True}]
    """
    parts = [item for item in value.values() if isinstance(item, list) and item and isinstance(item[0], Mapping)]
    return [_flat(row) for row in (parts[0] if len(parts) == 1 else [value])]


def frame_of(value: Mapping[str, Any] | None, kind: str) -> Any:
    """No answer is a table without rows."""
    import pyarrow as pa

    if kind not in {"pandas", "polars", "arrow"}:
        raise UsageError(f"'kind' must be pandas, polars or arrow, got '{kind}'.")
    table = pa.Table.from_pylist([] if value is None else rows_of(value))
    if kind == "arrow":
        return table
    try:
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame({name: table[name].to_pylist() for name in table.column_names})
        import polars as pl

        return pl.DataFrame({name: table[name].to_pylist() for name in table.column_names})
    except ImportError:
        raise UsageError(f"{kind} is not installed.", hint=f"Run: pip install {kind}. Or ask for 'arrow'.") from None


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in row.items():
        if isinstance(item, Mapping):
            found |= {str(inner): list(part) if isinstance(part, tuple) else part for inner, part in item.items()}
        elif name == "interval":
            found["interval_low"], found["interval_high"] = (None, None) if item is None else (item[0], item[1])
        else:
            found[name] = item
    return found
