"""A series that was begun once is opened, told and gone on with by every later version. Mend the code, never the golden file."""

from __future__ import annotations

import json
import shutil
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from tests.golden.make_series import FRAME, question
from tests.servers.postgresql import server  # noqa: F401 - a fixture
from wallflower.ledger import Ledger
from wallflower.ledger.book import _store
from wallflower.schema import load
from wallflower.session import table

HERE = Path(__file__).parent
KEPT = json.loads((HERE / "series.json").read_text(encoding="utf-8"))


@pytest.fixture(params=["sqlite", "postgresql"])
def kept(request, tmp_path):
    for name in ("series.toml", "series.ledger"):
        shutil.copy(HERE / name, tmp_path / name)
    declared = load(tmp_path / "series.toml", source_optional=True)
    if request.param == "sqlite":
        return declared
    running = request.getfixturevalue("server")
    running.execute(f'CREATE DATABASE "{(name := "g" + uuid.uuid4().hex)}"')
    moved = replace(declared, ledger=running.address(name))
    target = _store(moved, 30.0)
    with Ledger.open(declared)._store.transaction(write=False) as rows:
        head, everything = rows.head(), list(rows.entries(after=0))
    assert target.make(everything[:1], replace(head, entry=1, hash=everything[0].hash, checkpoint=0), declared.id)
    with target.transaction(write=True) as rows:
        rows.append(everything[1:], head)
    return moved


def test_it_is_verified_and_told_word_for_word(kept):
    assert kept.fingerprint == KEPT["fingerprint"]
    verified = Ledger.open(kept).verify(anchor=KEPT["head"])
    assert (verified.entries, verified.charges) == (KEPT["entries"], 1)
    again = table(FRAME, kept).release(question("2020-01-15")).to_json()
    assert {**again, "wallflower": ""} == {**KEPT["answer"], "wallflower": ""}
    assert Ledger.open(kept).journal.entry == KEPT["entries"]


def test_it_goes_on_uncharged_from_what_it_kept(kept):
    later = table(FRAME, kept).release(question("2020-02-01"))
    assert later["days"][:15] == KEPT["answer"]["release"]["days"]
    assert len(later["days"]) == 32
    ledger = Ledger.open(kept)
    assert [line.kind for line in ledger.history()] == ["limits", "charge", "part", "part", "part"]
    assert ledger.verify().charges == 1
