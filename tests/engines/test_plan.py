"""The plan is a public rule: from what is declared alone."""

from dataclasses import replace

import pytest

from tests.contracts.engine_sources import declare, numbers
from wallflower.engines import plan, registry
from wallflower.engines.plan import in_units, plan_publication, plan_rows
from wallflower.engines.registry import Engine
from wallflower.errors import DeclarationError

DECLARED = replace(declare(numbers()), max_rows=10**7)


def test_rows_that_fit_are_fetched_and_others_read_in_strips():
    assert str(plan_rows(DECLARED, 2, along="x")) == "fetch: at most 0.969 GiB of 4 GiB"
    exactly = replace(DECLARED, memory=10**7 * 104)
    assert plan_rows(exactly, 2, along="x").way == "fetch"
    less = plan_rows(replace(exactly, memory=exactly.memory - 1), 2, along="x")
    assert (less.way, less.along) == ("tiles", "x")
    assert "strips across x" in str(less)


def test_rows_on_declared_executors_are_compared_there_where_they_do_not_fit():
    there = replace(DECLARED, source="spark:", source_table="t", executors=True)
    assert plan_rows(there, 2, along="x").way == "fetch"
    little = plan_rows(replace(there, memory=2**20), 2, along="x")
    assert (little.way, little.along, little.rows) == ("distribute", "x", 2**20 // 208)
    assert str(little) == (
        "distribute: up to 0.969 GiB would not fit into 1 MiB; compared on the executors, in parts across x"
    )
    assert str(replace(little, along="")).endswith("; counted on the executors")
    not_declared, elsewhere = replace(there, executors=False), replace(there, source=DECLARED.source)
    for declared in (not_declared, elsewhere):
        assert plan_rows(replace(declared, memory=2**20), 2, along="x").way == "tiles"


def test_an_engine_that_cannot_sort_is_refused_before_anything_is_read(monkeypatch):
    other = Engine(name="other", schemes=("other",), opens="nowhere:Nothing")
    monkeypatch.setattr(registry, "engines", lambda: {"other": other})
    declared = replace(DECLARED, source="other://table", memory=2**20)
    with pytest.raises(DeclarationError, match="the engine 'other' cannot sort them"):
        plan.plan_rows(declared, 1, along="x")


def test_a_publication_has_a_way_of_its_own():
    ways = [plan_publication(replace(DECLARED, max_rows=n), 3).way for n in (2_000_000, 2_000_001, 10**8, 10**8 + 1)]
    assert ways == ["fetch", "regions", "regions", "refuse"]


@pytest.mark.parametrize(("size", "said"), [(2**10, "1 KiB"), (1536, "1.5 KiB"), (300 * 2**40 + 1, "300 TiB")])
def test_sizes_in_words(size, said):
    assert in_units(size) == said
