"""The domain of a column as its owner wrote it: a list or file of values, a range of numbers, or a range of dates."""

from __future__ import annotations

import csv
import re
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

from wallflower.errors import DeclarationError
from wallflower.schema.domains import EPOCH, Categories, Dates, Domain, Numbers
from wallflower.schema.exact import shown
from wallflower.schema.problems import said
from wallflower.schema.section import Section, fraction

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_domain(section: Section, folder: Path) -> Domain | None:
    numeric = [key for key in ("lower", "upper", "step") if key in section]
    if "values" in section:
        for key in numeric:
            section.refuse(
                key,
                f"'{key}' cannot stand beside 'values'.",
                "A column is either a list of values or a range of numbers.",
            )
        return _categories(section, folder)
    if not numeric:
        if not section.meant & {"values", "lower", "upper", "step"}:
            section.problems.add(
                section.path,
                f"{section.title} needs a domain.",
                "Write values = [...] for categories; lower, upper and step for numbers; lower and upper for dates.",
            )
        return None
    whole = section.need("lower", "lower = 0") & section.need("upper", "upper = 100")
    if any(_day(section.raw.get(key)) for key in ("lower", "upper")):
        return _dates(section)
    whole &= section.need("step", 'step = 1 for whole numbers, or step = "0.01" for hundredths')
    lower, upper, step = (section.number(key) for key in ("lower", "upper", "step"))
    if not whole or lower is None or upper is None or step is None:
        return None
    return _numbers(section, lower, upper, step)


def _numbers(section: Section, lower: Fraction, upper: Fraction, step: Fraction) -> Numbers | None:
    if step <= 0:
        section.wrong("step", "above 0")
        return None
    for key, bound in (("lower", lower), ("upper", upper)):
        if (bound / step).denominator != 1:
            below, above = (bound // step) * step, (bound // step + 1) * step
            section.wrong(
                key,
                f"a whole number of steps of {shown(step)}",
                f"The nearest are {shown(below)} and {shown(above)}.",
            )
            return None
    if lower >= upper:
        section.wrong("upper", f"above lower ({shown(lower)})")
        return None
    try:
        return Numbers(lower=lower, upper=upper, step=step)
    except DeclarationError as error:
        section.refuse("step", error.message, error.hint)
        return None


def _dates(section: Section) -> Dates | None:
    if "step" in section:
        section.refuse("step", "'step' is for numbers, and dates are counted in days.", "Leave 'step' out.")
    lower, upper = _day(section.raw.get("lower")), _day(section.raw.get("upper"))
    for key, day in (("lower", lower), ("upper", upper)):
        if day is None and key in section:
            section.wrong(key, "a date, as the other bound is", "For example 2020-12-31.")
    if lower is None or upper is None:
        return None
    if lower >= upper:
        section.wrong("upper", f"after lower ({lower})")
        return None
    return Dates(lower=lower, upper=upper)


def _day(value: object) -> date | None:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if isinstance(value, str) and _ISO_DATE.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None
    return None


def _categories(section: Section, folder: Path) -> Categories | None:
    written = section.raw["values"]
    if isinstance(written, str):
        values = _values_file(section, folder / written, written)
        if values is None:
            return None
    elif isinstance(written, list) and written:
        values = []
        for place, item in enumerate(written):
            if isinstance(item, bool) or not isinstance(item, str | int) or item == "":
                section.wrong(
                    "values", "a list of texts in quotes", "Values are compared as text.", got=item, at=(place,)
                )
                return None
            values.append(str(item))
    else:
        section.wrong("values", 'a list of at least one text, or the name of a file such as "values.csv"')
        return None
    seen: set[str] = set()
    for place, value in enumerate(values):
        if value in seen:
            section.refuse(
                "values",
                f"'values' holds {said(value)} twice.",
                "Every declared value stands once.",
                at=(place,) if isinstance(written, list) else (),
            )
            return None
        seen.add(value)
    return Categories(tuple(values))


def _values_file(section: Section, path: Path, written: str) -> list[str] | None:
    """One value a line and no header; quoted where it holds a comma."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = [(row, reader.line_num) for reader in [csv.reader(lines, strict=True)] for row in reader if row]
    except (OSError, ValueError, csv.Error) as error:  # a value error: no text, or no name that a file can have
        reason = error.strerror if isinstance(error, OSError) else str(error)
        section.refuse(
            "values", f"the values file {said(written)} cannot be read: {reason}.", "It is looked for beside this file."
        )
        return None
    for row, number in rows:
        if row == [""]:
            section.refuse(
                "values", f"line {number} of {said(written)} is an empty text.", "That is for 'missing' to say."
            )
            return None
        if len(row) != 1:
            section.refuse(
                "values",
                f"line {number} of {said(written)} has {len(row)} columns, and one value a line was expected.",
                "Put quotes around a value that holds a comma.",
            )
            return None
    if not rows:
        section.refuse("values", f"the values file {said(written)} is empty.", "It holds one value a line, no header.")
        return None
    return [row[0] for row, _ in rows]


def number_of(domain: Domain, written: object) -> int | None:
    """The code or the number of steps of a declared value; None when it is not one."""
    if isinstance(domain, Categories):
        return None if isinstance(written, bool) or not isinstance(written, str | int) else domain.code(str(written))
    value = own_units(domain, written)
    if value is None or (value / domain.step).denominator != 1:
        return None
    number = int(value / domain.step)
    return number if domain.first <= number <= domain.last else None


def own_units(domain: Numbers | Dates, written: object) -> Fraction | None:
    if isinstance(domain, Numbers):
        return fraction(written)
    day = _day(written)
    return Fraction((day - EPOCH).days) if day else None
