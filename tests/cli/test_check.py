"""`wallflower check` as an owner meets it: what it counts, what it says where nothing can be read, and what it leaves alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wallflower.cli.app import run

CANARY = "canary-7391"
DECLARED = """\
[table]
id = "visits"
source = "visits.csv"
key = "visit"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
test = false
ledger = "visits.ledger"

[budget.dp]
epsilon = "4"

[columns.visit]
role = "identifier"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"

[columns.city]
role = "quasi-identifier"
values = ["Ottawa", "Toronto"]
outside = "drop"
missing = "Ottawa"

[columns.cost]
role = "sensitive"
lower = 0
upper = 100
step = "0.5"
outside = 7
missing = 0
"""
HEADER = "visit,age,city,cost,remark"
LOOK = "without protection"
ASK = ("count", "visits.toml", "--columns", "age", "--neighbours", "2", "--radius", "5", "--epsilon", "1")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.toml").write_text(DECLARED, encoding="utf-8")
    rows_are(f"1,34,Ottawa,10,{CANARY}", "2,36,Toronto,12.5,")
    return tmp_path


def rows_are(*rows: str, header: str = HEADER) -> None:
    Path("visits.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def declare(old: str, new: str) -> None:
    assert old in DECLARED
    Path("visits.toml").write_text(DECLARED.replace(old, new), encoding="utf-8")


def seen(capfd) -> dict:
    """What `check --json` found."""
    capfd.readouterr()
    assert run(["check", "visits.toml", "--json"]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    said = json.loads(line)
    assert set(said) == {"ok", "not_private"}
    assert said["ok"] is True
    return said["not_private"]


def told(capfd) -> str:
    """What `check` prints for people."""
    capfd.readouterr()
    assert run(["check", "visits.toml"]) == 0
    shown = capfd.readouterr()
    assert LOOK in shown.err
    return shown.out


def in_table(out: str, column: str) -> list[str]:
    """The row of the printed table that speaks of a column, unfolded: missing, unreadable, outside, what happens."""
    rows: list[list[str]] = []
    for line in out.splitlines():
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        if line.startswith("│") and not cells[1]:  # what did not fit into the line above
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
        elif line.startswith("│"):
            rows.append(cells)
    (found,) = [cells[1:] for cells in rows if cells[0] == column]
    return found


def counts(found: dict, column: str) -> dict[str, int]:
    kinds = ("missing", "unreadable", "outside", "clipped", "replaced", "dropped")
    return {kind: found["columns"][column][kind] for kind in kinds if found["columns"][column][kind]}


@pytest.mark.parametrize("as_json", [False, True])
def test_no_arguments_end_with_the_way_to_the_help(capfd, as_json):
    assert run(["check", *(["--json"] if as_json else [])]) == 2
    shown = capfd.readouterr()
    said = json.loads(shown.out)["error"] if as_json else None
    assert said is None or (said["kind"], said["hint"]) == ("usage", "See `wallflower check --help`.")
    assert "DECL" in (said["message"] if said else shown.err)
    assert as_json or shown.out == ""


WRONG = {
    "no such file": (["check", "nowhere.toml"], "nowhere.toml"),
    "a folder": (["check", "."], "."),
    "rows in place of a declaration": (["check", "visits.csv"], "wallflower declare"),
    "one argument too many": (["check", "visits.toml", "visits.csv"], "unexpected extra argument"),
    "an option of others": (["check", "visits.toml", "--epsilon", "1"], "--epsilon"),
}


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(("arguments", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_or_option_is_named(desk, capfd, arguments, says, as_json):
    assert run([*arguments, *(["--json"] if as_json else [])]) == 2
    shown = capfd.readouterr()
    error = json.loads(shown.out)["error"] if as_json else None
    assert says in (f"{error['message']} {error['hint']}" if error else shown.err)
    assert as_json or shown.out == ""
    assert CANARY not in shown.out + shown.err
    assert LOOK not in shown.err, "nothing was looked at"


NO_SOURCE = {
    "no file": ('"visits.csv"', '"gone.csv"', "gone.csv"),
    "no ending": ('"visits.csv"', '"visits.toml"', "ending"),
    "no engine": ('"visits.csv"', '"ftp://host/rows"', "no engine"),
    "no column": ("[columns.age]", "[columns.Age_]", "Did you mean 'age'?"),
    "no key": ('"visit"\nunit', '"number"\nunit', "'number'"),
    "not a number": ("step = 1\n", 'step = "one"\n', "step"),
}


@pytest.mark.parametrize(("old", "new", "says"), NO_SOURCE.values(), ids=NO_SOURCE)
def test_a_declaration_that_does_not_fit_the_data_is_refused_without_quoting_them(desk, capfd, old, new, says):
    declare(old, new)
    for extra in ([], ["--json"]):
        assert run(["check", "visits.toml", *extra]) == 2
        shown = capfd.readouterr()
        assert says in shown.out + shown.err
        assert CANARY not in shown.out + shown.err
        assert "Toronto" not in shown.out + shown.err


def test_rows_under_the_first_line_are_never_taken_for_names_and_told(desk, capfd):
    """A file without a line of names: its first row stands where they should."""
    rows_are("2,36,Toronto,12.5,", header=f"1,34,Ottawa,10,{CANARY}")
    assert run(["check", "visits.toml"]) == 2
    shown = capfd.readouterr()
    assert "'age'" in shown.err
    assert not {CANARY, "34", "Ottawa", "Toronto"} & set(re.findall(r"[\w-]+", shown.out + shown.err))


def test_an_empty_table_is_counted_like_any_other(desk, capfd):
    rows_are()
    found = seen(capfd)
    assert (found["rows"], found["rows_that_leave"], found["repeated_keys"]) == (0, 0, 0)
    assert list(found["columns"]) == ["age", "city", "cost"]
    assert all(not counts(found, column) for column in found["columns"])
    out = told(capfd)
    assert "0 rows, within max_rows = 1000." in out
    assert in_table(out, "cost") == ["0", "0", "0", "nothing"]


def test_every_cell_that_is_not_as_declared_is_counted_with_what_happens_to_it(desk, capfd):
    rows_are(
        "1,34,Ottawa,10,",
        "2,-5,Ottawa,10,",  # age below: clipped
        "3,200,Ottawa,10,",  # age above: clipped
        "4,,Ottawa,10,",  # age missing: dropped
        "5,forty,Ottawa,10,",  # age unreadable: dropped
        "6,34,Lima,10,",  # city not declared: dropped
        "7,34,,10,",  # city missing: replaced
        "8,34,Toronto,900,",  # cost outside: replaced
        "9,34,Toronto,,",  # cost missing: replaced
        "10,34,Toronto,12 EUR,",  # cost unreadable: replaced
    )
    found = seen(capfd)
    assert (found["rows"], found["rows_that_leave"]) == (10, 3)
    assert counts(found, "age") == {"missing": 1, "unreadable": 1, "outside": 2, "clipped": 2, "dropped": 2}
    assert counts(found, "city") == {"missing": 1, "outside": 1, "replaced": 1, "dropped": 1}
    assert counts(found, "cost") == {"missing": 1, "unreadable": 1, "outside": 1, "replaced": 3}
    assert found["columns"]["age"]["commonest_unreadable"] == [["forty", 1]]
    assert found["columns"]["city"]["commonest_outside"] == [["Lima", 1]]
    out = told(capfd)
    assert "3 rows would leave a query that reads every column." in out
    assert in_table(out, "age") == ["1", "1", "2", "outside: 2 clipped; missing: 2 dropped"]
    assert in_table(out, "city") == ["1", "0", "1", "outside: 1 dropped; missing: 1 replaced"]
    assert in_table(out, "cost") == ["1", "1", "1", "outside: 1 replaced; missing: 2 replaced"]
    assert 'cost: unreadable: "12 EUR" 1 time' in out
    assert 'city: outside: "Lima" 1 time' in out


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_cells_that_are_not_a_number_are_no_values(desk, capfd, kind):
    """As text "nan" is a word that is no number; as a double it says that there is none."""
    cells = [float("nan"), float("inf"), float("-inf"), 1.5, None]
    if kind == "csv":
        rows_are(*(f"{at},34,Ottawa,{'' if cell is None else cell}," for at, cell in enumerate(cells)))
    else:
        declare('"visits.csv"', '"visits.parquet"')
        table = {"visit": list("01234"), "age": [34] * 5, "city": ["Ottawa"] * 5, "cost": cells}
        pq.write_table(pa.table(table), "visits.parquet")
    found = seen(capfd)
    none = {"csv": {"missing": 1, "unreadable": 3}, "parquet": {"missing": 2, "outside": 2}}[kind]
    assert counts(found, "cost") == {**none, "replaced": 4}
    assert found["rows_that_leave"] == 0


def test_keys_that_several_rows_share_and_rows_without_one_are_counted(desk, capfd):
    rows_are(
        "1,34,Ottawa,10,", "1,35,Ottawa,10,", "1,35,Ottawa,10,", "2,36,Ottawa,10,", "2,36,Ottawa,10,", ",9,Ottawa,1,"
    )
    found = seen(capfd)
    assert (found["repeated_keys"], found["rows_without_key"]) == (2, 1)
    out = told(capfd)
    assert "2 keys name several rows each: no question about such a record has an answer." in out
    assert "1 rows have no readable key." in out


def test_a_table_without_a_key_says_how_its_rows_are_called(desk, capfd):
    declare('key = "visit"\n', "")
    assert "row:0, row:1" in told(capfd)


def test_more_rows_than_declared_is_the_first_thing_said(desk, capfd):
    declare("max_rows = 1000", "max_rows = 1")
    assert told(capfd).startswith("2 rows, 1 more than max_rows = 1 declares.")
    assert seen(capfd)["max_rows"] == 1


COST = '[columns."cost [eur]"]'
MENDS = [
    ("1_000", 'thousands = "_"', COST),
    ("unknown", 'missing_codes = ["unknown"]', COST),
    ("1,5", 'decimal = ","', ""),
]


@pytest.mark.parametrize(("cell", "line", "section"), MENDS)
def test_what_would_mend_cells_is_said_with_its_place_and_mends_them(desk, capfd, cell, line, section):
    path, read = Path("visits.toml"), 'read = {delimiter = ";"'
    path.write_text(
        DECLARED.replace("[columns.cost]", COST).replace("max_rows", f"{read}}}\nmax_rows"), encoding="utf-8"
    )
    rows_are(*(f"{at};34;Ottawa;{cell}" for at in (1, 2)), header="visit;age;city;cost [eur]")
    assert seen(capfd)["columns"]["cost [eur]"]["unreadable"] == 2
    place = f"in {section}" if section else "(in read of [table])"
    assert f"  {line} {place} would mend 2 cells" in told(capfd).splitlines()
    old, new = (section, f"{section}\n{line}") if section else (read, f"{read}, {line}")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert seen(capfd)["columns"]["cost [eur]"]["unreadable"] == 0


def test_rows_of_people_are_counted_by_the_person(desk, capfd):
    declare('key = "visit"\nunit = "row"', 'unit = "person"\nperson = "visit"\nrows_per_person = 2')
    text = (
        Path("visits.toml")
        .read_text(encoding="utf-8")
        .replace("max_rows = 1000", "max_people = 1")
        .replace('[columns.visit]\nrole = "identifier"\n', "")
    )
    Path("visits.toml").write_text(text, encoding="utf-8")
    rows_are("a,34,Ottawa,10,", "a,35,Ottawa,10,", "a,36,Ottawa,10,", "b,36,Ottawa,10,", ",9,Ottawa,1,")
    found = seen(capfd)
    assert (found["rows"], found["people"], found["max_people"], found["rows_without_key"]) == (5, 2, 1, 1)
    assert found["rows_beyond"] == 1
    assert "5 rows of 2 people, 1 more than max_people = 1" in told(capfd)


def test_leaves_that_differ_are_named(desk, capfd):
    Path("city.csv").write_text("Ottawa;Ontario;any\nLima;Peru;any\n", encoding="utf-8")
    declare("[columns.city]\n", '[columns.city]\nhierarchy = "city.csv"\n')
    assert seen(capfd)["columns"]["city"]["hierarchy"] == {"not_covered": ["Toronto"], "not_declared": ["Lima"]}
    out = told(capfd)
    assert 'city: declared, and no leaf of its hierarchy: "Toronto"' in out
    assert 'city: not declared, and a leaf of its hierarchy: "Lima"' in out


@pytest.mark.parametrize("name", ["cost [eur]", "cost [/]", "[bold]", "cost [/b]", "\\[red]"])
def test_a_name_with_brackets_is_shown_as_it_is(desk, capfd, name):
    quoted = json.dumps(name)
    declare("[columns.cost]", f"[columns.{quoted}]")
    rows_are("1,34,Ottawa,[red]7,", header=HEADER.replace("cost", name))
    out = told(capfd)
    assert in_table(out, name) == ["0", "1", "0", "missing: 1 replaced"]
    assert '"[red]7" 1 time' in out


def test_what_a_terminal_would_obey_is_shown_as_an_escape(desk, capfd):
    """In cells, and in names: a declaration may hold letters that turn the direction of writing."""
    declare("[columns.cost]", '[columns."cost\\u202e"]')
    rows_are("1,34,Ottawa,\x1b[2Jseven\u202e", "2,34,\x1b]0;Lima\x07,1", header="visit,age,city,cost\u202e")
    out = told(capfd)
    assert all(letter.isprintable() for letter in out.replace("\n", ""))
    assert in_table(out, "cost\\u202e") == ["0", "1", "0", "missing: 1 replaced"]
    assert 'cost\\u202e: unreadable: "\\u001b[2Jseven\\u202e" 1 time' in out


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("ledger", [False, True], ids=["no ledger", "a ledger"])
def test_nothing_is_charged_or_written(desk, capfd, caplog, ledger):
    """A look needs no ledger, makes none, and leaves one as it was."""
    if ledger:
        assert run(["ledger", "init", "visits.toml"]) == 0
        assert run(ASK) == 0
    before = everything(desk)
    assert run(["check", "visits.toml"]) == 0
    assert run(["check", "visits.toml", "--json"]) == 0
    assert everything(desk) == before
    assert ledger or not (desk / "visits.ledger").exists()


def test_a_declaration_that_nobody_reviewed_can_be_checked(desk, capfd):
    """The look comes before the review."""
    declare("reviewed = true", "reviewed = false")
    assert seen(capfd)["rows"] == 2


def test_values_of_rows_stand_on_the_owners_output_and_nowhere_else(desk, capfd, caplog):
    rows_are(f"1,{CANARY},Ottawa,10,", f"2,34,{CANARY},10,")
    assert run(["check", "visits.toml"]) == 0
    shown = capfd.readouterr()
    assert f'age: unreadable: "{CANARY}" 1 time' in shown.out
    assert f'city: outside: "{CANARY}" 1 time' in shown.out
    assert CANARY not in shown.err + caplog.text
    holding = [name for name, content in everything(desk).items() if CANARY.encode() in content]
    assert holding == [str(desk / "visits.csv")]


def test_columns_that_are_not_declared_and_keys_are_shown_to_nobody(desk, capfd, caplog):
    rows_are(f"{CANARY}-key,34,Ottawa,10,{CANARY}", f"{CANARY}-key,36,Toronto,12.5,{CANARY}")
    assert run(["check", "visits.toml"]) == 0
    assert run(["check", "visits.toml", "--json"]) == 0
    shown = capfd.readouterr()
    assert "1 keys name several rows each" in shown.out
    assert CANARY not in shown.out + shown.err + caplog.text


def test_nothing_of_a_look_leaves_with_a_later_release(desk, capfd, caplog):
    rows_are(f"1,{CANARY},Ottawa,10,", *(f"{at},{30 + at},{CANARY},{CANARY}," for at in range(2, 12)))
    assert run(["check", "visits.toml"]) == 0
    assert run(["ledger", "init", "visits.toml"]) == 0
    capfd.readouterr()
    for extra in (["--dry-run"], [], ["--json"]):
        assert run([*ASK, *extra]) == 0
    assert run(["ledger", "history", "visits.toml", "--json"]) == 0
    shown = capfd.readouterr()
    assert CANARY not in shown.out + shown.err + caplog.text
    holding = [name for name, content in everything(desk).items() if CANARY.encode() in content]
    assert holding == [str(desk / "visits.csv")]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_bug_is_one_sentence_without_a_row(desk, capfd, monkeypatch, as_json):
    def fail(*_arguments):
        raise ValueError(f"could not convert '{CANARY}'")

    monkeypatch.setattr("wallflower.session.Owner.check", fail)
    assert run(["check", "visits.toml", *(["--json"] if as_json else [])]) == 1
    shown = capfd.readouterr()
    assert CANARY not in shown.out + shown.err
    assert "This is a bug" in (json.loads(shown.out)["error"]["message"] if as_json else shown.err)


def test_rows_that_break_a_library_are_told_of_without_what_it_said(desk, capfd, monkeypatch):
    def fail(*_arguments, **_named):
        raise ValueError(f"Conversion Error: '{CANARY}'")

    monkeypatch.setattr("wallflower.engines.owner_counts.tally", fail)
    assert run(["check", "visits.toml"]) == 1
    shown = capfd.readouterr()
    assert "the rows could not be read." in shown.err
    assert CANARY not in shown.out + shown.err
