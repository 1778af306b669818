"""One contract for every query. An area joins by listing its questions in `examples_<area>.py`."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.contracts.conftest import Forbidden
from tests.contracts.example import CANARY
from wallflower import errors
from wallflower.cli.app import run
from wallflower.ledger import Ledger
from wallflower.schema import json_schema, load
from wallflower.session import Session, description
from wallflower.session.series import is_series

RELEASE = Draft202012Validator(json_schema("release"))
"""Made once; that the schema itself is one is checked in tests/schema."""


def chain(error: BaseException) -> str:
    """Everything an exception and those behind it would show."""
    seen, texts, todo = set(), [], [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        texts.append(f"{one!r} {one} {getattr(one, '__notes__', '')} {vars(one) if hasattr(one, '__dict__') else ''}")
        todo += [one.__cause__, one.__context__]
    return "\n".join(texts)


def charges(session: Session) -> int:
    return sum(event.to_json()["kind"] == "charge" for event in Ledger.open(session.declaration).history())


def test_the_price_reads_no_row_and_needs_no_ledger(example, tmp_path):
    declaration = load(example.lay_out(tmp_path))
    price = Session(declaration, Forbidden()).price(example.query(tmp_path))
    assert price.guarantee.to_json()["sentence"]
    assert price.mechanism["name"]
    json.dumps(dict(price.expected))
    assert not declaration.ledger.exists()


def test_a_release_validates_and_its_description_is_json(example, prepared, tmp_path):
    session, _, _ = prepared()
    query = example.query(tmp_path)
    release = session.release(query)
    RELEASE.validate(release.to_json())
    assert release.private
    assert json.loads(json.dumps(description(query)))["command"] == query.name
    assert (release.value is not None) == example.answerable


def test_a_refused_query_never_opens_the_rows(example, prepared, tmp_path):
    session, watched, path = prepared()
    query = example.query(tmp_path)
    for turn in range(1000):
        try:
            session.release(query, f"turn-{turn}")
        except errors.BudgetError:
            break
    else:
        pytest.fail("the budget of this example is never exhausted")
    opened = (watched.opened, watched.tried)
    assert watched.tried >= watched.opened > 0
    with pytest.raises(errors.BudgetError):
        session.release(query, "once more")
    assert (watched.opened, watched.tried) == opened
    path.with_name("rows.ledger").unlink()
    with pytest.raises(errors.LedgerError):
        session.release(query, "once more")
    assert (watched.opened, watched.tried) == opened


def test_an_unreviewed_declaration_is_refused_before_anything_else(example, tmp_path):
    declaration = load(example.lay_out(tmp_path, change=("reviewed = true", "reviewed = false")))
    with pytest.raises(errors.DeclarationError, match="reviewed"):
        Session(declaration, Forbidden()).release(example.query(tmp_path))


def test_a_crash_after_the_charge_is_charged_and_says_nothing(example, prepared, tmp_path):
    session, _, _ = prepared(error=ValueError(f"cannot convert '{CANARY}' in row 7"))
    with pytest.raises(errors.ReleaseFailed) as caught:
        session.release(example.query(tmp_path), request_id="once")
    assert CANARY not in chain(caught.value)
    assert charges(session) == 1
    # Nothing of a publication or of a series was visible before its record, so its id may go on; every other id is dead.
    again = example.query(tmp_path).name == "publish" or is_series(example.query(tmp_path))
    words = "may be used again, uncharged" if again else "new"
    with pytest.raises(errors.WallflowerError, match=words):
        session.release(example.query(tmp_path), request_id="once")
    assert charges(session) == 1


def test_the_same_request_id_returns_the_recorded_answer(example, prepared, tmp_path):
    session, watched, _ = prepared()
    first = session.release(example.query(tmp_path), request_id="a")
    opened = (watched.opened, watched.tried)
    again = session.release(example.query(tmp_path), request_id="a")
    assert again.to_json() == first.to_json()
    assert (watched.opened, watched.tried) == opened
    assert charges(session) == 1


def test_a_seed_needs_a_test_table_and_is_never_private(example, prepared, tmp_path):
    with pytest.raises(errors.UsageError, match="test = true"):
        prepared(seed=1)
    (tmp_path / "rows.ledger").unlink()
    session, _, _ = prepared(test=True, seed=1)
    assert not session.release(example.query(tmp_path)).private


CELLS = ("", "NaN", "nan", "inf", "-inf", "1e999", CANARY, "\x01", "é" * 300)
ALONE = {"", "inf", "-inf"}
"""What the others are read as: missing, above and below every bound. The campaign fills a table with each."""


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(CELLS, id="all of them"),
        *(pytest.param((cell,), marks=() if cell in ALONE else pytest.mark.campaign) for cell in CELLS),
    ],
)
def test_no_row_makes_a_query_fail(example, prepared, tmp_path, cells):
    session, _, _ = prepared(csv=example.with_cells(*cells))
    release = session.release(example.query(tmp_path))
    RELEASE.validate(release.to_json())


def test_an_empty_table_is_answered_like_any_other(example, prepared, tmp_path):
    session, _, _ = prepared(csv=example.only_header())
    release = session.release(example.query(tmp_path))
    RELEASE.validate(release.to_json())
    assert (release.value is not None) or not (example.answerable and example.always_answers)


def test_a_canary_in_the_rows_reaches_nothing_the_command_prints(example, tmp_path, capfd, caplog):
    rows = example.csv.strip().split("\n")
    width = rows[0].count(",") + 1
    mixed = (
        "\n".join([*rows, ",".join([CANARY] * width), f"{CANARY},{CANARY}", ",".join([f'"{CANARY}'] * width)]) + "\n"
    )
    path = example.lay_out(tmp_path, csv=mixed)
    Ledger.init(load(path))
    for extra in ((), ("--json",), ("--dry-run",), ("--owner-report", str(tmp_path / "owner.json"))):
        code = run([*example.arguments(path), *extra])
        assert code in {0, 3, 5}
    run(["ledger", "show", str(path)])
    run(["ledger", "history", str(path)])
    shown = capfd.readouterr()
    assert CANARY not in shown.out
    assert CANARY not in shown.err
    assert CANARY not in caplog.text
    left_behind = [
        file for file in tmp_path.rglob("*") if file.is_file() and file.name not in {"rows.csv", "owner.json"}
    ]
    assert not [file.name for file in left_behind if CANARY.encode() in file.read_bytes()]
    run(["check", str(path)])  # the owner's own look: it names unreadable cells, on its own output and nowhere else
    shown = capfd.readouterr()
    assert "without protection" in shown.err
    assert CANARY not in shown.err
    assert CANARY not in caplog.text


def test_the_command_line_agrees_with_the_exit_codes(example, tmp_path, capfd):
    path = example.lay_out(tmp_path)
    assert run([*example.arguments(path), "--json"]) == 3  # no ledger yet
    refused = json.loads(capfd.readouterr().out)
    assert refused["ok"] is False
    assert refused["error"]["hint"]
    RELEASE.validate(refused)
    Ledger.init(load(path))
    assert run([*example.arguments(path), "--json"]) == (0 if example.answerable else 5)
    answered = json.loads(capfd.readouterr().out)
    RELEASE.validate(answered)
    assert (answered["release"] is not None) == example.answerable
