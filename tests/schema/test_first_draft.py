"""A draft: nothing in it that came from a row but in a comment, and it loads once the open lines are filled in."""

import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallflower.errors import DeclarationError, UsageError
from wallflower.schema import draft, loads
from wallflower.schema.declaration import Reading
from wallflower.schema.first_draft import DraftPurpose, shown_from_rows
from wallflower.schema.section import SAFE_NAME
from wallflower.schema.stream_draft import stream_draft
from wallflower.session.drafting import Draft


@dataclass(frozen=True)
class Seen:
    name: str
    kind: str
    values: tuple[str, ...] | None = None
    dates: tuple[str, ...] = ()
    thousands: str = ""
    missing_codes: tuple[str, ...] = ()
    repeats: bool = False


PEOPLE = (
    Seen("employee", "text"),
    Seen("job title", "text", ("CEO", 'The "boss"\n', "[columns.x]", "=  # DECIDE")),
    Seen("salary", "real"),
    Seen("age", "integer"),
    Seen("hired", "date"),
    Seen("active", "boolean"),
)
ANSWERS = {
    "max_rows": "1_000",
    "epsilon": '"1"',
    "values": '["a", "b"]',
    "lower": "0",
    "upper": "100",
    "step": '"0.01"',
}


def filled(text):
    """What an owner does who answers every open line and touches nothing else."""
    in_dates = text.replace("such as 1900-01-01", "X").replace("such as 2100-12-31", "Y")
    lines = []
    for line in in_dates.split("\n"):
        open_line = re.match(r"(\w+) =  # DECIDE", line)
        answer = {"X": "1990-01-01", "Y": "2030-01-01"}.get(line[-1:]) or ANSWERS.get(open_line[1] if open_line else "")
        lines.append(f"{open_line[1]} = {answer}{line[open_line.end(1) + 2 :]}" if open_line else line)
    return "\n".join(lines)


def test_an_untouched_draft_names_the_first_open_line():
    text = draft("in/people.csv", PEOPLE, folder="in")
    first = next(number for number, line in enumerate(text.split("\n"), 1) if re.search(r"=\s*# DECIDE", line))
    with pytest.raises(DeclarationError) as caught:
        loads(text)
    message = str(caught.value)
    assert message.startswith(
        f"the declaration, line {first}: max_rows =  # DECIDE: from public knowledge, not from the rows"
    )
    assert message.endswith("10 lines are still to be decided, this one first. Write the value after the equals sign.")


def test_a_filled_draft_loads_and_is_not_yet_reviewed():
    declaration = loads(filled(draft("in/people.csv", PEOPLE, folder="in")))
    assert not declaration.reviewed
    assert declaration.id == "people"
    assert next(column.role for column in declaration.columns.values()) == "identifier"
    assert declaration.columns["job title"].domain.values == ("a", "b")
    assert declaration.columns["active"].domain.values == ("false", "true")


def test_one_open_line_is_enough():
    text = filled(draft("people.csv", PEOPLE, folder="."))
    with pytest.raises(DeclarationError, match="1 line is still to be decided"):
        loads(text.replace("max_rows = 1_000", "max_rows ="))


def test_what_was_seen_stands_in_comments_alone():
    text = draft("people.csv", [Seen("city", "text", ("Canary-Wharf",))], folder=".")
    holding = [line for line in text.split("\n") if "Canary" in line]
    assert len(holding) == 1
    assert holding[0].startswith("# seen in the rows")


def test_every_undecided_line_is_marked():
    text = draft("people.csv", PEOPLE, folder=".")
    for line in text.split("\n"):
        if re.match(r"(max_rows|epsilon|lower|upper|unit|reviewed) =", line):
            assert "# DECIDE" in line
        if re.match(r"(max_rows|lower|upper) =", line):
            assert "# DECIDE: from public knowledge, not from the rows" in line


@pytest.mark.parametrize(
    "name", ["id", "employee_id", "employeeId", "PatientID", "Full name", "e_mail", "email", "phone"]
)
def test_what_sounds_like_a_person_is_proposed_as_identifier(name):
    assert 'role = "identifier"' in draft("x.csv", [Seen(name, "integer")], folder=".")


@pytest.mark.parametrize("name", ["idea", "grid", "valid", "keyboard", "named_pipes", "age"])
def test_what_only_contains_such_a_word_is_not(name):
    assert 'role = "identifier"' not in draft("x.csv", [Seen(name, "integer")], folder=".")


def test_a_stream_of_a_long_file_name_gets_an_id_that_a_stream_may_have():
    text = stream_draft(Path("reading" * 20 + ".csv"), PEOPLE)
    assert SAFE_NAME.fullmatch(re.search(r'^id = "(.*)"', text, flags=re.MULTILINE)[1])


def test_the_source_is_written_relative_to_the_draft():
    text = draft("data/people.csv", PEOPLE, folder="drafts")
    assert 'source = "../data/people.csv"' in text
    assert 'table = "t 1"' in draft("people.db", PEOPLE, folder=".", table="t 1")


