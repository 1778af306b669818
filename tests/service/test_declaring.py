"""A field for every decision: what is typed becomes the line it stands on, and a mistake is shown at its field."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.service.desks import House
from wallflower.errors import DeclarationError
from wallflower.schema import columns as schema_columns
from wallflower.schema import load, loads
from wallflower.schema import models as schema_models
from wallflower.schema.budgets import FAMILIES
from wallflower.schema.parser import values as read
from wallflower.schema.reader import TABLE_KEYS
from wallflower.schema.toml_edit import changed
from wallflower.service import decisions
from wallflower.service.declarations import OPERATORS
from wallflower.service.demo import SALARIES, STAYS
from wallflower.service.web.declared_fields import as_typed, as_written


def form_of(text: str, **changes: str) -> dict[str, list[str]]:
    """The form as a browser sends it back."""
    typed = as_written(text)
    return {name: [value] for name, value in typed.values.items()} | {
        name.replace("__", "/"): [value] for name, value in changes.items()
    }


@pytest.mark.parametrize("text", [STAYS, SALARIES])
def test_a_form_sent_back_as_it_was_changes_nothing(text):
    assert as_typed(text, form_of(text))[1] == text


def test_one_field_changes_one_line_and_keeps_its_comment():
    text = STAYS.replace("upper = 365", "upper = 365  # a year")
    _, now = as_typed(text, form_of(text, columns__days__upper="400"))
    assert now == text.replace("upper = 365", "upper = 400")


def test_values_budgets_dates_and_lists_are_written_as_toml():
    _, now = as_typed(
        SALARIES,
        form_of(
            SALARIES,
            columns__job__values='Porter\nNurse "A"\n7',
            budget__dp__epsilon="0.5",
            columns__salary__bins="0, 100_000, 200000",
            columns__salary__scale="1/3",
            table__reviewed="false",
            **{"budget__plain-k-anonymity__publications": "2"},
        ),
    )
    raw = tomllib.loads(now)
    assert raw["columns"]["job"]["values"] == ["Porter", 'Nurse "A"', "7"]
    assert raw["budget"] == {
        "output-constrained-dp": {"epsilon": "2"},
        "dp": {"epsilon": "0.5"},
        "plain-k-anonymity": {"publications": 2},
    }
    assert raw["columns"]["salary"]["bins"] == [0, 100_000, 200_000]
    assert raw["columns"]["salary"]["scale"] == "1/3"
    assert raw["table"]["reviewed"] is False


def test_a_column_is_added_filled_in_and_taken_out(house: House):
    otto = house.browser("otto")
    form = {name: value for name, (value,) in form_of(STAYS).items()}
    page = otto.post("/tables/stays/declare", **form, **{"new-columns": "ward", "try": "yes"})
    assert page.status == 422  # its role stands there, and the rest is asked for at its fields
    assert b'name="columns/ward/values"' in page.body
    begun = form | {"columns/ward/role": "sensitive", "columns/ward/values": "A\nB", "columns/ward/outside": "drop",
                    "columns/ward/missing": "drop"}  # fmt: skip
    assert otto.post("/tables/stays/declare", **begun, save="yes").status == 303
    assert tuple(house.desk.declared("stays").declaration.columns["ward"].domain.values) == ("A", "B")
    again = {name: value for name, (value,) in form_of(house.desk.declared("stays").text).items()}
    otto.post("/tables/stays/declare", **again, remove="columns/ward", save="yes")
    assert "ward" not in house.desk.declared("stays").declaration.columns


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("columns/days/upper", "-1", "upper"),
        ("columns/days/outside", "keep", "outside"),
        ("columns/days/step", "", "needs"),
        ("budget/dp/epsilon", "0", "above 0"),
        ("identify/default/k", "many", "whole number"),
        ("table/max_rows", "lots", "whole number"),
        ("columns/age/role", "", "needs"),
        ("columns/age/bins", "5, 3", "bins"),
        ("table/max_rows", "9" * 5000, "whole number"),
    ],
)
def test_a_mistake_is_shown_at_its_field_and_nothing_is_saved(house: House, field: str, typed: str, said: str):
    otto = house.browser("otto")
    form = {name: value for name, (value,) in form_of(STAYS).items()} | {field: typed}
    page = otto.post("/tables/stays/declare", **form, save="yes")
    assert page.status == 422
    place = page.body.decode().partition(f'id="wrong-{field}"')[2].partition("</span>")[0]
    assert said in place
    assert page.body.count(b'aria-invalid="true"') == 1
    otto.headers["accept"] = "application/json"
    told = json.loads(otto.post("/tables/stays/declare", **form).body)
    assert (told["ok"], list(told["fields"])) == (False, [field])
    with house.desk.database.read() as seen:
        assert seen.one("SELECT * FROM edits") is None


def test_no_field_reaches_what_is_the_operators(house: House):
    otto = house.browser("otto")
    form = {name: value for name, (value,) in form_of(STAYS).items()}
    otto.post("/tables/stays/declare", **form, **{"table/source": "salaries.csv", "table/id": "x"}, save="yes")
    assert house.desk.declared("stays").text == STAYS


def test_there_is_a_field_for_every_decision():
    """Or a reason why not: what is the operator's, what a page of its own sets, what is written as a nested table."""
    keys = {decision.key for decision in decisions.TABLE}
    assert set(TABLE_KEYS) - keys - set(OPERATORS) <= {"read"}
    assert {decision.key for decision in decisions.COLUMN} == set(schema_columns.KEYS)
    assert {decision.key for decision in decisions.MODEL} == set(schema_models.KEYS) - {"weights"}
    for family, part in decisions.BUDGETS.items():
        assert {decision.key for decision in part} == set(FAMILIES[family])


