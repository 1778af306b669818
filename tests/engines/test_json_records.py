"""How many rows an array holds is told by its commas, whatever stands between them."""

from __future__ import annotations

import pytest

from wallflower.engines.duckdb.json_records import records


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("[]", []),
        ("[ \n]", []),
        ('[{"x": 1},]', [{"x": 1}, {}]),
        ('[{"x": 1}, ,{"x": 2}]', [{"x": 1}, {}, {"x": 2}]),
        ('[,{"x": 2}]', [{}, {"x": 2}]),
        ("[,]", [{}, {}]),
    ],
)
def test_a_blank_element_is_a_row_without_cells(tmp_path, text, rows):
    path = tmp_path / "rows.json"
    path.write_text(text, encoding="utf-8")
    assert list(records(path)) == rows
