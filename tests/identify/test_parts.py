"""Rows read in parts give the counts, the answers and the owner's view of all rows at once."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tests.engines.clusters import OnCluster, Shuffling
from tests.identify.tables import declaration, model
from wallflower.engines import from_frame
from wallflower.engines.partition import Cut
from wallflower.geometry import strips
from wallflower.identify import Anomalies, owner_view, parts
from wallflower.identify.metric import metric_of
from wallflower.identify.tasks import TaskTrial
from wallflower.noise.entropy import SeededEntropy

MODELS = {
    "two columns": (model(columns=("x", "y"), beta=4, radius="3"), ("sensitive", "dp", "grid")),
    "a radius that holds no other value": (model(columns=("x",), beta=3, radius="0"), ("sensitive", "lookahead")),
    "gaps and categories": (
        model(columns=("city", "y"), beta=5, radius="1", more='distance = "mixed"'),
        ("sensitive",),
    ),
    "categories alone": (model(columns=("city", "day"), beta=5, radius="1", more='distance = "hamming"'), ("dp",)),
}


def frame(seed=1, rows=90):
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "x": np.round(random.normal(0, 4, rows)),
            "y": np.round(random.normal(0, 6, rows)),
            "city": random.choice(["A", "B", "C"], rows, p=[0.7, 0.25, 0.05]),
            "day": np.datetime64("2020-05-01") + random.integers(0, 4, rows),
        }
    )


def plain(value):
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def asked(metric, declared):
    some = {"x": "1", "y": "-2", "city": "B", "day": "2020-05-02"}
    other = {"x": "9", "y": "13", "city": "Medical, other", "day": "2021-05-02"}
    return tuple({name: value[name] for name in metric.columns} for value in (some, other))


@pytest.mark.parametrize("which", MODELS)
@pytest.mark.parametrize("seed", [1, 2])
def test_parts_tell_and_show_the_same(which, seed, monkeypatch):
    monkeypatch.setattr(owner_view, "DRAWN", 20)
    text, methods = MODELS[which]
    declared = declaration(text)
    values = asked(metric_of(declared, declared.models["default"]), declared)
    ways = {
        "fetch": declared,
        "batches": replace(declared, memory=1024),
        "distribute": replace(declared, memory=1024, source="spark:", executors=True),
    }
    found = {way: [] for way in ways}
    for way, here in ways.items():
        with from_frame(frame(seed), here).rows(tuple(here.models["default"].columns)) as rows:
            for method in methods:
                query = Anomalies(values=values, epsilon="1", method=method)
                assert query.price(here).settings["plan"].partition(":")[0] == way
                asks = OnCluster(rows, seed) if way == "distribute" else rows
                found[way].append((query.run(asks, SeededEntropy(4)), plain(query.inspect(asks))))
    assert found["fetch"] == found["batches"] == found["distribute"]


@pytest.mark.parametrize("which", MODELS)
def test_every_executor_tries_on_made_up_rows_what_it_may_have_to_do(which):
    class Watched(OnCluster):
        slots = 3

        def run(self, task, payloads):
            tried.append((type(task), len(payloads), super().run(task, payloads)))

    text, methods = MODELS[which]
    declared, tried = replace(declaration(text), memory=1024, source="spark:", executors=True), []
    metric = metric_of(declared, declared.models["default"])
    with from_frame(frame(), declared).rows(metric.columns) as made_up:
        for method in methods:
            query = Anomalies(values=asked(metric, declared), epsilon="1", method=method)
            query.prepare(Watched(made_up), SeededEntropy(1))
            assert (TaskTrial, 3, [None] * 3) in tried
            tried.clear()


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("there", [False, True])
def test_no_row_and_one_row(rows, there):
    declared = replace(declaration(MODELS["two columns"][0]), memory=1024, source="spark:", executors=there)
    with from_frame(frame(rows=1).slice(0, rows), declared).rows(("x", "y")) as held:
        held = OnCluster(held) if there else held  # noqa: PLW2901
        for method in ("sensitive", "grid"):
            query = Anomalies(values=({"x": "1", "y": "1"},), epsilon="1", method=method)
            query.run(held, SeededEntropy(1))
            assert query.inspect(held)["facts"]["rows"] == rows


def test_a_halo_one_too_small_on_executors_is_seen(monkeypatch):
    declared = declaration(model(columns=("y",), beta=4, radius="5"))
    declared = replace(declared, memory=1024, source="spark:", executors=True)
    query = Anomalies(values=({"y": "0"},), epsilon="1")

    def near(less):
        def cut(spread, column, *, below, above, most, copies):
            return Cut(column, below - less, above - less, (0, 1, 5, 6, 50), copies)

        monkeypatch.setattr(Shuffling, "cut", cut)
        with from_frame(pa.table({"y": [0, 5, 50]}), declared).rows(("y",)) as rows:
            return query.inspect(OnCluster(rows))["figures"]["map"]["near"].tolist()

    assert near(0) == [1, 2, 2]
    assert near(1) == [1, 1, 1]


def test_a_halo_one_too_small_is_seen(monkeypatch):
    declared = replace(declaration(model(columns=("y",), beta=4, radius="5")), memory=1024)
    right, cut = parts.plan_of, strips.strips
    monkeypatch.setattr(parts, "plan_of", lambda declaration, metric: replace(right(declaration, metric), rows=1))
    query = Anomalies(values=({"y": "0"},), epsilon="1")
    metric = metric_of(declared, declared.models["default"])
    with from_frame(pa.table({"y": [0, 5, 50]}), declared).rows(("y",)) as rows:
        assert query.inspect(rows)["figures"]["map"]["near"].tolist() == [1, 2, 2]
        assert metric.ball.reach(0) == 5
        monkeypatch.setattr(
            parts, "strips", lambda *given, below, above, most: cut(*given, below=below - 1, above=above - 1, most=most)
        )
        assert query.inspect(rows)["figures"]["map"]["near"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("which", ["two columns", "gaps and categories"])
def test_rows_that_occur_more_often_than_counts_go_have_the_largest(which):
    """And copies are told apart up to the last number that is asked for."""
    declared = replace(declaration(MODELS[which][0]), memory=1024)
    metric = metric_of(declared, declared.models["default"])
    table = pa.table({"x": [1] * 12, "y": [2] * 12, "city": ["A"] * 12, "day": [None] * 12})
    with from_frame(table, declared).rows(metric.columns) as rows:
        for cap, until in ((5, 4), (12, 12), (20, 12)):
            (seen,) = parts.of_every_row(rows, metric, until=until, cap=cap)
            assert set(seen.near.tolist()) == {min(12, cap)}
            assert set(seen.held.tolist()) == {1 if min(12, cap) > until else min(12, cap)}
            assert seen.stands_for.sum() == 12
