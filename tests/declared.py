"""Small declarations for the ledger's tests."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from wallflower.schema.declaration import Budget, Clip, Column, Declaration, Model
from wallflower.schema.domains import Numbers
from wallflower.schema.fingerprint import fingerprint

X = Column(
    name="x",
    role="sensitive",
    domain=Numbers(lower=Fraction(0), upper=Fraction(10), step=Fraction("0.01")),
    outside=Clip(),
)
FULL = {
    "dp": Budget(epsilon=Fraction(4), delta=Fraction("1e-6")),
    "output-constrained-dp": Budget(epsilon=Fraction(2), delta=Fraction("1e-6")),
    "plain-k-anonymity": Budget(publications=1),
}


def model(name: str = "default", epsilon: str = "3", **other: object) -> Model:
    written = Model(name=name, columns=("x",), beta=24, radius=Fraction("0.26"), k=3, epsilon=Fraction(epsilon))
    return replace(written, **other)


def declare(folder: Path, **changes: object) -> Declaration:
    declared = Declaration(
        id="salaries",
        source=None,
        key="employee",
        neighbours="add-remove",
        max_rows=1000,
        reviewed=True,
        test=False,
        ledger=folder / "salaries.ledger",
        budgets=FULL,
        columns={"x": X},
        fingerprint="",
    )
    declared = replace(declared, **changes)
    return replace(declared, fingerprint=fingerprint(declared))
