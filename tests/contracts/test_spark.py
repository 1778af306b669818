"""Everything that the other engines are asked, asked of Spark: in one file, so that one process of tests starts one JVM."""

from __future__ import annotations

import inspect
import logging
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts import test_engine_views, test_engines, test_people, test_people_queries, test_same_release
from tests.contracts.engine_reference import Reference, agree
from tests.contracts.engine_sources import categories, dates, declare, numbers
from tests.contracts.people_reference import PeopleReference
from tests.contracts.registry import every_example
from tests.contracts.server_places import from_postgresql, from_spark
from tests.engines import test_postgresql
from tests.servers import spark
from wallflower.engines import open_source
from wallflower.engines.spark import parts
from wallflower.engines.spark import session as sessions
from wallflower.errors import DeclarationError, ReleaseFailed
from wallflower.schema import loads
from wallflower.schema.declaration import Becomes, Drop
from wallflower.schema.domains import Dates

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("spark_session"),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
]
CANARY = "canary-7741"
X = numbers(edges=(-10, 0, 3))


def asked_of_servers(module):
    """Every case of every test that PostgreSQL takes, without its place. Of each test the campaign asks what is neither first nor last."""
    for name, test in vars(module).items():
        if not name.startswith("test_") or "place" not in inspect.signature(test).parameters:
            continue
        cases = {"place": (from_postgresql,)}  # of the fixture, which has every place
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize":
                names = [mark.args[0]] if isinstance(mark.args[0], str) else list(mark.args[0])
                cases |= {", ".join(names): mark.args[1]}
        if from_postgresql not in cases.pop("place"):
            continue
        every = list(product(*cases.values()))
        for at, chosen in enumerate(every):
            case = {}
            for names, value in zip(cases, chosen, strict=True):
                case |= dict(zip(names.split(", "), value if ", " in names else [value], strict=True))
            marks = [pytest.mark.campaign] * (0 < at < len(every) - 1)
            yield pytest.param(test, case, id=f"{name.removeprefix('test_')}-{at}", marks=marks)


CASES = [*asked_of_servers(test_engines), *asked_of_servers(test_engine_views), *asked_of_servers(test_people)]


@pytest.mark.parametrize(("test", "case"), CASES)
def test_what_postgresql_is_asked(test, case, tmp_path):
    test(place=from_spark, tmp_path=tmp_path, **case)


def test_nothing_was_left_out():
    """Names that the two suites have today: a filter that went blind would be noticed."""
    assert len(CASES) >= 55
    assert {"text_cells_are_read_by_the_rule-3", "every_reducer_and_cap_on_a_server_is_the_naive_one-0"} <= {
        case.id for case in CASES
    }


@settings(max_examples=3, deadline=None)
@given(rows=st.lists(st.tuples(*[test_engines.TEXTS] * 4), max_size=12), centre=st.integers(-60, 60))
def test_any_table_of_texts(rows, centre):
    declaration, table = declare(X, categories(), dates()), test_engines.text_table(rows)
    reference = Reference(declaration, ("x", "c"), table.to_pylist())
    keys = [row[0] for row in rows if row[0] is not None]
    with tempfile.TemporaryDirectory() as folder, from_spark(table, declaration, Path(folder)).rows(("x", "c")) as view:
        agree(view, reference, by=["c"], metric="x", centres=(centre,), keys=keys[:2], sides=(2,))


def test_any_text_becomes_the_nearest_double(tmp_path):
    test_postgresql.reads_any_double(from_spark, tmp_path)


def in_spark(declared):
    """Three files, back to front: no answer depends on the order of rows, or on how they are parted."""
    spark.session()
    folder, table = Path(declared.source).parent / "parts", test_same_release.cells(Path(declared.source))
    folder.mkdir()
    turned = table.take(list(reversed(range(len(table)))))
    for at in range(3):
        begin, end = at * len(table) // 3, (at + 1) * len(table) // 3
        pq.write_table(turned.slice(begin, end - begin), folder / f"part{at}.parquet")
    return replace(declared, source="spark:", source_table=str(folder))


ASKED = {"count", "subspaces", "explain exact", "explain full grubbs", "identify", "publish-matching"}
FEW = [example for example in every_example() if example.name in ASKED]
"""Questions of every area; the campaign asks them all."""


@pytest.mark.parametrize(
    "example",
    [pytest.param(each, id=each.name, marks=() if each in FEW else pytest.mark.campaign) for each in every_example()],
)
def test_the_same_seeded_release(example, tmp_path):
    expected = test_same_release.released(test_same_release.in_csv, example, tmp_path)
    assert test_same_release.released(in_spark, example, tmp_path) == expected


PEOPLE = [example for example in FEW if example.name in {"count", "explain exact", "identify"}]


@pytest.mark.parametrize("example", PEOPLE, ids=lambda example: example.name)
def test_the_same_seeded_release_about_people(example, tmp_path):
    person = loads(example.declaration).key or "who"
    about = replace(
        example,
        declaration=test_people_queries.about_people(example.declaration, person),
        csv=test_people_queries.many_rows(example, person),
    )
    expected = test_same_release.released(test_same_release.in_csv, about, tmp_path)
    assert test_same_release.released(in_spark, about, tmp_path) == expected


