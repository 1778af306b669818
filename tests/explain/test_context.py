"""The question itself: what it refuses before any row, what it answers, what it says about records it cannot find."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from tests.explain.tables import PlainRows, declaration, random_table
from wallflower.detectors import LOF, Distance, Grubbs, Histogram
from wallflower.errors import DeclarationError, UsageError
from wallflower.explain import Context, Utility
from wallflower.explain.languages import Vocabularies, Vocabulary
from wallflower.explain.sentences import context_codes, parse_context, text
from wallflower.explain.space import Space
from wallflower.noise.entropy import SeededEntropy
from wallflower.privacy.guarantees import BUT_ASKED
from wallflower.progress import listening
from wallflower.schema.domains import Categories

SHAPE = (3, 2)
BY = ("c0", "c1")


def table(*, odd=400):
    dice = random.Random(1)
    return [(1, 0, odd), *random_table(dice, SHAPE, 120, spread=20)]


def rows(*, odd=400, asked=0, neighbours="add-remove"):
    return PlainRows(declaration(SHAPE, neighbours=neighbours), tuple(table(odd=odd)), asked)


def ask(**fields):
    given = {"record": "asked", "metric": "y", "by": BY, "detector": LOF(neighbours=5), "epsilon": "0.5", **fields}
    return Context(**given)


VARIANTS = [
    {},
    {"search": "uniform", "samples": 3},
    {"search": "walk", "samples": 3},
    {"search": "dfs", "samples": 3},
    {"search": "bfs", "samples": 3},
    {"detector": Grubbs()},
    {"detector": Grubbs(argmax=True), "search": "bfs", "samples": 3},
    {"detector": Histogram(rare="0.1")},
    {"detector": Histogram(rare="0.1"), "search": "walk", "samples": 3},
    {"detector": Distance(p="0.1", radius=100)},
    {"detector": Distance(p="0.1", radius=100), "search": "dfs", "samples": 3},
    {"utility": "overlap", "start": "c0=v1"},
    {"detector": Grubbs(), "guarantee": "full", "epsilon": "20"},
    {"detector": Distance(p="0.1", radius=100), "guarantee": "full", "epsilon": "20"},
    {
        "detector": Grubbs(),
        "guarantee": "full",
        "epsilon": "20",
        "certificate_epsilon": 10,
        "certificate_failure": "0.001",
    },
]


@pytest.mark.parametrize("fields", VARIANTS, ids=str)
def test_a_strong_outlier_gets_a_context_that_holds_it(fields):
    query = ask(**fields)
    answer = query.run(rows(), SeededEntropy(1))
    assert "v1" in answer["context"]["c0"]
    assert "v0" in answer["context"]["c1"]
    assert answer["text"]
    assert json.loads(json.dumps(answer)) == answer


@pytest.mark.parametrize("fields", VARIANTS, ids=str)
@pytest.mark.parametrize("asked", [None, 5], ids=["unknown", "ordinary"])
def test_no_answer_for_the_unknown_and_the_ordinary(fields, asked):
    ordinary = PlainRows(declaration(SHAPE), tuple((0, 0, y % 40) for y in range(80)), asked)
    answer = ask(**fields).run(ordinary, SeededEntropy(1))
    uncertified = fields.get("guarantee") == "full" and "certificate_epsilon" not in fields
    assert (answer is None) == (asked is None or not uncertified)  # full without a certificate answers for everyone


@pytest.mark.parametrize("fields", VARIANTS, ids=str)
def test_an_empty_table_has_no_answer_and_no_error(fields):
    assert ask(**fields).run(PlainRows(declaration(SHAPE), (), None), SeededEntropy(1)) is None


def test_the_price_names_the_condition_and_every_choice():
    price = ask().price(declaration(SHAPE))
    said = price.guarantee.to_json()
    assert said["family"] == "output-constrained-dp"
    assert said["parameters"] == {"epsilon": "0.5"}
    assert said["protects"] == BUT_ASKED
    for part in ("'asked'", "c0, c1", "at least 10 rows", "on y", "lof(neighbours=5, threshold=1.5)"):
        assert part in said["holds_when"]
    assert price.mechanism == {"name": "permute-and-flip", "exponent": "0.5"}
    assert price.settings["search"] == "exact"
    assert price.settings["contexts"] == "at most 8"
    assert price.settings["languages"] == "c0=sets,c1=sets"
    assert "shortfall" in price.expected


@pytest.mark.parametrize(
    ("fields", "neighbours", "exponent"),
    [
        ({}, "add-remove", "1/2"),
        ({}, "replace-one", "1/4"),
        ({"search": "bfs", "samples": 4}, "add-remove", "1/10"),
        ({"search": "dfs", "samples": 4}, "replace-one", "1/20"),
        ({"search": "walk", "samples": 4}, "add-remove", "1/2"),
        ({"detector": Grubbs(), "guarantee": "full"}, "add-remove", "1/4"),
        ({"detector": Grubbs(), "guarantee": "full"}, "replace-one", "1/8"),
        ({"detector": Distance(p="1/4", radius=1), "guarantee": "full", "min_population": 1}, "add-remove", "1/6"),
        ({"detector": Distance(p="1/4", radius=1), "guarantee": "full"}, "add-remove", "1/12"),
        ({"detector": Distance(p="1/4", radius=1), "guarantee": "full"}, "replace-one", "1/16"),
    ],
)
def test_the_exponent_is_what_the_budget_buys(fields, neighbours, exponent):
    price = ask(**fields).price(declaration(SHAPE, neighbours=neighbours))
    assert Fraction(price.mechanism["exponent"]) == Fraction(exponent)
    assert price.guarantee.epsilon == Fraction(1, 2)
    assert price.guarantee.neighbours == neighbours


def test_without_a_key_a_row_before_the_record_is_not_promised_anything():
    """row:12 is somebody else once row:3 is gone: said in the condition, and refused where the promise has none."""
    nameless = replace(declaration(SHAPE), key=None)
    assert "comes after the one with key 'row:12'" in ask(record="row:12").price(nameless).guarantee.holds_when
    with pytest.raises(UsageError, match="needs a key"):
        ask(record="row:12", detector=Grubbs(), guarantee="full").price(nameless)
    fixed = replace(declaration(SHAPE, neighbours="replace-one"), key=None)  # places do not move when rows are replaced
    assert "is not the one with key" in ask(record="row:12").price(fixed).guarantee.holds_when
    assert ask(record="row:12", detector=Grubbs(), guarantee="full").price(fixed).guarantee.holds_when == "always"


def test_a_certificate_takes_its_part_of_the_budget():
    query = ask(detector=Grubbs(), guarantee="full", certificate_epsilon="0.2", certificate_failure="0.01")
    price = query.price(declaration(SHAPE))
    assert price.guarantee.epsilon == Fraction(1, 2)
    assert Fraction(price.mechanism["exponent"]) == Fraction(3, 20)
    assert price.mechanism["scale"] == "5"
    assert "0.01" in price.notes[0]


@dataclass(frozen=True)
class Doubled:
    sensitivity: int = 2
    monotone: bool = True

    def score(self, counts):
        if counts.shape[0] == 3:
            raise RuntimeError("a user's mistake")
        return 2 * int(counts.sum())


@dataclass(frozen=True)
class Highest:
    def stands_out(self, values, value, /, *, step):
        return bool(value == values[-1])


def test_a_utility_and_a_detector_of_ones_own():
    assert isinstance(Doubled(), Utility)
    query = ask(utility=Doubled(), detector=Highest())
    assert Fraction(query.price(declaration(SHAPE)).mechanism["exponent"]) == Fraction(1, 4)
    assert query.run(rows(), SeededEntropy(2)) is not None


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"by": ()}, "at least one column"),
        ({"by": ("c0", "c0")}, "each once"),
        ({"detector": object()}, "stands_out"),
        ({"guarantee": "total"}, "guarantee"),
        ({"search": "best"}, "search"),
        ({"utility": "size"}, "utility"),
        ({"utility": object()}, "sensitivity"),
        ({"utility": "overlap"}, "public context"),
        ({"samples": 0}, "samples"),
        ({"min_population": 0}, "min_population"),
        ({"epsilon": 0}, "epsilon"),
        ({"certificate_epsilon": "0.1"}, "certificate"),
        ({"guarantee": "full"}, "(distance, grubbs, histogram, iqr, mad)"),
        ({"guarantee": "full", "detector": Grubbs(argmax=True)}, "argmax"),
        ({"guarantee": "full", "detector": Grubbs(), "search": "bfs"}, "takes no search"),
        ({"guarantee": "full", "detector": Grubbs(), "certificate_epsilon": "0.1"}, "both"),
        (
            {"guarantee": "full", "detector": Grubbs(), "certificate_epsilon": 1, "certificate_failure": "0.1"},
            "smaller",
        ),
        (
            {"guarantee": "full", "detector": Grubbs(), "certificate_epsilon": "0.5", "certificate_failure": "0.1"},
            "smaller",
        ),
        *(
            (
                {"guarantee": "full", "detector": Grubbs(), "certificate_epsilon": "0.1", "certificate_failure": part},
                "1/2",
            )
            for part in ("0.6", "0.5")
        ),
        ({"top": 2, "search": "bfs"}, "'top' above 1"),
        (
            {"guarantee": "full", "detector": Grubbs(), "certificate_epsilon": "0.1", "certificate_failure": "0.1"}
            | {"top": 2},
            "'top' above 1",
        ),
        ({"start": "c0=v1;c0=v2"}, "each column once"),
        ({"start": 8}, "must name columns with their values"),
        ({"start": {"c0": 3}}, "must name columns with their values"),
    ],
)
def test_a_wrong_question_is_refused_at_once(fields, says):
    with pytest.raises(UsageError, match=says):
        ask(**fields)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"metric": "c0"}, "not numeric"),
        ({"metric": "z"}, "not declared"),
        ({"by": ("y",)}, "no declared values"),
        ({"by": ("c9",)}, "not declared"),
        ({"start": "c0=red", "utility": "overlap"}, "not a declared value"),
        ({"start": "y=1", "utility": "overlap"}, "not in 'by'"),
        ({"detector": Distance(p=Fraction(1, 10**16 + 1), radius=1)}, "fewer digits"),
    ],
)
def test_what_the_declaration_cannot_support_is_refused_before_any_row(fields, says):
    with pytest.raises((UsageError, DeclarationError), match=says):
        ask(**fields).price(declaration(SHAPE))


def test_a_domain_too_large_for_exact_is_searched_and_one_too_large_for_words_refused():
    large = declaration((17, 17))
    sets = "c0=sets,c1=sets"
    assert ask(contexts=sets).price(large).settings["search"] == "bfs"
    assert ask(contexts=sets, detector=Grubbs()).price(declaration((16, 16))).settings["search"] == "exact"
    assert ask(contexts=sets, search="exact").price(large).mechanism["name"] == "exponential"  # in two passes
    assert ask().price(large).settings["languages"] == "c0=own,c1=own"
    assert ask(detector=Highest()).price(declaration((8, 7))).settings["search"] == "bfs"
    with pytest.raises(UsageError, match=r"2\^13"):
        ask(search="exact", detector=Highest()).price(declaration((8, 7)))
    with pytest.raises(UsageError, match=r"2\^32"):
        ask(guarantee="full", detector=Grubbs(), contexts=sets).price(large)
    with pytest.raises(UsageError, match="fewer columns"):
        Vocabularies((Vocabulary("a", Categories(tuple(map(str, range(40)))), "sets"),) * 2).check()
    with pytest.raises(UsageError, match="coarser step"):
        ask().price(declaration(SHAPE, lower=0, upper=2**50))


@pytest.mark.parametrize(
    "spelled",
    [
        "mad(threshold=3.50000000000003)",
        "iqr(factor=1.50000000000001)",
        "distance(p=0.2000000000001,radius=3)",
        "histogram(rare=0.0600000000001)",
    ],
)
def test_a_setting_that_64_bits_cannot_hold_times_any_value_is_refused_before_any_row(spelled):
    """Of a value in 2,001 steps and a million rows; what overflows would be decided wrongly."""
    with pytest.raises(UsageError, match="could need whole numbers above"):
        ask(detector=spelled).price(declaration(SHAPE))


def test_a_large_domain_is_answered_by_search():
    """Of 2^40 contexts nobody looks at all."""
    big = declaration((20, 20))
    dice = random.Random(2)
    held = PlainRows(big, ((0, 0, 900), *random_table(dice, (20, 20), 60, spread=20)), 0)
    query = ask(samples=3, min_population=3, contexts="c0=sets,c1=sets")
    assert query._constrained(big).search == "bfs"
    assert query.run(held, SeededEntropy(1)) is not None


def test_the_owner_sees_what_was_possible():
    seen = ask().inspect(rows())
    assert seen["facts"]["valid contexts"] > 0
    assert 0.5 < float(seen["facts"]["expected utility ratio"]) <= 1
    assert seen["tables"][0]["rows"][0][0] == seen["facts"]["best context"]
    assert seen["figures"]["context"]["heights"].sum() > 10
    robust = ask(detector=Grubbs(), guarantee="full").inspect(rows())
    assert 0 < float(robust["facts"]["chance of a valid context"]) <= 1
    assert ask(record="nobody").inspect(rows())["facts"] == {"record": "not found, dropped, or not unique"}
    assert ask(detector=Distance(p="0.0001", radius=500)).inspect(rows())["facts"]["valid contexts"] == 0
    assert ask(search="bfs").inspect(rows())["facts"]["contexts"] == 8
    large = PlainRows(declaration((8, 7)), ((0, 0, 5),), 0)
    assert "too many" in ask(detector=Highest()).inspect(large)["facts"]["contexts"]


def test_progress_says_how_many_contexts_are_done():
    heard = []
    with listening(lambda label, done, total: heard.append((label, done, total))):
        ask().run(rows(), SeededEntropy(1))
    assert heard[-1] == ("contexts", 8, 8)


def test_contexts_in_words_and_back():
    space = Space.of(
        (
            Vocabulary("job_title", Categories(("CEO", "Lawyer", "Nurse", "Cook")), "sets"),
            Vocabulary("city", Categories(("A", "B")), "sets"),
        ),
        own=(1, 0),
    )
    for index in range(space.count):
        assert space.index(space.chosen(index)) == index
        assert context_codes(space.named(index), space.columns, space.domains) == space.chosen(index)
    assert text(space, space.count - 1) == "all rows"
    assert text(space, 0) == "lawyers in A"
    assert space.index(((0,), (0,))) is None
    assert parse_context("") == {}
    words = space.words(np.arange(space.count))
    assert len(set(words.tolist())) == space.count


def test_ranges_of_values_and_words_with_their_own_plurals_are_said():
    jobs = Vocabulary("job", Categories(("Attorney", "X-ray nurse", "Clergy", "Cook", "Clerk")), "sets")
    grades = Vocabulary("grade", Categories(("A", "B", "C", "D")), "range")
    space = Space.of((jobs, grades), own=(0, 1))
    for held, said in (
        (((0, 1), (0, 1, 2)), "attorneys or x-ray nurses with grade A to C"),
        (((0, 2), (1,)), "attorneys or clergies with grade B"),
        ((tuple(range(5)), (1, 2, 3)), "rows with grade B to D"),
    ):
        index = space.index(held)
        assert index is not None
        assert text(space, index) == said
