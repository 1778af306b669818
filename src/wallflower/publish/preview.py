"""A look at a publication before it is paid for: at the owner's desk, never for an asker."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from wallflower.errors import UsageError
from wallflower.schema.exact import shown


def refuse_too_small(seen: Mapping[str, Any], *, most: Fraction) -> None:
    """Refuse a publication that would leave out more than a share `most` of the rows. `seen` is what `PlainTable.inspect` gives.

    The refusal itself says something about the rows, so it is for whoever may look at them.

    >>> refuse_too_small({"numbers": {"left out": 10, "rows": 100}}, most=Fraction(1, 10))
    """
    numbers = seen["numbers"]
    if numbers["left out"] > most * numbers["rows"]:
        raise UsageError(
            f"more than {shown(most)} of the rows would be left out, so nothing was published and nothing was charged.",
            hint="A smaller k, fewer columns, or a larger p or d leave out less; --dry-run --owner-report shows how much.",
        )
