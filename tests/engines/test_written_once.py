"""Statements that are kept between releases: what would be written anew, and nothing that somebody asked about."""

from __future__ import annotations

import pytest

from tests.contracts.engine_sources import categories, declare, from_csv, from_json, numbers
from tests.contracts.server_places import from_postgresql
from tests.contracts.test_engines import text_table
from wallflower.engines.dialect import Dialect, double

KEY, CENTRE = "canary-6120", 7_419_063
CONSTANTS = (1, 0, -1, True, False, 1.0, 0.0, -0.0, "1", "0.0", "-0.0", "true", 2**40)


def test_constants_that_python_takes_for_equal_are_told_apart():
    import ibis

    rows = ibis.table({"x": "float64"}, name="rows")
    for constant in CONSTANTS:
        asked = rows.select(y=double(constant) if isinstance(constant, float) else ibis.literal(constant))
        assert Dialect().compiled_once(asked) == Dialect().compiled(asked), constant
    typed = [rows.select(y=ibis.literal(1, type_)) for type_ in ("int8", "int64", "float64", "boolean")]
    assert [Dialect().compiled_once(each) for each in typed] == [Dialect().compiled(each) for each in typed]


@pytest.mark.parametrize("place", [from_csv, from_json, from_postgresql])
def test_nothing_that_was_asked_is_kept(place, tmp_path, monkeypatch):
    kept, others = [], []
    plain_once, plain = Dialect.compiled_once, Dialect.compiled

    def once(self, expression):
        kept.append(plain_once(self, expression))
        return kept[-1]

    def anew(self, expression):
        others.append(plain(self, expression))
        return others[-1]

    monkeypatch.setattr(Dialect, "compiled_once", once)
    monkeypatch.setattr(Dialect, "compiled", anew)
    declaration = declare(numbers(upper="99999999"), categories())
    table = text_table([(KEY, "1", "a", None), ("b", "2", "a", None)])
    with place(table, declaration, tmp_path).rows(("x", "c")) as rows:
        assert rows.record(KEY) is not None
        rows.cells(["c"], "x", CENTRE)
        rows.nearest(["c"], "x", CENTRE, 2)
        rows.between(["c"], "x", CENTRE, CENTRE + 1)
    assert len(kept) >= 4
    marks = (KEY, str(CENTRE), '"asked')  # a server gets what is asked as a parameter of this name
    assert not [each for each in kept if any(mark in each for mark in marks)]
    assert [each for each in others if any(mark in each for mark in marks)]  # the search would have found it
