"""The plan is a public rule: from what is declared alone."""

from dataclasses import replace

import pytest

from tests.contracts.engine_sources import declare, numbers
from wallflower.engines import plan, registry
from wallflower.engines.plan import (
    BYTES_OF_A_STATISTIC,
    BYTES_OF_A_VALUE,
    in_units,
    plan_cells,
    plan_publication,
    plan_rows,
)
from wallflower.engines.registry import Engine
from wallflower.errors import DeclarationError, UsageError

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


@pytest.mark.parametrize(
    ("rows", "regions", "way"),
    [(2_000_000, 1, "fetch"), (5, 3, "regions"), (2_000_001, 16, "regions"), (10**8, 2, "regions")],
)
def test_a_publication_has_a_way_of_its_own(rows, regions, way):
    found = plan_publication(replace(DECLARED, max_rows=rows), 3, regions)
    assert (found.way, found.parts) == (way, regions)


def test_a_publication_of_too_many_rows_is_refused_before_anything_is_read():
    with pytest.raises(UsageError, match="2000000 is the most in one piece"):
        plan_publication(replace(DECLARED, max_rows=2_000_001), 3, 1)
    with pytest.raises(DeclarationError, match="100000000 is the most"):
        plan_publication(replace(DECLARED, max_rows=10**8 + 1), 3, 16)


def test_cells_that_do_not_fit_are_refused_before_anything_is_read():
    exactly = replace(DECLARED, memory=100 * BYTES_OF_A_STATISTIC + 4000 * BYTES_OF_A_VALUE)
    assert str(plan_cells(exactly, 100, 4000)) == (
        "push down: the engine adds up 100 cells and sends at most 4000 of their values; at most 849 KiB of 849 KiB"
    )
    with pytest.raises(DeclarationError, match="100 cells and up to 4000 of their values"):
        plan_cells(replace(exactly, memory=exactly.memory - 1), 100, 4000)


@pytest.mark.parametrize(("size", "said"), [(2**10, "1 KiB"), (1536, "1.5 KiB"), (300 * 2**40 + 1, "300 TiB")])
def test_sizes_in_words(size, said):
    assert in_units(size) == said
