"""Every question of every area, asked about people: where a person's rows reduce to one row, the answer is that row table's, and the promise says person."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

import wallflower as wf
from tests.contracts.registry import every_example
from wallflower.errors import DeclarationError, UsageError
from wallflower.ledger import Ledger
from wallflower.schema import loads
from wallflower.session.pricing import price_of

EXAMPLES = [
    example
    for example in every_example()
    # Without a key a row is named by its place, which costs more than a person's id does.
    if loads(example.declaration).key is not None or "--record" not in example.command
    if not loads(example.declaration).grows  # which a table of people never does: it is refused while it is read
]

FEW = list({example.command[0]: example for example in EXAMPLES}.values())
"""One of each command; the campaign asks them all."""
MANY = [
    pytest.param(example, marks=() if example in FEW else pytest.mark.campaign, id=example.label)
    for example in EXAMPLES
]


def about_people(declaration: str, person: str, *, reducer: str = 'per_person = "max"\n') -> str:
    text = re.sub(r"^key = .*\n", "", declaration, flags=re.MULTILINE)
    text = text.replace('unit = "row"', f'unit = "person"\nperson = "{person}"').replace("max_rows", "max_people")
    return re.sub(r'(role = "(?!identifier)[a-z-]+"\n)', rf"\1{reducer}", text)


def many_rows(example, person: str, seed: int = 0) -> str:
    """Every row twice more, with cells that `max` skips, all of them scattered."""
    header, *rows = example.csv.strip("\n").split("\n")
    names = header.split(",")
    keyed = person in names
    named = header if keyed else f"{header},{person}"
    lines = []
    for at, row in enumerate(rows):
        cells = row.split(",")
        who = cells[names.index(person)] if keyed else f"row:{at}"
        empty = [who if name == person else "" for name in names]
        lines += [",".join(each if keyed else [*each, who]) for each in (cells, empty, empty)]
    random.Random(seed).shuffle(lines)
    return "\n".join([named, *lines]) + "\n"


def asked(example, folder, declaration: str, csv: str):
    folder.mkdir()
    (folder / "rows.csv").write_text(csv, encoding="utf-8")
    place = folder / "rows.toml"
    place.write_text(declaration.replace("test = false", "test = true"), encoding="utf-8")
    session = wf.open(place, seed=7)
    Ledger.init(session.declaration)
    release = session.release(example.query(folder))
    files = {
        path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".csv" and path.name != "rows.csv"
    }
    return session, release.to_json(), files


@pytest.mark.parametrize("example", MANY)
def test_people_are_answered_as_the_rows_they_reduce_to(example, tmp_path):
    person = loads(example.declaration).key or "who"
    _, rows, row_files = asked(example, tmp_path / "rows", example.declaration, example.csv)
    session, people, files = asked(
        example, tmp_path / "people", about_people(example.declaration, person), many_rows(example, person)
    )
    assert session.declaration.reduced
    strip = re.compile(re.escape(str(tmp_path)) + r"/(rows|people)")
    assert strip.sub("", str(people["release"])) == strip.sub("", str(rows["release"]))
    assert files == row_files
    assert people["guarantee"]["unit"] == "person"
    assert people["guarantee"]["parameters"] == rows["guarantee"]["parameters"]
    if people["guarantee"]["family"] != "plain-k-anonymity":
        assert "person" in people["guarantee"]["sentence"]
        assert not re.search(r"\brows?\b", people["guarantee"]["sentence"].replace("all of whose rows", ""))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.label)
def test_several_rows_of_a_person_have_a_price_of_their_own_or_cost_as_many_times_or_are_refused(example, tmp_path):
    person = loads(example.declaration).key or "who"
    text = about_people(example.declaration, person, reducer="").replace("replace-one", "add-remove")
    declared = loads(text.replace('unit = "person"', 'unit = "person"\nrows_per_person = 3'), folder=tmp_path)
    query = example.query(tmp_path)
    if query.name == "publish":
        with pytest.raises(UsageError, match="rows_per_person"):
            query.price(declared)
        return
    family = row_price(example, query).family
    if family == "sensitive-privacy":
        with pytest.raises(DeclarationError, match="rows of a person count"):
            price_of(query, declared)
        return
    if query.name == "explain":
        with pytest.raises(UsageError, match="must say which"):
            price_of(query, declared)
        query = which_row(query, 2)
    price, alone = price_of(query, declared), row_price(example, example.query(tmp_path))
    promise = price.guarantee
    assert promise.unit == "person"
    assert promise.family == family
    if example.priced_by_row:
        assert promise.epsilon == 3 * alone.epsilon
        assert alone.rho is None or promise.rho == 9 * alone.rho
    else:
        assert promise.epsilon == alone.epsilon  # its own law: the same epsilon, and more noise
    assert any("up to 3 rows" in note for note in price.notes)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.label)
def test_a_price_for_people_speaks_of_no_rows(example, tmp_path):
    (tmp_path / "rows.csv").write_text(example.csv, encoding="utf-8")
    person = loads(example.declaration).key or "who"
    query = example.query(tmp_path)
    rows, people = (
        price_of(query, loads(text, folder=tmp_path))
        for text in (example.declaration, about_people(example.declaration, person))
    )
    said = str((dict(people.settings), dict(people.expected), people.notes))
    assert not re.search(r"\brows?\b", said, flags=re.IGNORECASE)
    if re.search(r"\brows?\b", str((dict(rows.settings), dict(rows.expected)))):
        assert re.search(r"\b(people|person)\b", said)


def row_price(example, query):
    """What it promises where a row is the unit and rows come and go."""
    return query.price(loads(example.declaration.replace("replace-one", "add-remove"))).guarantee


def which_row(query, row):
    inner = getattr(query, "question", None)
    return replace(query, row=row) if inner is None else replace(query, question=replace(inner, row=row))