NAMES = st.text(alphabet="abc -.\"'/é", min_size=1, max_size=6)
LITERALS = st.one_of(
    st.integers().map(str),
    st.text(alphabet="ab\"'\\#=[]é\n", max_size=12).map(json.dumps),
    st.lists(st.integers(0, 9), max_size=3).map(str),
    st.sampled_from(["true", "1979-05-27", "[\n  1,  # one\n  2,\n]", '"a # b"  # c']),
)
TABLES = st.dictionaries(NAMES, st.dictionaries(NAMES, LITERALS, max_size=3), max_size=3)


@given(tables=TABLES, edits=st.dictionaries(st.tuples(NAMES, NAMES), st.none() | LITERALS, max_size=3))
@settings(deadline=None, max_examples=80, derandomize=True)
def test_an_edit_changes_what_was_meant_or_is_refused(tables, edits):
    text = "".join(
        f"[{json.dumps(table)}]  # {table}\n" + "".join(f"{json.dumps(key)} = {value}\n" for key, value in body.items())
        for table, body in tables.items()
    )
    edits = {place: value for place, value in edits.items() if value is None or "#" not in value}
    try:
        now = changed(text, edits)
    except DeclarationError:
        return
    wanted = read(text)
    for (table, key), value in edits.items():
        if value is None:
            wanted.get(table, {}).pop(key, None)
        else:
            wanted.setdefault(table, {})[key] = read(f"x = {value}")["x"]
    assert read(now) == wanted


@pytest.mark.parametrize("text", ["[a]\nb = {c = 1}\n", "a.b.c = 1\n", "a = {b = {c = 1}}\n"])
def test_what_lines_cannot_follow_is_refused_and_not_spoilt(text):
    with pytest.raises(DeclarationError, match="text"):
        changed(text, {("a", "b", "c"): "2"})


@pytest.mark.parametrize("name", ["x." * 100, "a\x7fb", 'the "last" year.\\', ""], ids=ascii)
def test_a_table_and_a_key_of_any_name_are_written_whole(name):
    text = changed('[table]\nid = "a"\n', {("columns", name, name): "7"})
    assert read(text) == {"table": {"id": "a"}, "columns": {name: {name: 7}}}


def test_a_declaration_is_read_anew_when_anything_that_belongs_to_it_changes(house: House):
    """Its file, an owner's edit, and a file of values; and the same text gives what the loader gives."""
    path, values = house.folder / "stays.toml", house.folder / "ages.txt"
    text = path.read_text()
    assert house.desk.declared("stays").declaration == load(path)
    assert house.desk.declared("stays").declaration is house.desk.declared("stays").declaration
    path.write_text(text.replace("upper = 120", "upper = 121"))
    assert house.desk.declared("stays").declaration.fingerprint == load(path).fingerprint != loads(text).fingerprint
    path.write_text(text.replace("upper = 120", "upper = -1"))
    with pytest.raises(DeclarationError, match=r"stays\.toml"):
        house.desk.declared("stays")
    job = '[columns.ward]\nrole = "sensitive"\nvalues = "ages.txt"\noutside = "drop"\nmissing = "drop"\n'
    path.write_text(text + job)
    seen = []
    for words in ("a\nb\n", "a\nb\nc\n"):
        values.write_text(words)
        seen.append(house.desk.declared("stays").declaration.column("ward").domain.values)
    assert seen == [("a", "b"), ("a", "b", "c")]