DAYS = replace(dates(missing=Becomes(0)), domain=Dates(lower=date(1, 1, 1), upper=date(9999, 12, 31)), bins=None)


@pytest.mark.parametrize(
    "example", [each for each in FEW if each.name in {"count", "identify"}], ids=lambda each: each.name
)
def test_the_same_seeded_release_in_strips(example, tmp_path, monkeypatch):
    """One range for every row or two, and a memory that holds none of them."""
    monkeypatch.setattr(parts, "AT_A_TIME", 2)
    expected = test_same_release.released(test_same_release.in_csv, example, tmp_path)

    def little(declared):
        return replace(in_spark(declared), memory=1024)

    assert test_same_release.released(little, example, tmp_path) == expected


ODD = ("é", "e\u0301", "a", "A", "${spark.app.name}", r"\d", "it's", "`x`", '"x"', "never")
STRANGE = {
    "k": [Decimal("0.0000001"), Decimal(10), Decimal("1E-18"), Decimal("1.5"), Decimal(7), None],
    "x": ["1", "1e-400", "1\n", "1" * 400, "0", "\x001"],
    "X": ["2"] * 6,
    "c": ["é", "e\u0301", "${spark.app.name}", r"\d", "it's", "a\0"],
    "d": [date(1500, 2, 28), date(1582, 10, 10), date(1, 1, 1), None, None, date(9999, 12, 31)],
    "z": [datetime(1500, 3, 1, 23, 30, tzinfo=UTC), datetime(2000, 1, 1, 18, tzinfo=UTC), *[None] * 4],
}
HOSTILE = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Kathmandu",
    "spark.sql.caseSensitive": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.variable.substitute": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "spark.sql.files.ignoreCorruptFiles": "true",
}


@pytest.fixture
def hostile():
    """A session whose settings change what statements mean and what cells read as."""
    session = spark.session()
    before = {name: session.conf.get(name) for name in HOSTILE}
    for name, value in HOSTILE.items():
        session.conf.set(name, value)
    yield session
    for name, value in before.items():
        session.conf.set(name, value)


def strange():
    types = {"k": pa.decimal128(38, 18), "z": pa.timestamp("us", tz="UTC")}
    table = pa.table({name: pa.array(each, types.get(name)) for name, each in STRANGE.items()})
    columns = (X, numbers("X"), categories("c", ODD, outside=Becomes(9)), DAYS, replace(DAYS, name="z"))
    return table, declare(*columns, key="k")


def test_a_session_with_settings_of_its_own_changes_no_answer(hostile, tmp_path):
    table, declaration = strange()
    names = ("x", "X", "c", "d", "z")
    expected = Reference(declaration, names, table.to_pylist())
    logged = hostile._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString()
    with from_spark(table, declaration, tmp_path).rows(names) as rows:
        agree(rows, expected, by=["c"], metric="x", centres=(0,), keys=["0.0000001", "10", "1.5"], sides=(1,))
    people = test_people.people(x="sum")
    typed = test_people.table_of([*test_people.ROWS[:6]]).set_column(0, "k", table["k"])
    with from_spark(typed, people, tmp_path).rows(("x", "n")) as rows:
        naive = PeopleReference(people, ("x", "n"), typed.to_pylist())
        assert sorted(rows.fetch(numbers=("x", "n")).numbers.tolist()) == sorted(naive.numbers(("x", "n")))
    assert {name: hostile.conf.get(name) for name in HOSTILE} == HOSTILE
    assert hostile._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString() == logged


def test_the_settings_would_change_answers_if_they_were_not_pinned(hostile, tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "SETTINGS", {})
    table, declaration = strange()
    expected = Reference(declaration, ("c", "d"), table.to_pylist()).numbers(("c", "d"))
    with from_spark(table, declaration, tmp_path).rows(("c", "d")) as rows:
        assert sorted(rows.fetch(numbers=("c", "d")).numbers.tolist()) != sorted(expected)


def test_a_broken_file_fails_the_release_whatever_the_session_says(hostile, tmp_path):
    (tmp_path / "parts").mkdir()
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "parts" / "a.parquet")
    (tmp_path / "parts" / "b.parquet").write_bytes(b"PAR1 and no more")
    declaration = replace(declare(X, key=None), source="spark:", source_table=str(tmp_path / "parts"))
    with pytest.raises((DeclarationError, ReleaseFailed)), open_source(declaration).rows(("x",)):
        pytest.fail("a part of the rows was read as if it were all of them")


def in_catalogue(statement, *columns, key=None):
    spark.session().sql(f"CREATE OR REPLACE TEMP VIEW in_test AS {statement}")
    return open_source(replace(declare(*columns, key=key), source="spark:", source_table="in_test"))


