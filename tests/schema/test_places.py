"""Addresses of servers: taken as they are written, never with a secret, and no error repeats one."""

from __future__ import annotations

from pathlib import Path

import pytest

from wallflower.engines import open_source
from wallflower.engines.registry import engine_for
from wallflower.errors import DeclarationError
from wallflower.schema import loads
from wallflower.schema.places import holds_secret, scheme_of

DECLARED = """
[table]
id = "visits"
source = "{source}"
table = "care.visits"
unit = "row"
neighbours = "add-remove"
max_rows = 10
ledger = "visits.ledger"
[columns.age]
role = "sensitive"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
"""


@pytest.mark.parametrize(
    "source",
    [
        "postgresql://ann:hunter2@host/db",
        "postgresql://ann:hun/ter2@host/db",
        "postgresql://ann:hunter2@host:port/db",
        "postgresql://host/db?password=hunter2",
        "postgresql://host/db?%70assword=hunter2",
        "postgresql://host/db?sslmode=require&sslpassword=hunter2",
        "sc://host:15002/;token=hunter2",
        "sc://host:15002/;use_ssl=true;x-secret=hunter2",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_repeated(source):
    with pytest.raises(DeclarationError, match="line 4") as caught:
        loads(DECLARED.format(source=source))
    assert "hunter2" not in str(caught.value)
    assert "ter2" not in str(caught.value)


@pytest.mark.parametrize(
    "source", ["postgresql://host/db", "postgresql://ann@host:5433/db?sslmode=verify-full", "spark:", "spark://h:7077"]
)
def test_an_address_is_kept_as_it_is_written(source):
    assert loads(DECLARED.format(source=source)).source == source


@pytest.mark.parametrize("source", ["rows.csv", "C:/rows.csv", "a:b.csv", "http.csv", "x/y:z.parquet"])
def test_a_file_is_a_file(source):
    declared = loads(DECLARED.format(source=source), folder="folder")
    assert declared.source == Path("folder") / source
    assert scheme_of(declared.source) is None
    assert engine_for(declared.source).name == "duckdb"


def test_a_scheme_that_no_engine_reads_is_refused_with_the_closest():
    with pytest.raises(DeclarationError, match=r"no engine reads.*'mysql:'"):
        open_source(loads(DECLARED.format(source="mysql://host/db")))


def test_a_setting_that_sounds_like_a_secret_is_one_even_when_it_is_empty():
    assert holds_secret("postgresql://ann@h/db?password=")
