"""What libraries say about rows goes no further, and no file is left behind."""

from __future__ import annotations

import stat
import tempfile
import traceback
from dataclasses import replace

import duckdb
import pandas as pd
import pytest

from tests.contracts.engine_sources import categories, declare, numbers
from wallflower.engines import from_frame, open_source, redaction
from wallflower.engines.duckdb import database as database_file
from wallflower.engines.duckdb.database import database
from wallflower.engines.duckdb.source import HELD, DuckSource
from wallflower.errors import ReleaseFailed, WallflowerError

CANARY = "canary-7391"


@pytest.fixture
def spill(tmp_path, monkeypatch):
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"k,x,c\n" + f"1,2,{CANARY}\n{CANARY},{CANARY},a\n".encode() + b"3,\xff,b\n")
    return open_source(replace(declare(numbers(), categories()), source=path))


def everything(error: BaseException | None) -> str:
    """All that an error can tell: its chain, with the text of every frame's code but not of its variables."""
    told = ""
    while error is not None:
        told += "".join(traceback.format_exception(error)) + repr(error.args) + repr(vars(error))
        error = error.__context__ or error.__cause__
    return told


def test_a_library_error_leaves_no_trace():
    def fail() -> None:
        raise ValueError(CANARY)

    with pytest.raises(ReleaseFailed) as caught:
        redaction.quietly(fail, redaction.broken)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert CANARY not in everything(caught.value)


def test_a_reading_that_is_left_early_is_ended_at_once():
    """What it holds open is closed then, and not when its last reference happens to go."""
    ended = []

    def reading():
        try:
            yield from range(1, 9)
        finally:
            ended.append(True)

    held = reading()
    found = redaction.quietly_each(lambda: held, redaction.broken)
    assert next(found) == 1
    assert not ended
    found.close()
    assert ended


def test_errors_of_our_own_and_interrupts_pass():
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        redaction.quietly(interrupt, redaction.broken)


def test_duckdb_would_have_told():
    with database() as base, pytest.raises(Exception, match=CANARY):
        base.run(f"SELECT CAST(x AS DOUBLE) FROM (SELECT '{CANARY}' AS x)")


@pytest.mark.parametrize("ask", ["numbers", "cells", "nearest", "between", "record", "size", "tally"])
def test_a_broken_engine_tells_nothing(source, capfd, monkeypatch, ask):
    source = replace(source, declaration=replace(source.declaration, neighbours="replace-one"), held=0)

    def broken_sql(dialect, expression) -> str:
        return f"SELECT CAST('{CANARY}' AS DOUBLE)"

    with pytest.raises(WallflowerError) as caught, source.rows(("x", "c")) as rows:  # noqa: PT012 - one question of several
        monkeypatch.setattr("wallflower.engines.dialect.Dialect.compiled", broken_sql)
        if ask == "tally":
            source.tally(("x", "c"))
        else:
            questions = {
                "numbers": lambda: rows.fetch(numbers=["x"]).numbers,
                "cells": lambda: rows.cells(["c"], "x", 0),
                "nearest": lambda: rows.nearest(["c"], "x", 0, 1),
                "between": lambda: rows.between(["c"], "x", 0, 1),
                "record": lambda: rows.record("1"),
                "size": lambda: rows.size,
            }
            questions[ask]()
    assert CANARY not in everything(caught.value)
    out, err = capfd.readouterr()
    assert CANARY not in out + err


def test_a_broken_reading_of_held_texts_tells_nothing(source, capfd, monkeypatch):
    def broken_reading(cells, rule, *, clipped) -> None:
        raise ValueError(CANARY + str(cells))

    monkeypatch.setattr("wallflower.engines.memory.dialect._by_rule", broken_reading)
    with pytest.raises(ReleaseFailed) as caught, source.rows(("x", "c")):
        pass
    assert CANARY not in everything(caught.value) + "".join(capfd.readouterr())


@pytest.mark.parametrize("held", [0, HELD])
def test_a_canary_in_the_cells_reaches_nobody(source, capfd, held):
    with replace(source, held=held).rows(("x", "c")) as rows:
        told = repr(rows.fetch(numbers=["x", "c"]).numbers) + repr(rows.cells(["c"], "x", 0)) + repr(rows.record("1"))
    out, err = capfd.readouterr()
    assert CANARY not in told + out + err


def test_a_frame_with_impossible_cells_tells_nothing(capfd):
    frame = pd.DataFrame(
        {
            "k": ["1", "2"],
            "x": pd.Series([CANARY, [CANARY]], dtype=object),
            "c": pd.Series(["a", "\ud800" + CANARY], dtype=object),
        }
    )
    with from_frame(frame, declare(numbers(), categories())).rows(("x", "c")) as rows:
        assert CANARY not in repr(rows.fetch(numbers=["x", "c"]).numbers)
    out, err = capfd.readouterr()
    assert CANARY not in out + err


def test_the_spill_folder_is_private_and_removed(source, spill):
    with source.rows(("x", "c")):
        (folder,) = spill.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert any(folder.iterdir()), "the transcoded copy lies here"
    assert list(spill.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_the_spill_folder_is_removed_after_a_failure(source, spill, error):
    with pytest.raises(error), source.rows(("x", "c")):
        raise error
    assert list(spill.iterdir()) == []


def test_the_spill_folder_is_removed_when_the_file_is_refused(tmp_path, spill):
    path = tmp_path / "rows.parquet"
    path.write_text(CANARY)
    for ask in ("verify", "rows"):
        with pytest.raises(WallflowerError):
            getattr(open_source(replace(declare(numbers()), source=path)), ask)(("x",)).__enter__()
    assert list(spill.iterdir()) == []


def test_a_large_aggregation_spills_and_only_into_the_private_folder(tmp_path, spill, monkeypatch):
    path = tmp_path / "rows.parquet"
    rows_ = "SELECT range::VARCHAR AS k, (range * 7919) % 3000000 AS x FROM range(3000000)"
    duckdb.sql(rows_).write_parquet(str(path))
    column = numbers(lower="0", upper="3000000", step="1")
    small = DuckSource(replace(declare(column), source=path), memory_limit="150MiB")
    with small.open(("x",)) as rows:
        nearest = rows.nearest([], "x", 1_500_000, 2)
    assert list(nearest.values) == [1499998, 1499999, 1500000, 1500001, 1500002]
    assert list(spill.iterdir()) == []
    connect = database_file._connect

    def without_room(*arguments):
        connection = connect(*arguments)
        connection.execute("SET max_temp_directory_size = '0KiB'")
        return connection

    monkeypatch.setattr(database_file, "_connect", without_room)
    with (
        small.open(("x",)) as rows,
        pytest.raises(ReleaseFailed),
    ):  # so the limit holds, and above it was kept by spilling
        rows.nearest([], "x", 1_500_000, 2)


def test_a_private_folder_that_somebody_else_removed_fails_nothing(spill):
    with redaction.private_folder() as folder:
        folder.rmdir()
    assert list(spill.iterdir()) == []
