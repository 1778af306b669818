"""The table over all papers says what the papers' own results say."""

from __future__ import annotations

import pytest
from experiments.lookup import HERE, At
from experiments.summary import summary

from wallflower.explain.prices import MEANS


def test_the_table_is_drawn_from_the_results():
    assert (HERE / "RESULTS.md").read_text(encoding="utf-8") == summary(), "run `python -m experiments.summary`"


@pytest.mark.parametrize("search", MEANS)
def test_a_price_quotes_the_experiments(search):
    measured = At("Tables 2 and 3", (f"{search}, its real cost",), "ours: mean ratio").read("pcor_2021")
    assert f"{float(measured):.2f}" == MEANS[search]


def test_a_cell_that_is_gone_is_named():
    with pytest.raises(SystemExit, match="no heading 'Table 99'"):
        At("Table 99", ("x",), "y").read("pcor_2021")
    with pytest.raises(SystemExit, match="no row"):
        At("Tables 2 and 3", ("no such search",), "ours").read("pcor_2021")
