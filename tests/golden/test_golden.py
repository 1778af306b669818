"""What was kept once is opened, shown, charged and replayed by every later version; and what may change changes nothing.

A failure here means that somebody's ledger would not open any more: mend the code, never the golden file.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import uuid
from dataclasses import dataclass, make_dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.golden.make import FRAME, QUERY
from tests.servers.postgresql import server  # noqa: F401 - a fixture
from wallflower.errors import BudgetError, LedgerError
from wallflower.ledger import Ledger
from wallflower.ledger.journal import limits_of
from wallflower.privacy import accounts, guarantees
from wallflower.schema import declaration as declarations
from wallflower.schema import domains, load, loads
from wallflower.schema.canonical import question
from wallflower.schema.fingerprint import fingerprint
from wallflower.session import table

HERE = Path(__file__).parent
KEPT = json.loads((HERE / "format2.json").read_text(encoding="utf-8"))
DEFAULTS = json.loads((HERE / "format2-defaults.json").read_text(encoding="utf-8"))
CLASSES = [
    kind
    for module in (declarations, domains)
    for kind in vars(module).values()
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__
]


@pytest.fixture
def declared(tmp_path):
    for name in ("format2.toml", "format2.ledger"):
        shutil.copy(HERE / name, tmp_path / name)
    return load(tmp_path / "format2.toml", source_optional=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def kept(request, declared):
    """The golden ledger where it is, and copied row by row to a server."""
    if request.param == "sqlite":
        return declared
    running = request.getfixturevalue("server")
    running.execute(f'CREATE DATABASE "{(name := "g" + uuid.uuid4().hex)}"')
    moved = replace(declared, ledger=running.address(name))
    source, target = Ledger.open(declared)._store, Ledger(_store(moved))._store
    with source.transaction(write=False) as rows:
        head, everything = rows.head(), list(rows.entries(after=0))
        digests = [
            json.loads(row.body)["file"] for row in everything if '"file":"' in row.body and row.kind == "answer"
        ]
        files = {digest: rows.kept(digest) for digest in digests if rows.kept(digest)}
    first = replace(head, entry=1, hash=everything[0].hash, checkpoint=0)
    assert target.make(everything[:1], first, declared.id)
    with target.transaction(write=True) as rows:
        rows.append(everything[1:], head)
        for digest, content in files.items():
            rows.keep(digest, content)
    return moved


def _store(declared):
    from wallflower.stores.opening import open_store

    return open_store(declared.ledger, table=declared.id, patience_s=30)


def test_it_is_opened_verified_and_shown(kept):
    ledger = Ledger.open(kept)
    assert ledger.verify(anchor=KEPT["head"]).entries == KEPT["entries"]
    shown = ledger.show(kept)
    assert {each.account.code: {n: str(a) for n, a in each.spent.items()} for each in shown.accounts} == KEPT["spent"]
    assert list(shown.explained) == KEPT["explained"]
    assert len(ledger.history()) == KEPT["entries"]
    assert [line.kind for line in ledger.history()].count("checkpoint") > 0


def test_it_is_charged_and_its_limits_hold(kept):
    ledger = Ledger.open(kept)
    promise = QUERY.price(kept).guarantee
    charge = ledger.charge(promise, declaration=kept, query=QUERY)
    assert charge.entry > KEPT["entries"]
    with pytest.raises(BudgetError, match="share of 'ann'"):
        ledger.charge(promise, declaration=kept, query=QUERY, asker="ann")
    with pytest.raises(LedgerError, match="Use a new id"):
        ledger.charge(
            guarantees.SensitivePrivacy(epsilon=promise.epsilon, k=3, model="default", neighbours="add-remove"),
            declaration=kept,
            query={"command": "identify"},
            request_id="closed",
        )


def test_every_answer_is_replayed_word_for_word(kept):
    session = table(FRAME, kept)
    for name, answer in KEPT["answers"].items():
        asker, _, request = name.partition("/")
        again = session.release(QUERY, request, asker=asker).to_json()
        assert {**again, "wallflower": ""} == {**answer, "wallflower": ""}
    assert Ledger.open(kept).journal.entry == KEPT["entries"]


def test_the_declaration_keeps_its_fingerprint(declared):
    assert declared.fingerprint == KEPT["fingerprint"]
    assert all(answer["declaration"]["fingerprint"] == KEPT["fingerprint"] for answer in KEPT["answers"].values())


def test_raising_a_limit_or_moving_a_file_ends_no_replay(declared, tmp_path):
    text = (HERE / "format2.toml").read_text().replace('epsilon = "4"', 'epsilon = "40"')
    (tmp_path / "elsewhere").mkdir()
    shutil.move(declared.ledger, tmp_path / "elsewhere" / "moved.ledger")
    moved = loads(text.replace("format2.ledger", "elsewhere/moved.ledger"), folder=tmp_path)
    Ledger.init(moved, reason="more")
    assert table(FRAME, moved).release(QUERY, "golden-0").to_json() == KEPT["answers"]["owner/golden-0"]


def said_default(field):
    if dataclasses.is_dataclass(field.default):
        return type(field.default).__name__  # its own fields are held to their own defaults
    return "none" if field.default is dataclasses.MISSING else repr(field.default)


def test_no_default_has_changed():
    """A field at its default is left out of a fingerprint, so its default may never mean anything else."""
    now = {kind.__name__: {f.name: said_default(f) for f in dataclasses.fields(kind)} for kind in CLASSES}
    for name, fields in DEFAULTS.items():
        for field, default in fields.items():
            assert now[name][field] == default, f"{name}.{field} is renamed, removed, or has another default"


def grown(value):
    """The same value, of classes that have one more field, at its default."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        added = ("added_by_a_later_version", str, dataclasses.field(default="as before"))
        more = make_dataclass(kind.__name__, [added], bases=(kind,), frozen=True, kw_only=True)
        held = {f.name: grown(getattr(value, f.name)) for f in dataclasses.fields(value)}
        made = object.__new__(more)
        for name, inner in {**held, "added_by_a_later_version": "as before"}.items():
            object.__setattr__(made, name, inner)
        return made
    if isinstance(value, dict):
        return {key: grown(item) for key, item in value.items()}
    return tuple(grown(item) for item in value) if isinstance(value, tuple) else value


