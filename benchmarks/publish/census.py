"""Census-like rows, made up by a seed: seven quasi-identifiers with hierarchies, one salary, about 5 % outliers at (0.9, 0.85)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from benchmarks.publish.data import canonical, number, ordered
from wallflower.publish.space import Axis, Space
from wallflower.schema.declaration import Column
from wallflower.schema.domains import Categories
from wallflower.schema.hierarchy import nested

NAMES = ("age", "education", "sex", "marital", "race", "work", "country", "salary")


def tree(name: str, *children: int) -> Axis:
    """A category whose values stand under nodes with so many values each; under one root when there is one node."""
    nodes = {f"{name} {g}": [f"{name} {g}.{i}" for i in range(size)] for g, size in enumerate(children)}
    values = [value for node in nodes.values() for value in node]
    domain = Categories(tuple(values))
    taxonomy = nested(nodes if len(children) > 1 else values, values, column=name)
    column = Column(name=name, role="quasi-identifier", domain=domain)
    return Axis(column=column, domain=domain, tree=taxonomy, weight=Fraction(1))


def census_space(*, p: str = "0.9", d: str = "0.85") -> Space:
    quasi = (
        number("age", 0, 77),
        ordered("education", [str(i) for i in range(16)]),
        tree("sex", 2),
        tree("marital", 1, 2, 3),
        tree("race", 5),
        tree("work", 3, 2, 3),
        tree("country", 8, 8, 8, 8, 8),
    )
    return Space(quasi=quasi, sensitive=(number("salary", 0, 99, role="sensitive"),), p=Fraction(p), d=Fraction(d))


def census_like(rows: int, *, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=rows)
    age = np.clip(np.round(rng.gamma(6, 7, rows) - 2), 0, 77)
    education = np.clip(np.round(9 + 2.2 * skill + rng.normal(size=rows) * 1.5), 0, 15)
    marital = np.where(age < 22, 0, rng.choice(6, rows, p=[0.2, 0.56, 0.06, 0.03, 0.08, 0.07]))
    race = rng.choice(5, rows, p=[0.80, 0.11, 0.04, 0.03, 0.02])
    work = rng.choice(8, rows, p=[0.08, 0.04, 0.03, 0.63, 0.09, 0.06, 0.05, 0.02])
    rare = np.random.default_rng(7).permutation(1 / (1 + np.arange(40)))
    country = np.where(rng.random(rows) < 0.9, 20, rng.choice(40, rows, p=rare / rare.sum()))
    usual = 40 + 13 * (0.6 * skill + 0.35 * (age - 38) / 15 + 0.6 * rng.normal(size=rows))
    salary = np.clip(np.round(usual + (rng.random(rows) < 0.02) * rng.integers(0, 40, rows)), 0, 99)
    columns = [age, education, rng.integers(0, 2, rows), marital, race, work, country, salary]
    return canonical(np.column_stack(columns).astype(np.int64))
