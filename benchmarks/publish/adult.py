"""Rows of the real Adult table: the same seven quasi-identifiers as the made-up census rows, with hierarchies; hours a week are sensitive."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.harness import data_folder
from benchmarks.publish.data import canonical, number, ordered
from wallflower.publish.space import Axis, Space
from wallflower.schema.declaration import Column
from wallflower.schema.domains import Categories
from wallflower.schema.hierarchy import nested

NODES: dict[str, Any] = {
    "sex": ["Female", "Male"],
    "marital_status": {
        "never": ["Never-married"],
        "married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
        "alone again": ["Separated", "Divorced", "Widowed"],
    },
    "race": ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"],
    "workclass": {
        "government": ["Federal-gov", "State-gov", "Local-gov"],
        "company": ["Private"],
        "own business": ["Self-emp-not-inc", "Self-emp-inc"],
        "neither": ["Without-pay", "Never-worked", "?"],
    },
    "native_country": {
        "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
        "Latin America": [
            *("Mexico", "Puerto-Rico", "Cuba", "Jamaica", "Honduras", "Nicaragua", "Haiti", "Dominican-Republic"),
            *("El-Salvador", "Guatemala", "Trinadad&Tobago", "Columbia", "Ecuador", "Peru"),
        ],
        "Europe": [
            *("England", "Germany", "Greece", "Italy", "Poland", "Portugal", "Ireland", "France", "Hungary"),
            *("Scotland", "Yugoslavia", "Holand-Netherlands"),
        ],
        "Asia": [
            *("Cambodia", "India", "Japan", "South", "China", "Iran", "Philippines", "Vietnam", "Laos", "Taiwan"),
            *("Thailand", "Hong"),
        ],
        "not said": ["?"],
    },
}
COLUMNS = ("age", "education_num", *NODES)
SENSITIVE = "hours_per_week"


def adult(rows: int, *, p: str = "0.9", d: str = "1.05") -> tuple[Space, np.ndarray]:
    """Evenly spread rows of the table, in its order."""
    table = pq.read_table(data_folder() / "adult.parquet", columns=[*COLUMNS, SENSITIVE])
    axes, places = [], []
    for name in (*COLUMNS, SENSITIVE):
        held = table.column(name).to_numpy(zero_copy_only=False)
        if name in NODES:
            axis, leaf = _category(name)
            places.append(np.array([leaf[value.strip()] for value in held.tolist()]))
        else:
            first, last = int(held.min()), int(held.max())
            role = "sensitive" if name == SENSITIVE else "quasi-identifier"
            steps = [str(step) for step in range(first, last + 1)]
            axis = ordered(name, steps) if name == "education_num" else number(name, first, last, role=role)
            places.append(held - first)
        axes.append(axis)
    some = np.linspace(0, table.num_rows - 1, rows).astype(int)
    space = Space(quasi=tuple(axes[:-1]), sensitive=(axes[-1],), p=Fraction(p), d=Fraction(d))
    return space, canonical(np.column_stack(places).astype(np.int64)[some])


def _category(name: str) -> tuple[Axis, dict[str, int]]:
    nodes = NODES[name]
    values = [value for node in nodes.values() for value in node] if isinstance(nodes, dict) else nodes
    domain = Categories(tuple(values))
    column = Column(name=name, role="quasi-identifier", domain=domain)
    axis = Axis(column=column, domain=domain, tree=nested(nodes, values, column=name), weight=Fraction(1))
    return axis, {value: place for place, value in enumerate(values)}
