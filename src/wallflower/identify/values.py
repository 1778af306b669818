"""The values an asker gives, as texts, checked against the declaration and turned into the integers of rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from datetime import date
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError, nearest_name
from wallflower.identify.metric import Metric
from wallflower.schema.declaration import Declaration
from wallflower.schema.domains import Categories, Dates, Numbers
from wallflower.schema.exact import exact, quoted, shown
from wallflower.schema.fields import Field

Given = Mapping[str, str | int | Fraction | date]

MOST_SAID = 60
"""Characters of a text that a refusal repeats."""


def value_in_text(text: str) -> dict[str, str]:
    """`age=51,salary=900000`; quotes keep a comma inside a value: `"job=a, b",age=51`.

    >>> value_in_text('"job=a, b", age=51')
    {'job': 'a, b', 'age': '51'}
    """
    said = text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}…"
    try:
        (parts,) = list(csv.reader([text], skipinitialspace=True)) or [[]]
    except csv.Error:  # a line break outside quotes, or a cell without end
        parts = [""]
    found: dict[str, str] = {}
    for part in parts:
        name, equals, cell = part.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"a value is written col=v,col=v, got '{said}'.", hint="Quote a part that holds a comma.")
        if name.strip() in found:
            raise UsageError(f"column '{name.strip()[:MOST_SAID]}' stands twice in '{said}'.")
        found[name.strip()] = cell.strip()
    return found


def values_in_file(path: Path) -> list[dict[str, str]]:
    """A value for each line of a CSV file, under a header of columns."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *lines = list(csv.reader(file)) or [[]]
    except OSError:
        raise UsageError(f"'{path}' cannot be read.") from None
    except (UnicodeDecodeError, csv.Error):
        raise UsageError(f"'{path}' is not a CSV file in UTF-8.") from None
    names = [name.strip() for name in header]
    if not names or len(set(names)) != len(names):
        raise UsageError(f"the first line of '{path}' names the columns, each once.")
    found = []
    for number, line in enumerate(lines, start=2):
        if not line:
            continue
        if len(line) != len(names):
            raise UsageError(f"line {number} of '{path}' has {len(line)} cells, and the header has {len(names)}.")
        found.append(dict(zip(names, line, strict=True)))
    return found


def as_texts(values: Iterable[Given]) -> tuple[dict[str, str], ...]:
    """Every given value as text; a bare float is refused, because 0.1 is not one tenth in binary."""
    texts = []
    for value in values:
        if not isinstance(value, Mapping) or not value:
            raise UsageError(
                f"a value names its columns, such as {{'age': '51', 'salary': '900000'}}, got {quoted(value)}."
            )
        texts.append({str(name): _as_text(str(name), cell) for name, cell in value.items()})
    if not texts:
        raise UsageError("'values' must hold at least one value to ask about.")
    for text in texts[1:]:
        if set(text) != set(texts[0]):
            raise UsageError(
                f"every value names the same columns, got {', '.join(sorted(texts[0]))} and {', '.join(sorted(text))}."
            )
    return tuple(texts)


class Values(Field[Iterable[Given], tuple[dict[str, str], ...]]):
    """A field that takes values as they are given and holds them as texts."""

    def read(self, value: Iterable[Given]) -> tuple[dict[str, str], ...]:
        try:
            given = None if isinstance(value, str | bytes | Mapping) else tuple(value)
        except TypeError:  # nothing to go through
            given = None
        if given is None:
            raise UsageError(
                f"'{self._name}' must be a list of values, got {quoted(value)}.",
                hint='Write values=[{"age": "51", "salary": "900000"}] for one.',
            )
        return as_texts(given)


def _as_text(name: str, cell: str | int | Fraction | date) -> str:
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, date):
        return cell.isoformat()
    return shown(exact(cell, name=name))


def as_numbers(values: Iterable[Mapping[str, str]], metric: Metric, declaration: Declaration) -> NDArray[np.int64]:
    """One row per value, one column per column of the metric."""
    numbers = []
    for value in values:
        wrong = sorted(set(value) - set(metric.columns))
        lacking = [name for name in metric.columns if name not in value]
        if wrong:
            raise UsageError(
                f"'{wrong[0]}' is not a column of this model.", hint=nearest_name(wrong[0], metric.columns)
            )
        if lacking:
            raise UsageError(f"a value must name every column of the model; '{lacking[0]}' is missing.")
        numbers.append([_number(name, value[name], declaration) for name in metric.columns])
    return np.array(numbers, dtype=np.int64)


def shown_values(numbers: NDArray[np.int64], metric: Metric, declaration: Declaration) -> list[dict[str, str]]:
    """The same values in their one spelling."""
    domains = [declaration.column(name).domain for name in metric.columns]
    return [
        {name: domain.text(int(n)) for name, domain, n in zip(metric.columns, domains, row, strict=True) if domain}
        for row in numbers
    ]


def _number(name: str, text: str, declaration: Declaration) -> int:
    domain = declaration.column(name).domain
    if isinstance(domain, Categories):
        code = domain.code(text)
        if code is None:
            raise UsageError(
                f"'{text}' is not a declared value of column '{name}'.", hint=nearest_name(text, domain.values)
            )
        return code
    if isinstance(domain, Dates):
        day = domain.read(text)
        if day is None:
            raise UsageError(f"column '{name}' holds dates such as 2024-01-31, got '{text}'.")
        number = day
    elif isinstance(domain, Numbers):
        steps = exact(text, name=name) / domain.step
        if steps.denominator != 1:
            raise UsageError(
                f"column '{name}' has steps of {shown(domain.step)}, and {text} is not a whole number of them.",
                hint=f"Ask about {domain.text(domain.number(exact(text)))}.",
            )
        number = int(steps)
    else:
        raise UsageError(f"column '{name}' is an identifier and never reaches a query.")
    if not domain.first <= number <= domain.last:
        raise UsageError(
            f"{text} is outside the declared bounds of column '{name}', "
            f"{domain.text(domain.first)} to {domain.text(domain.last)}."
        )
    return number