def test_a_new_field_with_a_default_changes_nothing(declared):
    later = grown(declared)
    assert dataclasses.fields(later)[-1].name == "added_by_a_later_version"
    assert fingerprint(later) == KEPT["fingerprint"]
    assert limits_of(later) == limits_of(declared)
    with_value = grown(declared)
    object.__setattr__(with_value, "added_by_a_later_version", "otherwise")
    assert fingerprint(with_value) != KEPT["fingerprint"]
    later_query = grown(QUERY)
    assert "added_by_a_later_version" in question(later_query)
    promise = QUERY.price(declared).guarantee
    replayed = Ledger.open(declared).charge(promise, declaration=declared, query=later_query, request_id="golden-0")
    assert replayed.replay is not None
    object.__setattr__(later_query, "added_by_a_later_version", "otherwise")
    with pytest.raises(LedgerError, match="another question"):
        Ledger.open(declared).charge(promise, declaration=declared, query=later_query, request_id="golden-0")


def test_rewording_every_sentence_changes_nothing(declared, monkeypatch):
    for name in guarantees.__all__:
        kind = getattr(guarantees, name)
        if isinstance(kind, type) and issubclass(kind, guarantees.Guarantee) and kind is not guarantees.Guarantee:
            monkeypatch.setattr(kind, "sentence", property(lambda _self: "In other words."))
    reworded = {
        code: replace(kind, words=f"{code} in other words", bounds=lambda *_words: "Something else.")
        for code, kind in accounts.KINDS.items()
    }
    monkeypatch.setattr(accounts, "KINDS", reworded)
    ledger = Ledger.open(declared)
    ledger.verify(anchor=KEPT["head"])
    assert {
        each.account.code: {n: str(a) for n, a in each.spent.items()} for each in ledger.show(declared).accounts
    } == KEPT["spent"]
    ledger.charge(QUERY.price(declared).guarantee, declaration=declared, query=QUERY)
    session = table(FRAME, declared)
    assert session.release(QUERY, "golden-0").to_json() == KEPT["answers"]["owner/golden-0"]


@dataclass(frozen=True)
class Odd:
    name = "odd"
    held: object


@pytest.mark.parametrize("held", [0.5, b"x", 1 + 2j, object()])
def test_what_has_no_written_form_is_refused(held):
    with pytest.raises(Exception, match="cannot hold a"):
        question(Odd(held))


def test_the_written_form_of_a_question():
    assert question(Odd((Fraction(1, 3), {"b": 1, "a": None}, frozenset({"y", "x"}), True))) == {
        "command": "odd",
        "kind": "Odd",
        "held": ["1/3", {"b": 1, "a": None}, ["x", "y"], True],
    }
