"""Tables to publish: made-up ones with the columns of the paper's Figure 7, and the real Adult and census tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq

from benchmarks.harness import data_folder
from wallflower.publish.space import Axis, Space
from wallflower.schema.declaration import Column
from wallflower.schema.domains import Categories, Numbers

FIGURE_7 = {
    "age": 78,
    "gender": 2,
    "education": 17,
    "marital": 6,
    "race": 9,
    "work": 10,
    "country": 83,
    "occupation": 50,
}
ADULT = ("age", "workclass", "education_num", "marital_status", "occupation", "race", "sex", "native_country")
CENSUS = (
    "class_of_worker",
    "education",
    "marital_status",
    "major_industry",
    "race",
    "sex",
    "household_summary",
    "birth_country_self",
)


def number(name, first, last, *, role="quasi-identifier", weight=1):
    domain = Numbers(lower=Fraction(first), upper=Fraction(last), step=Fraction(1))
    return Axis(column=Column(name=name, role=role, domain=domain), domain=domain, tree=None, weight=Fraction(weight))


def ordered(name, values, *, role="quasi-identifier"):
    domain = Categories(tuple(values))
    return Axis(column=Column(name=name, role=role, domain=domain), domain=domain, tree=None, weight=Fraction(1))


def figure_7(rows: int, *, seed: int = 0) -> np.ndarray:
    """Made up by a seed: the paper's IPUMS extract is not public. Cardinalities are those of Figure 7; 91 % live in one country."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=rows)
    age = np.clip(rng.gamma(6, 7, rows) - 2, 0, 77)
    education = np.clip(np.round(9 + 3 * skill + rng.normal(size=rows) * 1.5), 0, 16)
    marital = rng.choice(6, rows, p=[0.3, 0.5, 0.06, 0.02, 0.06, 0.06])
    race = rng.choice(9, rows, p=[0.79, 0.1, 0.01, 0.01, 0.01, 0.04, 0.01, 0.02, 0.01])
    work = rng.choice(10, rows, p=[0.05, 0.02, 0.05, 0.62, 0.08, 0.07, 0.05, 0.03, 0.02, 0.01])
    rare = 1 / (1 + np.random.default_rng(7).permutation(83))
    country = np.where(rng.random(rows) < 0.91, 60, rng.choice(83, rows, p=rare / rare.sum()))
    usual = np.clip(np.round(25 + 9 * (0.6 * skill + 0.8 * rng.normal(size=rows))), 0, 49)
    occupation = np.where(rng.random(rows) < 0.3, rng.integers(0, 50, rows), usual)
    salary = np.clip(np.round(20 + 8 * (0.6 * skill + 0.3 * (age - 40) / 15 + 0.7 * rng.normal(size=rows))), 0, 49)
    columns = [age, rng.integers(0, 2, rows), education, marital, race, work, country, occupation, salary]
    return np.column_stack(columns).astype(np.int64)


def figure_7_space(*, p="0.8", d="0.85") -> Space:
    quasi = [number("age", 0, 77)] + [ordered(n, [str(i) for i in range(s)]) for n, s in list(FIGURE_7.items())[1:]]
    return Space(
        quasi=tuple(quasi), sensitive=(number("salary", 0, 49, role="sensitive"),), p=Fraction(p), d=Fraction(d)
    )


def real(name: str, columns: tuple[str, ...], sensitive: str, *, p="0.8", d="0.85", rows: int | None = None):
    """Space and places of a real table; categories in order of first appearance of the sorted names, numbers by their range."""
    table = pq.read_table(data_folder() / name, columns=[*columns, sensitive])
    axes, places = [], []
    for column in (*columns, sensitive):
        role = "sensitive" if column == sensitive else "quasi-identifier"
        held = table.column(column).to_numpy(zero_copy_only=False)
        if held.dtype.kind in "iu":
            axes.append(number(column, int(held.min()), int(held.max()), role=role))
            places.append(held.astype(np.int64) - int(held.min()))
        else:
            values, codes = np.unique(held.astype(str), return_inverse=True)
            axes.append(ordered(column, values.tolist(), role=role))
            places.append(codes.astype(np.int64))
    space = Space(quasi=tuple(axes[:-1]), sensitive=(axes[-1],), p=Fraction(p), d=Fraction(d))
    stacked = np.column_stack(places)
    if rows is not None:
        stacked = stacked[np.linspace(0, len(stacked) - 1, rows).astype(int)]
    return space, canonical(stacked)


def canonical(places: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(places[np.lexsort(places.T[::-1])])
