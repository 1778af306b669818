"""How many rows an array holds is told by its commas, whatever stands between them."""

from __future__ import annotations

import pytest

from wallflower.engines.duckdb.json_records import BLOCK, DEEPEST, is_array, records, whole
from wallflower.engines.reading_rule import UNDECODABLE


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


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl"])
def test_a_name_that_stands_twice_in_a_record_names_no_cell(tmp_path, name):
    """Neither of its values may be taken for it, be they alike; the others of the record are read."""
    twice = ['{"x": 1, "y": 3, "x": 2}', '{"x": 1, "x": 1}', '{"x": 1}', '{"x": 1, "x": 1, "x": 1}']
    path = tmp_path / name
    path.write_text(f"[{', '.join(twice)}]" if name == "rows.json" else "\n".join(twice), encoding="utf-8")
    lost = {"x": UNDECODABLE}
    assert list(records(path)) == [{**lost, "y": 3}, lost, {"x": 1}, lost]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("blanks", [0, 1, 1 << 16, BLOCK - 1, BLOCK, 2 * BLOCK + 1])
def test_an_array_is_one_however_many_blanks_stand_before_it(tmp_path, mark, blanks):
    path = tmp_path / "rows.json"
    path.write_text(f'{mark}{" " * blanks}[{{"x": 1}}, {{"x": 2}}]', encoding="utf-8")
    assert is_array(path)
    assert whole(path)
    assert list(records(path)) == [{"x": 1}, {"x": 2}]


@pytest.mark.parametrize("text", ["", " " * (BLOCK + 1), '{"x": 1}', " " * BLOCK + '{"x": 1}'])
def test_what_begins_with_no_bracket_is_no_array(tmp_path, text):
    path = tmp_path / "rows.json"
    path.write_text(text, encoding="utf-8")
    assert not is_array(path)
    assert list(records(path)) == ([{"x": 1}] if text.strip() else [])


def test_lines_are_no_array_whatever_the_first_holds(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('[{"x": 1}]\n{"x": 2}\n', encoding="utf-8")
    assert not is_array(path)
    assert list(records(path)) == [{}, {"x": 2}]


@pytest.mark.parametrize(
    ("value", "is_read"),
    [
        ("[" * (DEEPEST - 1) + "]" * (DEEPEST - 1), True),  # the record's own bracket is one
        ("[" * (DEEPEST - 2) + "[], []" + "]" * (DEEPEST - 2), True),
        ("[" * DEEPEST + "]" * DEEPEST, False),
        (f"[{'[], ' * DEEPEST}{'[' * DEEPEST}{']' * DEEPEST}]", False),
        ('{"a": [' * (DEEPEST // 2) + "]}" * (DEEPEST // 2), False),
        (f"[{', '.join(['{}', '[]'] * DEEPEST)}]", True),  # beside each other
        (f'["{"[" * DEEPEST}", "\\"{"{" * DEEPEST}"]', True),  # letters
        (f'"{"[" * DEEPEST}', False),  # a text without an end
    ],
)
def test_a_record_may_nest_so_deep_and_no_deeper(tmp_path, value, is_read):
    path = tmp_path / "rows.jsonl"
    path.write_text(f' {{"x": 1, "z": {value}}}', encoding="utf-8")
    assert [row.get("x") for row in records(path)] == [1 if is_read else None]
