"""`attack` reads what ARX publishes: `*`, intervals with open ends, sets, semicolons."""

from datetime import date
from fractions import Fraction

import pytest

from wallflower.errors import UsageError
from wallflower.publish.arx_cells import arx_interval
from wallflower.publish.published_file import _places, texts
from wallflower.publish.space import Axis
from wallflower.schema.declaration import Column
from wallflower.schema.domains import Categories, Dates, Numbers

AGES = Numbers(lower=Fraction(0), upper=Fraction(100), step=Fraction(1))
HALVES = Numbers(lower=Fraction(-1), upper=Fraction(1), step=Fraction(1, 2))
DAYS = Dates(lower=date(2020, 1, 1), upper=date(2020, 12, 31))
WARDS = Categories(("A", "B", "C", "D"))
NAMED = Column(name="x", role="quasi-identifier", domain=AGES)


@pytest.mark.parametrize(
    ("domain", "text", "expected"),
    [
        (AGES, "*", (0, 100)),
        (WARDS, "*", (0, 3)),
        (AGES, "[20, 30[", (20, 29)),
        (AGES, "[20, 30]", (20, 30)),
        (AGES, "]20, 30]", (21, 30)),
        (AGES, "]20,30[", (21, 29)),
        (AGES, "[-5, 10[", (0, 9)),
        (AGES, "[95, 200[", (95, 100)),
        (AGES, "[200, 300[", None),
        (AGES, "[20, 20[", None),
        (AGES, "20-30", None),
        (HALVES, "[-0.5, 0.5[", (1, 2)),
        (DAYS, "[2020-01-02, 2020-01-05[", (1, 3)),
        (WARDS, "{B, C}", (1, 2)),
        (WARDS, "{A, C}", None),
        (WARDS, "{A, Z}", None),
        (WARDS, "[A, B]", None),
        (AGES, "[x, 3[", None),
        (AGES, "[0, 1e5000[", None),  # what no declaration could write is not written out
        (AGES, "[0, 3/0[", None),
        (DAYS, "[2020-01-02, today[", None),  # the same cell means the same tomorrow
    ],
)
def test_a_cell_is_read_as_an_interval(domain, text, expected):
    place = {name: at for at, name in enumerate(getattr(domain, "values", ()))}.get
    assert arx_interval(text, domain, place) == expected


def test_semicolons_part_the_cells_of_arx(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("age;ward\n[20, 30[;A\n*;*\n")
    assert texts(path) == {"age": ["[20, 30[", "*"], "ward": ["A", "*"]}
    path.write_text('age,ward\n"[20, 30]",A\n')
    assert texts(path) == {"age": ["[20, 30]"], "ward": ["A"]}


def test_a_column_that_was_not_published_is_named():
    with pytest.raises(UsageError, match="the published file has no column 'age'") as refused:
        _places(None, "age", {"agee": ["34"]})
    assert "Did you mean 'agee'" in str(refused.value.hint)


def test_no_cell_is_a_number_too_large_to_write_out_or_a_day_that_moves():
    always = Dates(lower=date(1970, 1, 2), upper=date(2999, 12, 31))
    for domain, text in ((AGES, "1e999999999"), (always, "today"), (always, "now"), (always, "NaT")):
        assert Axis(column=NAMED, domain=domain, tree=None, weight=Fraction(1)).read(text) is None
