"""Every public number of every question, through the whole range of its type: priced and answered, or refused before any charge."""

from __future__ import annotations

import dataclasses
import warnings
from fractions import Fraction

import pytest

from wallflower.engines import open_source
from wallflower.errors import DeclarationError, UsageError
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema import load

WHOLE = (-1, 0, 1, 2**31, 2**63, 10**400)
EXACT = ("-1", "0", "1e-400", "1e-13", "1/3", "1e9", "1e400", f"1/{10**45 + 1}")


def numbers(value):
    """Fields that hold a number, and those of dataclasses inside: (path, the numbers to try)."""
    for field in dataclasses.fields(value):
        held = getattr(value, field.name)
        if isinstance(held, bool):
            continue
        if isinstance(held, int):
            yield (field.name,), WHOLE
        elif isinstance(held, Fraction) or (held is None and "Exact" in str(field.type)):
            yield (field.name,), EXACT
        elif dataclasses.is_dataclass(held):
            for path, tried in numbers(held):
                yield (field.name, *path), tried


def changed(value, path, number):
    if len(path) > 1:
        number = changed(getattr(value, path[0]), path[1:], number)
    return dataclasses.replace(value, **{path[0]: number})


def test_any_number_is_priced_and_answered_or_refused_before_the_charge(example, tmp_path):
    declaration = load(example.lay_out(tmp_path, test=True))
    query = example.query(tmp_path)
    if not dataclasses.is_dataclass(query):
        pytest.skip("a question that is no dataclass has no fields to change")
    priced = refused = 0
    with open_source(declaration).rows(query.columns) as rows, warnings.catch_warnings():
        warnings.simplefilter("error")
        for path, tried in numbers(query):
            for number in tried:
                try:
                    asked = changed(query, path, number)
                    asked.price(declaration)
                except (UsageError, DeclarationError):
                    refused += 1
                    continue
                priced += 1
                asked.run(rows, SeededEntropy(1))  # whatever was priced must not break afterwards
    assert priced
    assert refused
