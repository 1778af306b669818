"""The owner's picture of a context: a histogram without gaps or overlaps, and the record where it lies."""

from __future__ import annotations

from tests.report.painting import painted
from wallflower.report import explain


def test_bars_stand_on_their_own_bins_and_the_record_where_it_lies(monkeypatch):
    data = {"metric": "salary", "edges": [10, 14, 18, 22], "heights": [5, 0, 2], "record": 21}
    (axes,) = painted(monkeypatch, explain, {"figures": {"context": data}})
    assert [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in axes.patches] == [
        (10, 4, 5), (14, 4, 0), (18, 4, 2),
    ]  # fmt: skip
    assert axes.lines[0].get_xdata() == [21, 21]


def test_without_a_valid_context_there_is_no_picture():
    assert explain.pictures({"figures": {}}) == []
