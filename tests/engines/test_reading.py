"""The rule itself: what it promises about grids, and how single cells are written."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contracts.engine_sources import categories, numbers
from wallflower.engines.arrow_cells import readable_texts
from wallflower.engines.memory.dialect import read
from wallflower.engines.reading_rule import UNDECODABLE, Kind, cell_text, day, rule_for
from wallflower.schema.declaration import Column
from wallflower.schema.domains import Numbers

STEPS = st.builds(Fraction, st.integers(1, 10**6), st.integers(1, 10**6))


@given(step=STEPS, k=st.integers(-(2**50), 2**50))
def test_a_value_on_the_grid_becomes_its_own_step(step, k):
    bound = (2**50 + 1) * step
    column = Column(name="x", role="sensitive", domain=Numbers(lower=-bound, upper=bound, step=step))
    cells = pa.array([float(k * step)])
    assert read(cells, rule_for(column, Kind.REAL)).numbers.tolist() == [k]


@given(x=st.floats(-5, 5))
def test_rounding_is_exact_for_whole_steps(x):
    column = numbers(step="1")
    expected = math.floor(Fraction(x) + Fraction(1, 2))
    assert read(pa.array([x]), rule_for(column, Kind.REAL)).numbers.tolist() == [expected]
    assert column.domain.number(Fraction(x)) == expected


class Strange:
    def __eq__(self, other):
        raise ValueError

    __hash__ = None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (pd.NA, None),
        (pd.NaT, None),
        (math.nan, None),
        (np.float32("nan"), None),
        (Decimal("nan"), None),
        (np.True_, "true"),
        (False, "false"),
        (np.int64(7), "7"),
        (np.float32(2.5), "2.5"),
        (-0.0, "0"),
        (2.0**53, "9007199254740992.0"),
        (Decimal("2.50"), "2.5"),
        (Decimal("3.00"), "3"),
        (Fraction(1, 4), "0.25"),
        (math.inf, "inf"),
        (datetime(2020, 1, 1, 23, tzinfo=UTC), "2020-01-01"),
        (pd.Timestamp("2020-01-01T23:00-05:00"), "2020-01-02"),
        (date(2020, 1, 1), "2020-01-01"),
        ("text", "text"),
        ("\ud800", UNDECODABLE),
        (10**5000, UNDECODABLE),
        (Decimal("snan"), UNDECODABLE),
        (Fraction(10**400), UNDECODABLE),
        (b"bytes", UNDECODABLE),
        (np.array([1, 2]), UNDECODABLE),
        ([1], UNDECODABLE),
        (Strange(), UNDECODABLE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_cell_has_a_text(value, text):
    assert cell_text(value) == text


@pytest.mark.parametrize(
    "text", ["2020-02-30", "2020-2-1", "2020-01-01T00", "２０２０-01-01", "0000-01-01", "", "20200101"]
)
def test_other_texts_are_no_days(text):
    assert day(text) is None


def test_numbers_among_categories_are_found_by_value_and_the_first_wins():
    column = categories(values=("03", "3", "3.0", "2.5", "1e1", "x", "٣"))
    assert rule_for(column, Kind.INTEGER).codes == {3: 0, 10: 4}
    assert rule_for(column, Kind.REAL).codes == {3.0: 0, 2.5: 3, 10.0: 4}
    assert rule_for(column, Kind.TEXT).codes == {text: at for at, text in enumerate(column.domain.values)}


def test_bytes_that_are_no_text_are_unreadable_however_long_the_column(tmp_path):
    """Beyond 2 GiB places no longer fit into 32 bits; a file that is mostly hole stands for so much text."""
    begin = 2**31
    with (tmp_path / "texts").open("wb") as file:
        file.seek(begin)
        file.write(b"\xffa")
    with pa.memory_map(str(tmp_path / "texts")) as file:
        places = pa.py_buffer(np.array([begin, begin + 2]).tobytes())
        cells = pa.Array.from_buffers(pa.large_string(), 1, [None, places, file.read_buffer()])
        assert readable_texts(cells).to_pylist() == ["\ufffda"]
