from datetime import date
from fractions import Fraction

import pytest

from tests.schema.samples import GOOD, changed
from wallflower.errors import DeclarationError
from wallflower.schema import load, loads
from wallflower.schema.declaration import Becomes, Clip, Drop, Reading
from wallflower.schema.domains import Categories, Dates, Numbers


def test_every_part_of_the_file_arrives_exact():
    declaration = loads(GOOD, folder="/data")
    assert declaration.id == "salaries"
    assert str(declaration.source) == "/data/salaries.csv"
    assert str(declaration.ledger) == "/data/salaries.ledger"
    assert (declaration.key, declaration.neighbours, declaration.max_rows) == ("employee", "add-remove", 1_000_000)
    assert (declaration.reviewed, declaration.test, declaration.unit) == (True, False, "row")
    assert declaration.read == Reading(delimiter=";", encoding="latin-1", decimal=",")
    assert declaration.budgets["dp"].epsilon == 4
    assert declaration.budgets["dp"].delta == Fraction(1, 10**6)
    assert declaration.budgets["output-constrained-dp"].delta == 0
    assert declaration.budgets["plain-k-anonymity"].publications == 1


def test_columns_become_domains():
    columns = loads(GOOD).columns
    assert list(columns) == ["employee", "title", "salary", "hired"]
    assert columns["employee"].domain is None
    assert columns["title"].domain == Categories(("CEO", "Lawyer", "Doctor"))
    assert (columns["title"].outside, columns["title"].missing) == (Becomes(1), Drop())
    salary = columns["salary"]
    assert salary.domain == Numbers(lower=Fraction(0), upper=Fraction(5_000_000), step=Fraction(1, 100))
    assert (salary.outside, salary.centre, salary.scale, salary.weight) == (
        Clip(),
        Fraction(1, 2),
        1000,
        Fraction(1, 3),
    )
    assert salary.bins.edges == (0, 10_000_000, 20_000_050)
    hired = columns["hired"]
    assert hired.domain == Dates(lower=date(1990, 1, 1), upper=date(2030, 12, 31))
    assert hired.missing == Becomes(10_957)
    assert hired.bins.text(1) == "[2000-01-01, 2030-12-31]"


def test_a_model_arrives_with_its_budget():
    model = loads(GOOD).models["default"]
    assert (model.columns, model.beta, model.radius, model.k) == (("salary", "hired"), 24, Fraction(13, 50), 3)
    assert (model.epsilon, model.distance, model.included) == (4, "euclidean", False)
    assert model.weights == {"salary": 1, "hired": Fraction(1, 2)}


def test_numbers_of_rows_may_be_as_large_as_any_table():
    text = changed("beta = 24", f"beta = {2**53}").replace("k = 3", f"k = {2**53}")
    model = loads(text).models["default"]
    assert (model.beta, model.k) == (2**53, 2**53)


@pytest.mark.parametrize(
    ("name", "said"),
    [("salry", "'salry'"), ("a" * 70, f"'{'a' * 60}…'"), (["salary"], "['salary']"), (Fraction(1, 3), "1/3"), (8, "8")],
)
def test_a_column_that_is_not_declared_is_named_as_it_was_asked_for(name, said):
    with pytest.raises(DeclarationError) as caught:
        loads(GOOD).column(name)
    assert str(caught.value).startswith(f"column {said} is not declared.")


def test_a_bare_decimal_is_the_number_it_spells():
    column = loads(changed('step = "0.01"', "step = 0.1")).columns["salary"]
    assert column.domain.step == Fraction(1, 10)


def test_files_are_beside_the_declaration(tmp_path):
    (tmp_path / "salaries.toml").write_text(GOOD)
    declaration = load(tmp_path / "salaries.toml")
    assert declaration.source == tmp_path / "salaries.csv"
    assert declaration.ledger == tmp_path / "salaries.ledger"
    assert declaration.path == tmp_path / "salaries.toml"


def test_a_relative_path_still_gives_absolute_places(tmp_path, monkeypatch):
    (tmp_path / "salaries.toml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    assert load("salaries.toml").source == tmp_path / "salaries.csv"


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    (tmp_path / "b.toml").write_text(GOOD)
    assert load(tmp_path / "a.toml").fingerprint == load(tmp_path / "b.toml").fingerprint


def test_a_file_needs_a_source_and_a_frame_does_not(tmp_path):
    text = changed('source = "salaries.csv"\n', "")
    assert loads(text).source is None
    (tmp_path / "salaries.toml").write_text(text)
    assert load(tmp_path / "salaries.toml", source_optional=True).source is None
    with pytest.raises(DeclarationError, match=r"\[table\] needs 'source'"):
        load(tmp_path / "salaries.toml")


def test_values_come_from_a_file(tmp_path):
    (tmp_path / "titles.csv").write_bytes('\ufeffCEO\r\n"Lawyer"\r\n"Doctor, retired"\r\n\r\n'.encode())
    text = changed('values = ["CEO", "Lawyer", "Doctor"]', 'values = "titles.csv"')
    column = loads(text, folder=tmp_path).columns["title"]
    assert column.domain.values == ("CEO", "Lawyer", "Doctor, retired")


def test_whole_numbers_are_values_as_text():
    text = changed('values = ["CEO", "Lawyer", "Doctor"]\noutside = "Lawyer"', 'values = [1, 2, "x"]\noutside = 2')
    column = loads(text).columns["title"]
    assert (column.domain.values, column.outside) == (("1", "2", "x"), Becomes(1))


def test_a_hierarchy_is_kept_as_a_place_or_as_written(tmp_path):
    (tmp_path / "titles.csv").write_text("CEO;*\n")
    as_file = changed('outside = "Lawyer"', 'outside = "Lawyer"\nhierarchy = "titles.csv"')
    assert loads(as_file, folder=tmp_path).columns["title"].hierarchy == str(tmp_path / "titles.csv")
    nested = changed('outside = "Lawyer"', 'outside = "Lawyer"\nhierarchy = {paid = ["CEO", "Lawyer"], other = [1.5]}')
    assert loads(nested).columns["title"].hierarchy == {"paid": ["CEO", "Lawyer"], "other": ["1.5"]}


def test_an_unreviewed_declaration_loads():
    assert not loads(changed("reviewed = true", "reviewed = false")).reviewed


def test_reading_a_declaration_imports_nothing_heavy():
    import subprocess
    import sys

    code = "import sys, wallflower.schema; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "numba", "pandas", "ibis", "duckdb", "jsonschema", "typer"} & set(loaded)


@pytest.mark.parametrize("written", [r"\u0000", "9" * 5000, "no-such.csv"])
def test_a_values_file_that_cannot_be_is_refused_in_few_words(tmp_path, written):
    text = changed('values = ["CEO", "Lawyer", "Doctor"]', f'values = "{written}"')
    with pytest.raises(DeclarationError, match="cannot be read") as caught:
        loads(text, folder=tmp_path)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("written", ["9" * 3000, f'"{"9" * 3000}"', f'["{"9" * 3000}"]', f"1e{'9' * 3000}"])
def test_a_long_value_does_not_fill_the_screen(written):
    text = changed('unit = "row"', f"unit = {written}")
    with pytest.raises(DeclarationError, match="'unit' must be") as caught:
        loads(text)
    assert len(str(caught.value)) < 600
