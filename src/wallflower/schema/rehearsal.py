"""[rehearsal]: a small picture of the world from public knowledge, and public rows, to try questions on.

No promise depends on it: it is outside the fingerprint, and changing it changes nothing that was answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from pathlib import Path

from wallflower.errors import nearest_name
from wallflower.schema.declaration import Column, Group, World
from wallflower.schema.domains import EPOCH, Categories, Dates
from wallflower.schema.section import Section, fraction

KEYS = ("rows", "outliers", "public", "groups")
GROUP_KEYS = ("share", "centre", "spread")
MOST_ROWS = 1_000_000


def read_world(file: Section, columns: Mapping[str, Column | None], folder: Path) -> World | None:
    """The declared picture; None when there is none."""
    section = file.section("rehearsal", KEYS)
    if section is None:
        return None
    outliers = section.number("outliers")
    if outliers is not None and not 0 <= outliers < 1:
        section.wrong("outliers", "a share of the rows, at least 0 and below 1")
    public = section.text("public")
    groups = tuple(_group(one, name, columns) for name, one in section.sections("groups", GROUP_KEYS))
    total = sum((group.share for group in groups), start=Fraction(0))
    if total > 1:
        section.refuse("groups", f"the shares of the groups add up to {total}, more than 1.")
    return World(
        rows=section.whole("rows", least=1, most=MOST_ROWS),
        outliers=outliers,
        public=None if public is None else folder / public,
        groups=groups,
    )


def _group(section: Section, name: str, columns: Mapping[str, Column | None]) -> Group:
    section.need("share", 'share = "0.7"')
    share = section.number("share")
    if share is not None and not 0 < share <= 1:
        section.wrong("share", "above 0 and at most 1")
    centre, spread = section.raw.get("centre", {}), section.raw.get("spread", {})
    for key, written in (("centre", centre), ("spread", spread)):
        if not isinstance(written, dict):
            section.wrong(key, "a table such as {age = 40, salary = 90000}")
    return Group(
        name=name,
        share=share or Fraction(0),
        centre=_centre(section, centre, columns) if isinstance(centre, dict) else {},
        spread=_spread(section, spread, columns) if isinstance(spread, dict) else {},
    )


def _known(section: Section, key: str, name: str, columns: Mapping[str, Column | None]) -> Column | None:
    if name not in columns:
        section.refuse(key, f"column '{name}' is not declared.", nearest_name(name, columns), at=(name,))
    column = columns.get(name)
    if column is not None and column.domain is None:
        section.refuse(key, f"column '{name}' is an identifier: it has no values to make up.", at=(name,))
        return None
    return column


def _centre(section: Section, written: Mapping[str, object], columns: Mapping[str, Column | None]) -> dict[str, int]:
    """Codes of categories, or numbers of steps."""
    found: dict[str, int] = {}
    for name, value in written.items():
        column = _known(section, "centre", name, columns)
        if column is None or column.domain is None:
            continue
        domain = column.domain
        if isinstance(domain, Categories):
            code = domain.code(value) if isinstance(value, str) else None
            expected = "one of its declared values"
        elif isinstance(domain, Dates):
            code, expected = _day(value), "a date such as 2024-01-31"
        else:
            exact = fraction(value)
            code, expected = (None if exact is None else domain.number(exact)), "a number"
        if code is None or (not isinstance(domain, Categories) and not domain.first <= code <= domain.last):
            section.wrong("centre", f"{expected}, within the bounds of '{name}'", got=value, at=(name,))
        else:
            found[name] = code
    return found


def _day(value: object) -> int | None:
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return (day - EPOCH).days if type(day) is date else None


def _spread(
    section: Section, written: Mapping[str, object], columns: Mapping[str, Column | None]
) -> dict[str, Fraction]:
    """In the column's own units; days for dates."""
    found: dict[str, Fraction] = {}
    for name, value in written.items():
        column = _known(section, "spread", name, columns)
        if column is None:
            continue
        exact = fraction(value)
        if isinstance(column.domain, Categories):
            section.refuse("spread", f"column '{name}' holds texts, which have no spread.", at=(name,))
        elif exact is None or exact < 0:
            section.wrong("spread", "a number of at least 0", got=value, at=(name,))
        else:
            found[name] = exact
    return found
