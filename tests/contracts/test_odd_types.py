"""Whatever type stands in a field of a question: priced, or refused in words; never charged and then broken."""

from __future__ import annotations

import dataclasses
import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import wallflower as wf
from tests.contracts import examples_explain
from tests.contracts.test_numbers import rich, tried
from wallflower import errors
from wallflower.engines import open_source
from wallflower.schema import load
from wallflower.session import Session

ODD: tuple[Any, ...] = (
    *(None, True, 8, 0.5, 3 + 0j, Fraction(1, 3), Decimal("0.5"), np.int64(3), np.float64(0.5), np.array(3)),
    *(b"3", (), ["height"], {}, {"height"}, object(), len, int, dt.date(2020, 1, 1), "\ud800", np.str_("3")),
)
TEXTS = ("record", "metric", "by", "daily", "column", "model", "start", "contexts", "search", "values", "question")


def fields_of(query: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(query) if field.name in TEXTS]


def test_every_text_takes_text_or_refuses(example, tmp_path):
    declaration = load(rich(example, tmp_path))
    session = Session(declaration, open_source(declaration))
    base = example.query(tmp_path)
    asked = set()
    for name in fields_of(base):
        for value in ODD:
            refusal = tried(session, base, (name,), value, asked)
            assert refusal is None or refusal.exit_code == 2, (name, value)


@pytest.mark.parametrize("record", [8, True, Fraction(1, 3), {}, None, ("odd",)])
def test_a_record_is_named_in_text(record):
    with pytest.raises(errors.UsageError, match=r"'record' must be text"):
        dataclasses.replace(examples_explain.EXAMPLES[0].query(None), record=record)


@pytest.mark.parametrize("question", [None, "odd", wf.count.Outliers])
def test_several_records_share_a_question_about_one(question):
    with pytest.raises(errors.UsageError, match=r"must be an explain\.Context"):
        wf.explain.Records(records=("odd", "e3"), question=question)


@pytest.mark.parametrize("names", ["ab", b"ab", 8, None, ["a", 8]])
def test_columns_are_named_one_by_one(names):
    """Of one text each letter would be a name."""
    with pytest.raises(errors.UsageError, match=r"'columns' must be names of columns"):
        wf.count.Outliers(columns=names, neighbours=3, radius="1", epsilon="1")
