"""Cells as ARX publishes them: `*`, `[20, 30[` and `{A, B}`, read as intervals of a declared domain."""

from __future__ import annotations

import re
from collections.abc import Callable

from wallflower.schema.domains import Categories, Dates, Numbers

SUPPRESSED = "*"
_INTERVAL = re.compile(r"(?P<opens>[\[\]]) *(?P<low>[^,\[\]]+?) *, *(?P<high>[^,\[\]]+?) *(?P<closes>[\[\]])")


def arx_interval(
    text: str, domain: Categories | Numbers | Dates, place: Callable[[str], int | None]
) -> tuple[int, int] | None:
    """The places, counted from the first declared one, that a cell of ARX's output covers; None when it is none of them.

    A bracket that turns away leaves its end out: `[20, 30[` is 20 to below 30. What lies beyond the declared bounds is cut off.
    """
    if text == SUPPRESSED:
        return 0, domain.size - 1
    if isinstance(domain, Categories):
        return _run(text, place)
    found = _INTERVAL.fullmatch(text)
    if found is None:
        return None
    low, high = domain.read(found["low"]), domain.read(found["high"])
    if low is None or high is None:
        return None
    low += found["opens"] == "]"
    high -= found["closes"] == "["
    first, last = max(low, domain.first) - domain.first, min(high, domain.last) - domain.first
    return (first, last) if first <= last else None


def _run(text: str, place: Callable[[str], int | None]) -> tuple[int, int] | None:
    """A set of values that stand side by side in the declared order; any other set is no interval."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    places = [place(each.strip()) for each in text[1:-1].split(",")]
    known = sorted({each for each in places if each is not None})
    if None in places or not known or known[-1] - known[0] != len(known) - 1:
        return None
    return known[0], known[-1]
