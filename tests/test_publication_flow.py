"""A publication is kept before it is seen: whatever happens between, the ledger knows what anybody can have."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from wallflower import errors, progress
from wallflower.engines import from_frame
from wallflower.ledger import Ledger
from wallflower.privacy.file_answer import FileAnswer
from wallflower.privacy.guarantees import PlainKAnonymity
from wallflower.privacy.price import Price
from wallflower.schema import loads
from wallflower.schema.canonical import PLACE
from wallflower.session import Session, description
from wallflower.session import release_door as door

TABLE = """
[table]
id = "t"
neighbours = "add-remove"
max_rows = 100
reviewed = true
ledger = "t.ledger"
[budget.plain-k-anonymity]
publications = 1
[columns.x]
role = "sensitive"
lower = 0
upper = 9
step = 1
outside = "clip"
missing = "drop"
"""
MADE: list[bytes] = []
"""What each computation rendered; another each time, as shuffles are."""


@dataclass(frozen=True, kw_only=True)
class Publish:
    name = "publish"
    out: str = field(metadata=PLACE)
    k: int = 3
    empty: bool = False
    columns: tuple[str, ...] = ("x",)

    def price(self, _declaration):
        promise = PlainKAnonymity(k=self.k, p=Fraction(1, 2), d=Fraction(1), level="candidate")
        return Price(guarantee=promise, mechanism={"name": "none"}, notes=("Two publications can be intersected.",))

    def prepare(self, rows, entropy):
        pass

    def run(self, rows, entropy):
        MADE.append(b"x\n%d\n" % len(MADE))
        value = {"file": Path(self.out).name, "rows": 0 if self.empty else 1}
        return FileAnswer(
            value=value,
            content=MADE[-1],
            place=Path(self.out),
            warning="The publication is empty." if self.empty else "",
        )

    def inspect(self, rows):
        return {}


@pytest.fixture
def session(tmp_path):
    MADE.clear()
    declaration = loads(TABLE, folder=tmp_path)
    Ledger.init(declaration)
    return Session(declaration, from_frame(pd.DataFrame({"x": [1, 2]}), declaration))


def charges(session):
    return [line.kind for line in Ledger.open(session.declaration).history()].count("charge")


def test_it_is_kept_recorded_and_then_put_in_place(session, tmp_path, monkeypatch):
    seen = []
    write = door.write_whole
    monkeypatch.setattr(
        door, "write_whole", lambda place, content: (seen.append(recorded(session)), write(place, content))
    )
    release = session.release(Publish(out=str(tmp_path / "a.csv")), "one")
    assert seen == [True]  # the answer was on disk before the file could be seen
    assert (tmp_path / "a.csv").read_bytes() == MADE[0]
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o600
    assert release.to_json()["notes"] == ["Two publications can be intersected."]
    assert "out" not in description(Publish(out="a.csv"))


def recorded(session):
    return any(line.kind == "answer" for line in Ledger.open(session.declaration).history())


def test_a_replay_copies_it_wherever_it_is_wanted(session, tmp_path):
    first = session.release(Publish(out=str(tmp_path / "a.csv")), "one")
    again = session.release(Publish(out=str(tmp_path / "b.csv")), "one")
    assert (tmp_path / "b.csv").read_bytes() == MADE[0]
    assert len(MADE) == 1
    assert (first["file"], again["file"]) == ("a.csv", "b.csv")
    assert first["sha256"] == again["sha256"]
    assert charges(session) == 1


def test_interrupted_before_the_record_nothing_is_seen_and_the_same_id_computes_anew(session, tmp_path, monkeypatch):
    query = Publish(out=str(tmp_path / "a.csv"))
    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "answer", lambda *_a, **_n: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            session.release(query, "one")
    assert not (tmp_path / "a.csv").exists()
    assert not recorded(session)
    release = session.release(query, "one")
    assert (tmp_path / "a.csv").read_bytes() == MADE[1]
    assert release.ledger["entry"] == 2
    assert charges(session) == 1


def test_interrupted_between_draw_and_record_the_charge_is_given_up(session, tmp_path, monkeypatch):
    """Whoever interrupts a release in a notebook asks again in the same process: nobody there is answering any more."""

    @contextmanager
    def interrupted():
        yield
        raise KeyboardInterrupt

    query = Publish(out=str(tmp_path / "a.csv"))
    session.ledger.patience_s = 0.2
    with monkeypatch.context() as broken:
        broken.setattr(door, "shown_progress", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.release(query, "one")
    assert not recorded(session)
    assert session.release(query, "one").ledger["entry"] == 2
    assert charges(session) == 1


def test_interrupted_after_the_record_the_same_id_brings_the_recorded_file(session, tmp_path, monkeypatch):
    query = Publish(out=str(tmp_path / "a.csv"))

    def full(_place, _content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(door, "write_whole", full)
        with pytest.raises(errors.PendingError, match=r"is recorded, and cannot be put.*same request id"):
            session.release(query, "one")
    assert recorded(session)
    session.release(query, "one")
    assert (tmp_path / "a.csv").read_bytes() == MADE[0]
    assert charges(session) == 1


def test_an_empty_publication_warns_before_it_is_put_in_place(session, tmp_path):
    place, heard = tmp_path / "a.csv", []
    with progress.warned(lambda sentence: heard.append((sentence, place.exists()))):
        session.release(Publish(out=str(place), empty=True), "one")
    assert heard == [("The publication is empty.", False)]
