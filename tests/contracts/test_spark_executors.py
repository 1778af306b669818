"""Tasks on Spark's executors: the same answers, refused where other code is installed, and silent about what they were given."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import factorial
from operator import add

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

from tests.contracts import test_people_queries, test_same_release
from tests.contracts.engine_sources import declare, numbers
from tests.contracts.test_spark import FEW, in_spark
from tests.count.parts_tables import rectangle
from tests.identify import test_parts as identify_parts
from tests.identify.tables import declaration as about_values
from tests.servers import spark
from wallflower.count import Outliers
from wallflower.count.degrees import declared_ball
from wallflower.count.queries import measure, measure_points
from wallflower.engines import from_frame, open_source, same_code
from wallflower.engines.same_code import Installed, compare, installed
from wallflower.engines.spark import spread as spreads
from wallflower.engines.spark import tasks
from wallflower.errors import DeclarationError, ReleaseFailed
from wallflower.identify import Anomalies, owner_view
from wallflower.identify.metric import metric_of
from wallflower.ledger import Ledger
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema import load, loads
from wallflower.session import Session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("spark_session"),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
]
CANARY = "canary-6120"


def test_answers_come_in_the_order_of_the_payloads():
    session = spark.session()
    tasks.check(session)
    assert tasks.run(session, factorial, list(range(9, 0, -1))) == [factorial(n) for n in range(9, 0, -1)]
    assert tasks.run(session, partial(add, "all share this, "), ["each", "its own"]) == [
        "all share this, each",
        "all share this, its own",
    ]
    assert tasks.run(session, factorial, []) == []


def test_what_a_task_fails_on_is_not_told(capfd):
    session = spark.session()
    with pytest.raises(ReleaseFailed) as caught:
        tasks.run(session, int, ["3", CANARY])
    assert CANARY not in str(caught.value) + repr(caught.value)
    assert caught.value.__context__ is None
    captured = capfd.readouterr()
    assert CANARY not in captured.out + captured.err
    with pytest.raises(
        PySparkException, match=CANARY
    ):  # what Spark tells where nobody keeps it from the task's own error
        session.range(1).mapInArrow(lambda _: iter([int(CANARY)]), "id bigint").collect()


def test_other_code_on_an_executor_is_refused_before_the_charge(monkeypatch):
    session, here = spark.session(), installed()
    compare([here, here])
    with pytest.raises(DeclarationError, match=r"an executor has Wallflower 0\.0\.1, and this process"):
        compare([here, Installed("0.0.1", here.digest)])
    monkeypatch.setattr(same_code, "installed", lambda: replace(here, digest="other"))
    with pytest.raises(DeclarationError, match="an executor has other files of Wallflower"):
        tasks.check(session)


def test_every_task_looks_at_the_code_again(monkeypatch):
    for module in (tasks, spreads):
        monkeypatch.setattr(module, "installed", lambda: replace(installed(), digest="other"))
    with pytest.raises(ReleaseFailed):
        tasks.run(spark.session(), factorial, [1])
    one = spreads.SparkSpread(None, spark.session().range(3).toDF("v0"), 1)
    for ask in (lambda: one.over(lambda *_: 1), lambda: one.each(len, one.cut(0, below=0, above=0, most=2))):
        with pytest.raises(ReleaseFailed):
            ask()


@pytest.mark.parametrize("when", ["verified", "tried"])
def test_executors_that_cannot_run_it_are_refused_before_the_charge(when, tmp_path, monkeypatch):
    example = next(each for each in FEW if each.name == "count")
    declared = load(example.lay_out(tmp_path, test=True))
    Ledger.init(declared)
    moved = replace(in_spark(declared), memory=1024, executors=True)
    right = tasks._run

    def gone(session, task, payloads):
        if when == "verified" or task is not same_code.look:
            raise ModuleNotFoundError("No module named 'wallflower'")
        return right(session, task, payloads)

    monkeypatch.setattr(tasks, "_run", gone)
    said = "the executors cannot run Wallflower" if when == "verified" else "the executors could not do on made-up rows"
    with pytest.raises(DeclarationError, match=said):
        Session(moved, open_source(moved), seed=11).release(example.query(tmp_path))
    assert not [each for each in Ledger.open(declared).history() if each.to_json()["kind"] == "charge"]


SPREAD = [
    # Many small jobs; two workers are asked the same in every run of the tests (`test_spark_cluster.py`).
    pytest.param(each, id=each.name, marks=pytest.mark.campaign if each.name == "subspaces" else ())
    for each in FEW
    if each.name in {"count", "subspaces", "identify"}
]


@pytest.mark.parametrize("example", SPREAD)
def test_the_same_seeded_release_on_executors(example, tmp_path):
    """A memory that holds none of the rows, so that all of them are compared in parts, and covers and cores, too."""
    expected = test_same_release.released(test_same_release.in_csv, example, tmp_path)

    def on_executors(declared):
        moved = replace(in_spark(declared), memory=1024, executors=True)
        assert example.query(tmp_path).price(moved).settings["plan"].startswith("distribute: up to")
        return moved

    assert test_same_release.released(on_executors, example, tmp_path) == expected


def test_the_same_seeded_release_about_people_on_executors(tmp_path):
    """The rows of a person are joined first, and kept."""
    example = next(each for each in FEW if each.name == "count")
    person = loads(example.declaration).key or "who"
    about = replace(
        example,
        declaration=test_people_queries.about_people(example.declaration, person),
        csv=test_people_queries.many_rows(example, person),
    )

    def on_executors(declared):
        return replace(in_spark(declared), memory=1024, executors=True)

    expected = test_same_release.released(test_same_release.in_csv, about, tmp_path)
    assert test_same_release.released(on_executors, about, tmp_path) == expected


RANDOM = np.random.default_rng(8)
HARD = {
    "a ring and a giant cell": (np.concatenate([rectangle(10, width=3), np.full((3_000, 3), 400)]), 5),
    "dense rows, all within the radius, and lines": (RANDOM.integers(0, 9, (60, 2)), 4),
    "all rows equal": (np.zeros((40, 2), dtype=np.int64), 1),
    "seven columns": (np.repeat(RANDOM.integers(0, 6, (25, 7)), 2, axis=0), 3),
    "no row": (np.zeros((0, 2), dtype=np.int64), 1),
}


EASIER = {"all rows equal", "seven columns"}
"""Than the others, and as slow: many small jobs. The campaign asks them."""


@pytest.mark.parametrize("hard", [pytest.param(each, marks=[pytest.mark.campaign] * (each in EASIER)) for each in HARD])
def test_hard_tables_on_executors(hard, tmp_path):
    """In three files, of which one is empty; parts of a few rows."""
    points, radius = HARD[hard]
    names = tuple(f"x{at}" for at in range(points.shape[1]))
    for at, (begin, end) in enumerate([(0, len(points) // 2), (0, 0), (len(points) // 2, len(points))]):
        pq.write_table(
            pa.table({name: points[begin:end, i] for i, name in enumerate(names)}), tmp_path / f"{at}.parquet"
        )
    columns = [replace(numbers(name, lower="0", upper="1000", step="1"), scale=Fraction(1)) for name in names]
    declared = replace(declare(*columns, key=None), source="spark:", source_table=str(tmp_path), max_rows=5_000)
    declared = replace(declared, memory=2048, executors=True)
    query = Outliers(columns=names, neighbours=2, radius=radius, epsilon="4", noise="lomax")
    noise = query.noise_for(declared)
    kept = set(spark.session().sparkContext._jsc.getPersistentRDDs())
    with open_source(declared).rows(names) as rows:
        found = measure(rows, names, query.radius, noise)
        histogram = query.inspect(rows)["figures"]["degrees"]["rows"] if hard.startswith("dense") else None
    ball = declared_ball(declared, names, query.radius)
    assert found == measure_points(points, ball, noise, cap=noise.row_cap)
    if histogram is not None:
        with from_frame(pa.table(dict(zip(names, points.T, strict=True))), replace(declared, memory=2**32)).rows(
            names
        ) as rows:
            assert histogram.tolist() == query.inspect(rows)["figures"]["degrees"]["rows"].tolist()
    assert not set(spark.session().sparkContext._jsc.getPersistentRDDs()) - kept


@pytest.mark.parametrize(
    "which",
    [
        "two columns",
        *(
            pytest.param(each, marks=pytest.mark.campaign)
            for each in ("gaps and categories", "a radius that holds no other value")
        ),
    ],
)
def test_the_owner_sees_the_same_on_executors(which, tmp_path, monkeypatch):
    monkeypatch.setattr(owner_view, "DRAWN", 20)
    table, (text, methods) = identify_parts.frame(), identify_parts.MODELS[which]
    for at in range(3):
        pq.write_table(table.slice(at * 30, 30), tmp_path / f"{at}.parquet")
    declared = about_values(text)
    metric = metric_of(declared, declared.models["default"])
    query = Anomalies(values=identify_parts.asked(metric, declared), epsilon="1", method=methods[-1])
    answers = []
    there = replace(declared, source="spark:", source_table=str(tmp_path), memory=1024, executors=True)
    for source in (from_frame(table, declared), open_source(there)):
        with source.rows(query.columns) as rows:
            answers.append((query.run(rows, SeededEntropy(4)), identify_parts.plain(query.inspect(rows))))
    assert answers[0] == answers[1]
