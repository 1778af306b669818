"""A question in full, as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from wallflower.errors import UsageError
from wallflower.schema.exact import shown
from wallflower.session.queries import Query


def description(query: Query) -> dict[str, Any]:
    """The question in full, as JSON: what the ledger keeps and what a request id is compared by."""
    described = _described(query)
    if not isinstance(described, dict):
        raise UsageError(f"a query is a frozen dataclass, got {type(query).__name__}.")
    return {"command": query.name, **described}


def _described(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = {field.name: _described(getattr(value, field.name)) for field in dataclasses.fields(value)}
        if inner.keys() & {"command", "kind"}:
            raise UsageError(
                f"a field of {type(value).__name__} is called 'command' or 'kind', which would hide what it is."
            )
        return {"kind": type(value).__name__, **inner}
    if isinstance(value, Fraction):
        return shown(value)
    if isinstance(value, Mapping):
        return {str(key): _described(item) for key, item in value.items()}
    if isinstance(value, list | tuple | frozenset | set):
        items = [_described(item) for item in value]
        return sorted(items, key=str) if isinstance(value, frozenset | set) else items
    if isinstance(value, str | Path):
        return _encodable(str(value))
    if value is None or isinstance(value, bool | int):
        return value
    raise UsageError(
        f"a query cannot hold a {type(value).__name__}: the ledger could not say what was asked.",
        hint="Use text, whole numbers, exact fractions, or frozen dataclasses of them.",
    )


def _encodable(text: str) -> str:
    """Text that can be written down; the command line lets bytes through that are no text."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"{text!a} is not text.", hint="Write it in UTF-8.")
    return text
