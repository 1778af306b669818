"""[identify.*]: declared anomaly models, each with a budget of its own."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, cast

from wallflower.errors import nearest_name
from wallflower.schema.declaration import Column, Model
from wallflower.schema.domains import Dates, Numbers
from wallflower.schema.problems import said
from wallflower.schema.section import NAME_IN_WORDS, SAFE_NAME, Section

KEYS = ("columns", "beta", "radius", "k", "epsilon", "distance", "weights", "included")
DISTANCES = ("euclidean", "hamming", "mixed")
MOST_ROWS = 2**53
"""The largest β and k: no table has so many rows, and whatever is computed from such numbers and counts of rows stays within 64 bits."""


def read_models(file: Section, columns: Mapping[str, Column | None]) -> dict[str, Model]:
    """Every model that reads without a problem; `columns` holds None for a column that did not."""
    models: dict[str, Model] = {}
    for name, section in file.sections("identify", KEYS):
        if not SAFE_NAME.fullmatch(name):
            file.refuse("identify", f"a model's name is {NAME_IN_WORDS}, got {said(name)}.", at=(name,))
        model = _model(section, name, columns)
        if model is not None:
            models[name] = model
    return models


def _model(section: Section, name: str, columns: Mapping[str, Column | None]) -> Model | None:
    before = len(section.problems.found)
    section.need("beta", "beta = 24")
    section.need("radius", 'radius = "0.26"')
    section.need("k", "k = 3")
    section.need("epsilon", 'epsilon = "4"')
    distance = section.choice("distance", DISTANCES) or "euclidean"
    names = _names(section, columns, distance)
    beta, k = section.whole("beta", least=1), section.whole("k", least=1)
    for key, count in (("beta", beta), ("k", k)):
        if count is not None and count > MOST_ROWS:
            section.wrong(key, f"at most {MOST_ROWS}, more rows than any table has")
    radius, epsilon = section.number("radius"), section.budget("epsilon")
    if radius is not None and radius < 0:
        section.wrong("radius", "at least 0")
    if epsilon is not None and epsilon <= 0:
        section.wrong("epsilon", "above 0")
    weights = _weights(section, names)
    included = section.flag("included")
    if len(section.problems.found) > before or not names:
        return None
    return Model(
        name=name,
        columns=names,
        beta=cast("int", beta),
        radius=cast("Fraction", radius),
        k=cast("int", k),
        epsilon=cast("Fraction", epsilon),
        distance=cast("Literal['euclidean', 'hamming', 'mixed']", distance),
        weights=weights,
        included=bool(included),
    )


def _names(section: Section, columns: Mapping[str, Column | None], distance: str) -> tuple[str, ...]:
    if not section.need("columns", 'columns = ["x", "y"]'):
        return ()
    written = section.raw["columns"]
    if not isinstance(written, list) or not written or not all(isinstance(each, str) for each in written):
        section.wrong("columns", "a list of at least one declared column, in quotes")
        return ()
    before = len(section.problems.found)
    for place, name in enumerate(written):
        at = (place,)
        if name not in columns:
            section.refuse("columns", f"column '{name}' is not declared.", nearest_name(name, columns), at=at)
        elif name in written[:place]:
            section.refuse("columns", f"column '{name}' stands here twice.", at=at)
        column = columns.get(name)
        if column is None:
            continue
        if column.role == "identifier":
            section.refuse("columns", f"column '{name}' is an identifier and never reaches a query.", at=at)
        elif distance == "euclidean" and not isinstance(column.domain, Numbers | Dates):
            section.refuse(
                "columns",
                f"column '{name}' is not numeric, and the euclidean distance needs numbers.",
                'Choose another column, or distance = "hamming" or "mixed".',
                at=at,
            )
    return tuple(written) if len(section.problems.found) == before else ()


def _weights(section: Section, names: tuple[str, ...]) -> dict[str, Fraction]:
    written = section.raw.get("weights", {})
    if not isinstance(written, dict):
        section.wrong("weights", "a table such as {x = 1, y = 2}")
        return {}
    weights: dict[str, Fraction] = {}
    for name, value in written.items():
        if not names:
            return {}  # what is wrong with the columns has been said
        if name not in names:
            section.refuse("weights", f"'{name}' is not a column of this model.", nearest_name(name, names), at=(name,))
            continue
        weight = section.number("weights", value, at=(name,))
        if weight is not None and weight < 0:
            section.wrong("weights", "at least 0", got=value, at=(name,))
        elif weight is not None:
            weights[name] = weight
    return weights