def test_names_that_need_quoting_are_columns_like_others(tmp_path):
    odd = {"x `y`": [1.0], "a.b": ["a"], "%s": [3], "select": [4]}
    declaration = declare(numbers("x `y`"), categories("a.b", ("a",)), numbers("%s"), numbers("select"), key="select")
    with from_spark(pa.table(odd), declaration, tmp_path).rows(tuple(odd)) as rows:
        assert rows.fetch(numbers=tuple(odd)).numbers.tolist() == [[10, 0, 30, 40]]
        assert rows.record("4").numbers["%s"] == 30


def test_collations_change_nothing():
    """`UTF8_LCASE` takes A for a."""
    cells_ = "VALUES ('a', 'P1', 1.0D), ('A', 'p1', 2.0D), ('b', 'P2', 3.0D)"
    statement = f"SELECT c COLLATE UTF8_LCASE AS c, k COLLATE UTF8_LCASE AS k, x FROM ({cells_}) AS t(c, k, x)"
    source = in_catalogue(statement, categories(missing=Drop()), numbers(), key="k")
    with source.rows(("c", "x")) as rows:
        assert sorted(rows.fetch(numbers=("c", "x")).numbers.tolist()) == [[0, 10], [1, 30]]
        assert rows.record("P1").numbers["x"] == 10


TYPES = {
    "array(1)": "'x' has a type",
    "map('a', 1)": "'x' has a type",
    "named_struct('a', 1)": "'x' has a type",
    "CAST('a' AS BINARY)": "'x' has a type",
    "INTERVAL '1' DAY": "'x' has a type",
    "parse_json('1')": "'x' has a type",
}


def test_types_that_cannot_be_read_are_refused_by_type():
    for cell, message in TYPES.items():
        for column in (numbers(), categories("x"), dates("x")):
            with pytest.raises(DeclarationError, match=message):
                in_catalogue(f"SELECT {cell} AS x", column).verify(("x",))


def test_what_is_not_there_is_refused_by_name(monkeypatch):
    spark.session()
    for table, message in (
        ("none.such", "no table or Parquet"),
        (None, "table ="),
        ("/none/such", "no table or Parquet"),
    ):
        source = open_source(replace(declare(X, key=None), source="spark:", source_table=table))
        with pytest.raises(DeclarationError, match=message):
            source.verify(("x",))
    elsewhere = replace(declare(X, key=None), source="spark://127.0.0.1:7077", source_table="t")
    with pytest.raises(DeclarationError, match="a Spark session is running that is not at"):
        open_source(elsewhere).verify(("x",))
    monkeypatch.setattr(sessions, "_running", lambda: None)
    with pytest.raises(DeclarationError, match="means the session that is running, and none is"):
        in_catalogue("SELECT 1 AS x", X).verify(("x",))


def test_a_thread_of_a_service_finds_the_session():
    source = in_catalogue("SELECT 1.0D AS x", X)

    def work():
        with source.rows(("x",)) as rows:
            return rows.fetch(numbers=("x",)).numbers.tolist()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == [[10]]


def test_a_release_sees_one_state_and_leaves_nothing_behind(tmp_path):
    session = spark.session()
    before = session.sql("SHOW VIEWS").collect()
    kept = set(session.sparkContext._jsc.getPersistentRDDs())
    source = from_spark(pa.table({"x": [1.0] * 20}), declare(X, key=None), tmp_path)
    with source.rows(("x",)) as rows:
        pq.write_table(pa.table({"x": [2.0] * 5}), tmp_path / "rows.parquet")
        assert rows.fetch(numbers=("x",)).numbers.tolist() == [[10]] * 20
        assert rows.cells(["x"], "x", 0).counts.sum() == 20
        assert set(session.sparkContext._jsc.getPersistentRDDs()) - kept
    assert session.sql("SHOW VIEWS").collect() == before
    # What an earlier test left behind when a view of its own failed may go at any time.
    assert not set(session.sparkContext._jsc.getPersistentRDDs()) - kept


def test_a_view_that_is_never_the_same_twice_is_read_once():
    with in_catalogue("SELECT rand() * 10 - 5 AS x FROM range(50)", X).rows(("x",)) as rows:
        first, second = (sorted(rows.fetch(numbers=("x",)).numbers[:, 0].tolist()) for _ in range(2))
        assert first == second
        assert rows.cells([], "x", 0).totals.item() == sum(first)


def test_what_spark_says_about_a_cell_goes_no_further():
    """PySpark logs what it raises: seen for a statement of one's own, not for a release."""
    spark.session()
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger

    source = in_catalogue(f"SELECT CAST(x AS DOUBLE) AS x FROM VALUES ('1'), ('{CANARY}') AS t(x)", X)
    printed: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = printed.append
    loggers = [PySparkLogger.getLogger(name) for name in sessions.LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with pytest.raises(ReleaseFailed) as caught, source.rows(("x",)):
            pytest.fail("the view cannot be read")
        assert not printed
        with pytest.raises(PySparkException, match=CANARY):
            spark.session().table("in_test").collect()
        assert CANARY in "".join(record.getMessage() for record in printed)
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    assert CANARY not in str(caught.value) + repr(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
