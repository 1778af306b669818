"""What is written comes back exactly, however it is spelled."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallflower.errors import UsageError
from wallflower.schema import loads
from wallflower.schema.declaration import Becomes
from wallflower.schema.exact import exact, shown
from wallflower.schema.toml_text import quoted

HEAD = """
[table]
id = "t"
unit = "row"
neighbours = "replace-one"
max_rows = 10
reviewed = true
ledger = "t.ledger"
"""
decimals = st.builds(
    lambda digits, places: Fraction(digits, 10**places), st.integers(-(10**9), 10**9), st.integers(0, 6)
)


def spellings(number):
    """Bare where TOML has a spelling for it, quoted decimal, and fraction."""
    bare = [shown(number)] if "/" not in shown(number) else []
    return st.sampled_from([*bare, f'"{shown(number)}"', f'"{number.numerator}/{number.denominator}"'])


@given(st.data())
def test_numbers(data):
    step = abs(data.draw(decimals)) or Fraction(1)
    first = data.draw(st.integers(-1000, 1000))
    edges = sorted(data.draw(st.sets(st.integers(first, first + 500), min_size=2, max_size=6)))
    lower, upper = edges[0] * step, edges[-1] * step
    centre, scale = data.draw(decimals), abs(data.draw(decimals)) or Fraction(1)
    missing = data.draw(st.integers(edges[0], edges[-1]))
    wrote = {
        "lower": lower,
        "upper": upper,
        "step": step,
        "centre": centre,
        "scale": scale,
        "missing": missing * step,
        "outside": missing * step,
    }
    lines = [f"{key} = {data.draw(spellings(number))}" for key, number in wrote.items()]
    bins = ",\n".join(data.draw(spellings(edge * step)) for edge in edges)
    text = "\n".join([HEAD, "[columns.x]", 'role = "sensitive"', *lines, f"bins = [{bins}]"])
    column = loads(text).columns["x"]
    assert (column.domain.lower, column.domain.upper, column.domain.step) == (lower, upper, step)
    assert (column.centre, column.scale) == (centre, scale)
    assert column.missing == column.outside == Becomes(missing)
    assert column.bins.edges == tuple(edges)


texts = st.text(min_size=1, max_size=10).filter(lambda text: text not in {"drop", "clip"})


@given(st.lists(texts, min_size=1, max_size=8, unique=True), st.text(min_size=1), st.data())
def test_categories(values, name, data):
    chosen = data.draw(st.sampled_from(values))
    listed = ", ".join(quoted(value) for value in values)
    clean = "".join(c for c in name if c.isprintable()).strip() or "x"
    text = f"{HEAD}[columns.{quoted(clean)}]\nrole = 'sensitive'\nvalues = [{listed}]\n"
    column = loads(f"{text}outside = {quoted(chosen)}\nmissing = {quoted(chosen)}\n").columns[clean]
    assert column.domain.values == tuple(values)
    assert column.outside == column.missing == Becomes(values.index(chosen))


@given(st.sets(st.dates(), min_size=2, max_size=4), st.data())
def test_dates(days, data):
    ordered = sorted(days)
    quotes = data.draw(st.sampled_from(["", '"', "'"]))
    said = [f"{quotes}{day.isoformat()}{quotes}" for day in ordered]
    text = f"{HEAD}[columns.x]\nrole = 'sensitive'\nlower = {said[0]}\nupper = {said[-1]}\noutside = 'clip'\n"
    column = loads(f"{text}missing = {said[1]}\nbins = [{', '.join(said)}]\ncentre = {said[0]}\n").columns["x"]
    assert (column.domain.lower, column.domain.upper) == (ordered[0], ordered[-1])
    assert column.domain.text(column.missing.number) == ordered[1].isoformat()
    assert [column.domain.text(edge) for edge in column.bins.edges] == [day.isoformat() for day in ordered]
    assert column.centre == (ordered[0] - date(1970, 1, 1)).days


@given(st.fractions())
def test_shown_spells_the_number_it_was_given(number):
    assert exact(shown(number)) == number


@pytest.mark.parametrize("spelled", ["1e401", "1e-999999999", "1/0", "0.1.1", "", "inf", "nan", "1e"])
def test_what_is_not_a_number_is_refused(spelled):
    with pytest.raises(UsageError):
        exact(spelled)