def test_a_name_that_cannot_be_typed_is_said_and_left_out():
    text = draft("x.csv", [Seen("a\nb", "integer"), Seen(" ", "text"), Seen("c", "integer")], folder=".")
    assert list(loads(filled(text)).columns) == ["c"]
    assert '# Column "a\\nb" cannot be declared' in text


kinds = st.sampled_from(["integer", "real", "text", "date", "boolean"])
seen = st.builds(
    Seen, st.text(min_size=1, max_size=8), kinds, st.none() | st.lists(st.text(max_size=8), max_size=3).map(tuple)
)


@given(
    st.lists(seen, min_size=1, max_size=4, unique_by=lambda column: column.name.casefold()),
    st.text(min_size=1, max_size=8),
)
def test_any_names_and_texts_give_toml_once_filled(columns, stem):
    text = filled(draft(f"{stem}.csv".replace("/", "-").replace("\0", ""), columns, folder="."))
    parsed = tomllib.loads(text)
    typable = [
        column.name for column in columns if column.name.strip() and not re.search(r"[\x00-\x1f\x7f]", column.name)
    ]
    assert list(parsed.get("columns", {})) == typable


def test_only_the_owner_reads_a_draft_and_is_told_what_it_quotes(tmp_path):
    place = tmp_path / "draft.toml"
    Draft(text="x", quotes=()).write(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="exists already"):
        Draft(text="y", quotes=()).write(place)
    assert place.read_text(encoding="utf-8") == "x"
    columns = [Seen("city", "text", ("Ottawa", "Toronto")), Seen("age", "integer"), Seen("patient", "text", ("P1",))]
    (sentence,) = shown_from_rows(columns, place)
    assert "'city'" in sentence
    assert "'patient'" not in sentence
    assert "0600" in sentence
    text = draft("rows.csv", columns, folder=tmp_path)
    assert "Ottawa" in text
    assert "P1" not in text
    assert "no other value of a row" in next(shown_from_rows(columns[1:], place))


VISITS = (
    Seen("patient", "text", repeats=True),
    Seen("visited", "date", dates=("%d.%m.%Y",), repeats=True),
    Seen("age", "integer", missing_codes=("unknown", "999"), repeats=True),
    Seen("cost", "real", thousands=",", repeats=True),
    Seen("ward", "text", ("A", "B"), repeats=True),
    *(Seen(f"more{at}", "real") for at in range(20)),
)
DECISIONS = {"count": 12, "explain": 12, "identify": 13}


@pytest.mark.parametrize("area", DECISIONS)
def test_a_first_question_takes_few_decisions(area):
    text = draft("visits.csv", VISITS, folder=".", wanted=DraftPurpose(area=area))
    assert text.count("# DECIDE") <= DECISIONS[area]
    sections = text.split("\n\n")
    assert max(section.count("# DECIDE") for section in sections if section.startswith("[columns")) <= 3
    answers = {**ANSWERS, "max_people": "1_000", "beta": "24", "radius": '"0.5"'}
    filled_in = re.sub(
        r"^(\w+) =  # DECIDE", lambda line: f"{line[1]} = {answers[line[1]]} # ", text, flags=re.MULTILINE
    )
    declared = loads(filled_in)
    assert (declared.unit, declared.person, declared.time) == ("person", "patient", "visited")
    assert len(declared.columns) <= 3
    assert "# [columns.more19]  real" in text


def test_what_is_about_the_format_is_filled_in():
    reading = Reading(delimiter=";", encoding="latin-1")
    text = draft(
        "visits.csv", VISITS, folder=".", wanted=DraftPurpose(columns=("age", "cost", "visited"), reading=reading)
    )
    assert 'read = {delimiter = ";", encoding = "latin-1"}' in text
    assert 'missing_codes = ["unknown", "999"]' in text
    assert 'thousands = ","' in text
    assert 'date = "%d.%m.%Y"' in text
    assert 'per_person = "latest"' in text


@pytest.mark.parametrize("columns", [("age",), ("age", "born")])
def test_a_time_that_no_question_reads_says_how_it_is_written(columns, tmp_path):
    """Without its format no visit had a time, and "latest" was the smallest."""
    seen = (
        Seen("patient", "text", repeats=True),
        Seen("visit", "date", dates=("%d.%m.%Y",)),
        Seen("born", "date"),
        Seen("age", "integer"),
    )
    text = draft("in/people.csv", seen, folder="in", wanted=DraftPurpose(area="count", columns=columns))
    answered = filled(text.replace("max_people =  #", "max_people = 1000  #"))
    declared = loads(answered, folder=tmp_path)
    assert declared.time == "visit"
    assert "visit" not in declared.columns
    assert [each.text for each in declared.format_of("visit").dates] == ["%d.%m.%Y"]
    if "born" in columns:
        assert [each.text for each in declared.format_of("born").dates] == ["%Y-%m-%d"]
