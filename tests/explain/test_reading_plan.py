"""What a price says about how rows are read is what happens, for every detector, search and promise."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.contracts.detectors import WRITTEN
from tests.explain.tables import PlainRows, declaration, every_valid, random_table, slow_validity, view
from wallflower.detectors.contexts import EVERY, Fast, values_asked
from wallflower.detectors.registry import detector, kinds
from wallflower.errors import DeclarationError, UsageError
from wallflower.explain import Context, reading_plan, record_view
from wallflower.noise.entropy import SeededEntropy

SHAPE = (3, 2)
ROBUST = ("grubbs", "distance(p=0.5, radius=3)", "histogram(rare=0.3, width=5)")


@dataclass(frozen=True)
class Largest:
    """A detector of one's own, which is handed the values of each context."""

    def stands_out(self, values, value, /, *, step):
        return bool(value == values[-1])


@dataclass(frozen=True)
class Watched(PlainRows):
    """Rows that remember what they were asked, and how many values they sent."""

    asked_for: dict[str, int] | None = None

    def _seen(self, question, sent=0):
        self.asked_for[question] = max(self.asked_for.get(question, 0), sent)

    def fetch(self, **wanted):
        self._seen("fetch")
        return super().fetch(**wanted)

    def cells(self, *asked):
        self._seen("cells")
        return super().cells(*asked)

    def between(self, *asked):
        self._seen("between")
        return super().between(*asked)

    def nearest(self, *asked):
        found = super().nearest(*asked)
        self._seen("nearest", len(found.values))
        return found


@pytest.fixture(scope="module")
def table(random):
    return [(0, 0, 30), *random_table(random, SHAPE, 60, spread=8)]


@pytest.fixture(scope="module")
def random():
    import random as module

    return module.Random(5)


def question(detects, **choices):
    return Context(record="asked", metric="y", by=("c0", "c1"), detector=detects, epsilon="1", **choices)


def read(query, table, **declared):
    """The plan that the price names, and what was asked of the rows."""
    rows = Watched(replace(declaration(SHAPE, **declared), max_rows=100), tuple(table), asked_for={})
    plan = query.price(rows.declaration).settings["plan"]
    query.run(rows, SeededEntropy(3))
    return plan, rows.asked_for


def test_every_detector_of_explain_is_here():
    assert {detector(text).name for text in WRITTEN} == set(kinds("stands_out"))


@pytest.mark.parametrize("search", ["exact", "bfs", "uniform"])
@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_pushed_down_fetches_no_row(table, text, search):
    plan, asked = read(question(text, search=search), table)
    assert plan.startswith("push down: the engine adds up 6 cells")
    assert "fetch" not in asked
    assert "cells" in asked
    said = detector(text)
    assert ("nearest" in asked) == (values_asked(said) > 0) == ("of their values" in plan)
    most = 100 if values_asked(said) >= EVERY else 6 * (2 * values_asked(said) + 1)
    assert asked.get("nearest", 0) <= most
    if values_asked(said):
        assert f"at most {most} of their values" in plan


@pytest.mark.parametrize("text", ROBUST)
def test_so_it_is_under_full_differential_privacy(table, text):
    plan, asked = read(question(text, guarantee="full"), table)
    assert plan.startswith("push down: the engine adds up 6 cells;")
    assert not {"fetch", "nearest"} & set(asked)


def test_an_overlap_is_pushed_down_too(table):
    plan, asked = read(question("grubbs", utility="overlap", start="c0=v0|v1;c1=v0"), table)
    assert plan.startswith("push down")
    assert "fetch" not in asked


@pytest.mark.parametrize("search", ["exact", "bfs"])
def test_a_detector_of_ones_own_fetches_and_says_so(table, search):
    plan, asked = read(question(Largest(), search=search), table)
    assert plan == "fetch: at most 14.1 KiB of 4 GiB"
    assert "fetch" in asked
    assert not isinstance(Largest(), Fast)


@pytest.mark.parametrize("text", WRITTEN)
def test_too_many_cells_are_fetched_and_the_price_says_so(table, text, monkeypatch):
    pushed = read(question(text), table)
    monkeypatch.setattr(record_view, "MOST_CELLS", 5)
    monkeypatch.setattr(reading_plan, "MOST_CELLS", 5)
    plan, asked = read(question(text), table)
    assert plan.startswith("fetch: ")
    assert set(asked) == {"fetch"}
    assert pushed[0].startswith("push down")


def test_one_rule_says_what_is_pushed_down():
    assert reading_plan.MOST_CELLS == record_view.MOST_CELLS


def test_what_would_not_fit_is_refused_by_the_price():
    small = replace(declaration(SHAPE), memory=6 * 700 - 1)
    with pytest.raises(DeclarationError, match="6 cells"):
        question("grubbs").price(small)
    assert question("grubbs").price(replace(small, memory=6 * 700)).settings["plan"].startswith("push down")
    with pytest.raises(DeclarationError, match="values"):  # all distinct values: far more than sums
        question("mad").price(replace(small, memory=2**20))
    with pytest.raises(DeclarationError, match="holds all rows at once"):
        question(Largest()).price(replace(small, memory=2**20))


def test_a_utility_of_ones_own_is_refused_where_its_counts_could_not_be_held(monkeypatch):
    @dataclass(frozen=True)
    class Rows:
        sensitivity: int = 1
        monotone: bool = True

        def score(self, counts, /):
            return int(counts.sum())

    monkeypatch.setattr(reading_plan, "MOST_CELLS", 5)
    with pytest.raises(UsageError, match="6 combinations; 5 is the most"):
        question("grubbs", utility=Rows()).price(declaration(SHAPE))


@pytest.mark.parametrize("text", WRITTEN)
def test_counts_from_the_engine_decide_as_rows_do(random, text):
    for _ in range(10):
        rows = random_table(random, SHAPE, random.randrange(1, 40), spread=random.choice([3, 20, 600]))
        sight = view(rows, SHAPE, least=random.choice([1, 4]))
        assert np.array_equal(every_valid(sight, detector(text)), slow_validity(sight, detector(text)))


@pytest.mark.parametrize("fetched", [False, True])
@pytest.mark.parametrize("every", [False, True])
def test_between_is_the_same_from_counts_from_values_and_from_rows(random, fetched, every, monkeypatch):
    if fetched:
        monkeypatch.setattr(record_view, "MOST_CELLS", 0)
    rows = random_table(random, SHAPE, 50, spread=6)
    for languages in (["sets", "sets"], ["own", "range"]):
        sight = view(rows, SHAPE, languages=languages)
        if every:
            sight.entries(EVERY)
        for first, last in ((-3, 2), (0, 0), (-(2**62), 2**62), (1, 3), (2, -2)):
            expected = np.zeros(sight.space.shape, np.int64)
            for code, z in zip(sight.codes, sight.shifted, strict=True):
                expected.ravel()[code] += first <= z <= last
            assert np.array_equal(sight.between(first, last), expected)
