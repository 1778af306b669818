"""The two data sets, filtered by rules that were written down before any result was looked at.

Salaries: the eight latest years; in them the eight employers with the most rows; among those the nine commonest job titles.
Reduced: from that table the four employers, then the five titles, with the most rows, and the five latest years; 11,000 rows drawn by
seed 0 when there are more. Homicides: victims of known age; the 4 commonest agency types, the 6 commonest states among those, the 6
commonest weapons among those. Reduced: 4, 4 and 4 of them; 28,000 rows drawn by seed 0 when there are more. The values so chosen are
the declared domain, whether a later filter leaves rows with them or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
from benchmarks.harness import data_folder

from wallflower.engines import from_frame
from wallflower.engines.base import Rows
from wallflower.explain.languages import parse_languages, vocabularies
from wallflower.explain.record_view import RecordView
from wallflower.explain.space import Space
from wallflower.schema import loads

COLUMN = '\n[columns.{name}]\nrole = "quasi-identifier"\nvalues = [{values}]\noutside = "drop"\nmissing = "drop"\n'
TABLE = """
[table]
id = "{name}"
key = "id"
unit = "row"
neighbours = "add-remove"
max_rows = 1_000_000
reviewed = true
test = true
ledger = "{name}.ledger"

[columns.{metric}]
role = "sensitive"
lower = {lower}
upper = {upper}
step = "{step}"
outside = "clip"
missing = "drop"
"""


@dataclass(frozen=True)
class Data:
    """An opened table and what is asked of it."""

    name: str
    rows: Rows
    by: tuple[str, ...]
    metric: str
    codes: np.ndarray
    numbers: np.ndarray
    frame: object

    def view(self, place: int, least: int, languages: str = "") -> RecordView:
        """The rows as the record at `place` sees them."""
        declared = self.rows.declaration
        given = dict.fromkeys(self.by, "sets") | parse_languages(languages)
        space = Space.of(
            vocabularies(declared, self.by, given).each, own=tuple(int(code) for code in self.codes[place])
        )
        return RecordView(rows=self.rows, space=space, metric=self.metric, centre=int(self.numbers[place]), least=least)

    @property
    def shape(self) -> str:
        declared = self.rows.declaration
        return "/".join(str(declared.column(name).groups.size) for name in self.by)


def salary(*, reduced: bool = False) -> Data:
    table = pq.read_table(data_folder() / "ontario_salaries_2001_2013.parquet").to_pandas()
    years = sorted(table.year.unique())[-8:]
    table = table[table.year.isin(years)].assign(year=table.year.astype(str))
    table, employers = _commonest(table, "employer", 8)
    table, titles = _commonest(table, "job_title", 9)
    if reduced:
        years = years[-5:]
        table = table[table.year.isin([str(year) for year in years])]
        table, employers = _commonest(table, "employer", 4)
        table, titles = _commonest(table, "job_title", 5)
        table = _sampled(table, 11_000)
    domains = {"job_title": titles, "employer": employers, "year": [str(year) for year in years]}
    bounds = {"lower": 0, "upper": 5_000_000, "step": "0.01"}
    return _opened("salary-reduced" if reduced else "salary", table, domains, "salary", bounds)


def homicide(*, reduced: bool = False) -> Data:
    table = pq.read_table(data_folder() / "homicide_map_subset.parquet").to_pandas()
    table = table[table.vic_age.notna() & (table.vic_age < 999)]
    domains = {}
    for column, size in zip(("agency_type", "state_abbr", "weapon"), (4, 4, 4) if reduced else (4, 6, 6), strict=True):
        table, domains[column] = _commonest(table, column, size)
    if reduced:
        table = _sampled(table, 28_000)
    bounds = {"lower": 0, "upper": 120, "step": "1"}
    return _opened("homicide-reduced" if reduced else "homicide", table, domains, "vic_age", bounds)


def _commonest(table, column, count):
    kept = sorted(table[column].value_counts().items(), key=lambda item: (-item[1], str(item[0])))[:count]
    values = sorted(str(value) for value, _ in kept)
    return table[table[column].isin(values)], values


def _sampled(table, count):
    if len(table) <= count:
        return table
    return table.iloc[np.sort(np.random.default_rng(0).permutation(len(table))[:count])]


def _opened(name, table, domains, metric, bounds) -> Data:
    text = TABLE.format(name=name, metric=metric, **bounds)
    for column, declared in domains.items():
        text += COLUMN.format(name=column, values=", ".join(f'"{value}"' for value in declared))
    by = tuple(domains)
    frame = table[[*by, metric]].reset_index(drop=True)
    frame.insert(0, "id", [str(place) for place in range(len(frame))])
    source = from_frame(frame, loads(text))
    with source.rows((*by, metric)) as rows:
        fetched = rows.fetch(numbers=(metric,), codes=by)
        return Data(name, rows, by, metric, fetched.codes, fetched.numbers[:, 0], frame)
