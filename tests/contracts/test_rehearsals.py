"""Every question can be rehearsed: on other rows, with the mechanism of a release, uncharged, and never on the table's own."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import struct
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.contracts.registry import every_example
from wallflower.cli.app import run
from wallflower.engines.stand_in import stand_in
from wallflower.errors import DeclarationError, UsageError
from wallflower.ledger import Ledger
from wallflower.noise.entropy import SeededEntropy
from wallflower.privacy.file_answer import FileAnswer
from wallflower.schema import load
from wallflower.schema.shape import schema
from wallflower.session import open as open_session
from wallflower.session.rehearsal_result import COLUMNS

EXAMPLES = every_example()
SMALL = {"draws": 2, "sweep_draws": 0}

IN_OPEN = 0x20


class Watch:
    """Which of some files are opened, by whatever process and library: the kernel says so (inotify)."""

    def __init__(self, *files: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._watch = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self._watch >= 0
        self._names = {}
        for file in files:
            number = self._libc.inotify_add_watch(self._watch, os.fsencode(file), IN_OPEN)
            assert number >= 0
            self._names[number] = file.name

    def opened(self) -> set[str]:
        """Since it was last asked."""
        try:
            events = os.read(self._watch, 1 << 16)
        except BlockingIOError:
            return set()
        found, at = set(), 0
        while at < len(events):
            number, _, _, length = struct.unpack_from("iIII", events, at)
            found.add(self._names[number])
            at += 16 + length
        return found

    def close(self) -> None:
        os.close(self._watch)


SHORT = {
    *("count-fence", "count-by-group", "count-lomax", "count-daily", "subspaces", "identify", "publish-matching"),
    *("explain exact", "explain full grubbs", "explain two records"),
}
"""One of each kind; the others draw through the same code, and are tried by `make campaign`."""


@pytest.mark.parametrize(
    "example",
    [pytest.param(one, marks=[] if one.name in SHORT else pytest.mark.campaign, id=one.label) for one in EXAMPLES],
)
def test_a_rehearsal_draws_as_a_release_does(example, tmp_path):
    declaration = load(example.lay_out(tmp_path))
    query = example.query(tmp_path)
    if not hasattr(query, "trial"):  # then it is refused, in words
        with pytest.raises(UsageError, match="cannot be rehearsed"):
            open_session(declaration.path).rehearse(query, **SMALL)
        return
    records = getattr(query, "records", (str(getattr(query, "record", "0")),))
    standing = stand_in(declaration, "made-up", None, records=records, held=query.trial().held(declaration))
    with standing.view(declaration, query.columns) as rows:
        stage = query.trial().on(rows)
        for seed in range(2):
            released = query.run(rows, SeededEntropy(seed))
            answer = dict(released.value) if isinstance(released, FileAnswer) else released
            assert stage.draw(SeededEntropy(seed)) == answer
            number, useful = stage.score(answer)
            assert isinstance(useful, bool)
            assert number >= 0
        assert isinstance(stage.score(None)[1], bool)  # a release may come to no answer
        if stage.truth is not None and query.trial().is_random and query.name != "identify":
            assert stage.score(stage.truth)[1]
        if stage.truth is not None and stage.number is not None:
            assert stage.score(stage.truth)[0] == stage.number  # the truth is drawn where a perfect answer would be


@pytest.mark.parametrize("command", ["count", "subspaces", "explain", "identify", "publish"])
def test_nothing_is_charged_and_nothing_of_the_table_is_needed(command, tmp_path):
    example = one_of(command)
    path = example.lay_out(tmp_path)
    (tmp_path / "rows.csv").unlink()  # and there is no ledger
    seen = open_session(path).rehearse(example.query(tmp_path), **SMALL)
    assert seen.to_json()["marked"].startswith("REHEARSAL")
    assert str(seen).startswith("REHEARSAL")
    assert not seen.owner_only
    assert not (tmp_path / "rows.ledger").exists()
    assert {each.name for each in tmp_path.iterdir()} == {"rows.toml"}


def one_of(command):
    wanted = {"count": "count-laplace"}.get(command)
    return next(each for each in EXAMPLES if (each.name == wanted if wanted else each.command[0] == command))


@pytest.mark.parametrize("command", ["count", "publish"])
def test_neither_the_rows_nor_the_ledger_is_opened(command, tmp_path, capsys):
    example = one_of(command)
    path = example.lay_out(tmp_path)
    Ledger.init(load(path))
    other = tmp_path / "other.csv"
    other.write_text(example.csv + example.csv.strip().split("\n")[-1] + "\n", encoding="utf-8")
    watch = Watch(tmp_path / "rows.csv", tmp_path / "rows.ledger")
    try:
        for rows in ("made-up", str(other)):
            assert run([*example.arguments(path), "--rehearse", rows]) == 0
            assert "REHEARSAL" in capsys.readouterr().out
            assert watch.opened() == set()
        assert run(example.arguments(path)) == 0  # and the watch does see both
        assert watch.opened() == {"rows.csv", "rows.ledger"}
    finally:
        watch.close()


def test_the_json_is_a_rehearsal_and_never_a_release(tmp_path, capsys):
    example = one_of("count")
    path = example.lay_out(tmp_path)
    page = tmp_path / "page.html"
    assert run([*example.arguments(path), "--rehearse", "made-up", "--json", "--rehearsal-report", str(page)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {"ok", "rehearsal"}
    assert "release" not in said["rehearsal"]
    assert len(said["rehearsal"]["numbers"]) == 200
    assert {"epsilon", "radius", "neighbours"} <= {line["parameter"] for line in said["rehearsal"]["sweep"]}
    Draft202012Validator(schema("release")).validate(said)
    assert "REHEARSAL" in page.read_text(encoding="utf-8")
    (tmp_path / "r.json").write_text(json.dumps(said), encoding="utf-8")
    assert run(["certificate", str(tmp_path / "r.json"), "-o", str(page)]) == 2
    for idle in (["--dry-run"], ["--request-id", "a"], ["--owner-report", str(tmp_path / "o.html")]):
        assert run([*example.arguments(path), "--rehearse", "made-up", *idle]) == 2


def test_the_source_is_refused_and_public_rows_are_declared(tmp_path):
    example = one_of("count")
    path = example.lay_out(tmp_path)
    query = example.query(tmp_path)
    (tmp_path / "link.csv").hardlink_to(tmp_path / "rows.csv")
    (tmp_path / "symbolic.csv").symlink_to(tmp_path / "rows.csv")
    shutil.copy(tmp_path / "rows.csv", tmp_path / "copy.csv")
    header, *rows = example.csv.strip().split("\n")
    (tmp_path / "last_year.csv").write_text("\n".join([header, *rows[: len(rows) // 2]]) + "\n", encoding="utf-8")
    session = open_session(path)
    for own in ("rows.csv", "link.csv", "symbolic.csv", "copy.csv"):
        with pytest.raises(UsageError, match="own source"):
            session.rehearse(query, tmp_path / own, **SMALL)
    with pytest.raises(UsageError, match="no public rows"):
        session.rehearse(query, "public", **SMALL)
    seen = session.rehearse(query, tmp_path / "last_year.csv", **SMALL)
    assert seen.owner_only
    assert "OWNER ONLY" in str(seen)
    before = session.declaration.fingerprint
    path.write_text(path.read_text(encoding="utf-8") + '\n[rehearsal]\npublic = "last_year.csv"\n', encoding="utf-8")
    session = open_session(path)
    assert session.declaration.fingerprint == before
    assert not session.rehearse(query, "public", **SMALL).owner_only
    assert not session.rehearse(query, tmp_path / "last_year.csv", **SMALL).owner_only


def test_a_sweep_takes_the_values_it_is_given(tmp_path):
    example = one_of("count")
    session = open_session(example.lay_out(tmp_path))
    query = example.query(tmp_path)
    lines = session.sweep(query, epsilon=["0.01", "100"], draws=20)
    assert [line.parameter for line in lines] == ["epsilon", "epsilon"]
    assert lines[0].useful <= lines[1].useful
    assert lines[1].useful > 0.9
    with pytest.raises(UsageError, match="not a choice"):
        session.sweep(query, colour=["red"])
    for many in (
        {"draws": 0},
        {"draws": 100_001},
        {"draws": 1, "sweep_draws": 100_001},
        {"draws": 1, "sweep_draws": -1},
    ):
        with pytest.raises(UsageError, match="from 1 to 100000"):
            session.rehearse(query, **many)
    refused = session.sweep(query, epsilon=["-1"], draws=1)[0]
    assert refused.refused


def test_a_number_of_a_model_is_varied_to_what_can_be_declared(tmp_path):
    """Half a row is not rounded to one that nobody asked about."""
    example = one_of("identify")
    session = open_session(example.lay_out(tmp_path))
    lines = session.sweep(example.query(tmp_path), k=[2.5, "many", 0], beta=[True], radius=["-1", "1/0"], draws=1)
    assert [line.parameter for line in lines] == ["k", "k", "k", "beta", "radius", "radius"]
    assert all(line.refused for line in lines)


def test_a_declared_picture_is_what_is_made_up(tmp_path):
    path = tmp_path / "rows.toml"
    path.write_text(PICTURE, encoding="utf-8")
    table = _made(path)
    ages = table["age"].to_pylist()
    young = [age for age, ward in zip(ages, table["ward"].to_pylist(), strict=True) if ward == "A" and age < 40]
    assert len(ages) == 500
    assert 250 < len(young) < 420
    assert sum(age > 90 for age in ages) < 40
    assert _made(path).equals(table)
    for wrong in ("share = 2", 'share = "0.5"\ncentre = {age = 500}', 'share = "0.5"\nspread = {ward = 1}'):
        bad = PICTURE.replace('share = "0.7"', wrong, 1)
        path.write_text(
            bad if "centre" not in wrong else bad.replace('\ncentre = {age = 30, ward = "A"}', "", 1), encoding="utf-8"
        )
        assert run(["check", str(path)]) == 2


@pytest.mark.parametrize(
    ("written", "code"), [("1970-01-03", 2), ('"1970-01-03"', 2), ('"3 January"', None), ("2", None)]
)
def test_a_declared_picture_may_lie_around_a_date(written, code, tmp_path):
    path = tmp_path / "rows.toml"
    came = '[columns.came]\nrole = "insensitive"\nlower = 1970-01-01\nupper = 1970-12-31\noutside = "drop"\nmissing = "drop"\n'
    path.write_text(
        PICTURE.replace("[rehearsal]\n", came + "[rehearsal]\n").replace("{age = 70}", f"{{came = {written}}}"),
        encoding="utf-8",
    )
    if code is None:
        with pytest.raises(DeclarationError, match="a date such as 2024-01-31"):
            load(path)
    else:
        assert load(path).rehearsal.groups[1].centre == {"came": code}


def test_the_records_that_are_asked_for_are_among_the_made_up_rows(tmp_path):
    """Else a rehearsal would show answers about nobody."""
    example = next(each for each in EXAMPLES if each.name == "explain two records")
    path, query = example.lay_out(tmp_path), example.query(tmp_path)
    seen = open_session(path).rehearse(query, **SMALL)
    assert seen.truth is not None
    assert [each["record"] for each in seen.truth["records"]] == list(query.records)
    assert all(each["answer"] is not None for each in seen.truth["records"])


def test_what_other_choices_would_give_stands_under_a_rehearsal(tmp_path):
    example = one_of("count")
    session, query = open_session(example.lay_out(tmp_path)), example.query(tmp_path)
    alone, swept = (str(session.rehearse(query, draws=2, sweep_draws=draws)) for draws in (0, 2))
    assert COLUMNS[-2] not in alone
    heading = next(line for line in swept.splitlines() if COLUMNS[-2] in line)
    assert heading.split()[:2] == list(COLUMNS[:2])
    assert any(line.startswith("epsilon ") for line in swept.splitlines())


def test_the_note_about_rows_without_groups_says_what_is_declared(tmp_path):
    path = tmp_path / "rows.toml"
    groups = PICTURE.index("[rehearsal.groups.")
    notes = []
    for picture in (PICTURE, PICTURE[:groups], PICTURE[: PICTURE.index("[rehearsal]")]):
        path.write_text(picture, encoding="utf-8")
        notes.append(" ".join(stand_in(load(path), "made-up", None).notes))
    with_groups, with_a_share, without = notes
    assert not with_groups
    assert "share of 0.02 of them lies anywhere" in with_a_share
    assert "share of 0.01 of them lies anywhere" in without
    assert "No groups are declared" in with_a_share


def _made(path: Path):
    from wallflower.engines.stand_in import made_up_table

    return made_up_table(load(path))


PICTURE = """
[table]
id = "visits"
source = "visits.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
ledger = "visits.ledger"
[columns.age]
role = "sensitive"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
[columns.ward]
role = "quasi-identifier"
values = ["A", "B"]
outside = "drop"
missing = "drop"
[rehearsal]
rows = 500
outliers = "0.02"
[rehearsal.groups.young]
share = "0.7"
centre = {age = 30, ward = "A"}
spread = {age = 3}
[rehearsal.groups.old]
share = "0.3"
centre = {age = 70}
spread = {age = 5}
"""
