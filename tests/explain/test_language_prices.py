"""What a language of contexts costs, which ones are refused, and how their contexts are said."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.explain.tables import (
    PlainRows,
    declaration,
    random_table,
)
from tests.explain.test_languages import SITES, TREE, values
from wallflower.detectors import LOF, Grubbs
from wallflower.errors import UsageError
from wallflower.explain import Context
from wallflower.explain.languages import Vocabularies, Vocabulary, parse_languages, vocabularies
from wallflower.explain.sentences import text
from wallflower.explain.space import Space
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.domains import Bins, Categories, Numbers


def wide(languages="", *, columns=12, size=9):
    declared = declaration((size,) * columns)
    by = tuple(f"c{i}" for i in range(columns))
    return declared, Context(record="asked", metric="y", by=by, detector=LOF(), epsilon=1, contexts=languages)


def test_a_price_uses_the_largest_number_over_all_values_and_never_the_record():
    declared, question = wide("c0=range,c1=range", columns=2, size=9)
    said = question.price(declared)
    assert said.settings["contexts"] == f"at most {25 * 25}"
    assert said == replace(question, record="asked").price(declared)
    assert "c0=range,c1=range" in said.guarantee.holds_when
    for own in range(9):
        words = vocabularies(declared, ("c0", "c1"), {"c0": "range", "c1": "range"}).each
        assert Space.of(words, own=(own, own)).count == ((own + 1) * (9 - own)) ** 2 <= 625


def test_the_default_is_sets_while_they_are_few_and_follows_the_declaration_beyond():
    declared, question = wide(columns=3, size=8)
    assert question.price(declared).settings["languages"] == "c0=sets,c1=sets,c2=sets"
    columns = dict(declaration((9, 9, 4, 5)).columns)
    age = Numbers(lower=Fraction(0), upper=Fraction(99), step=Fraction(1))
    columns["c0"] = replace(columns["c0"], domain=age, bins=Bins(tuple(range(0, 100, 10)), age))
    columns["c1"] = replace(columns["c1"], hierarchy="ordered")
    columns["c3"] = replace(
        columns["c3"], domain=Categories(SITES), hierarchy={"n": ["a1", "a2"], "s": ["b1", "b2", "b3"]}
    )
    columns["c4"] = replace(columns["c2"], name="c4", domain=values(12))
    made = replace(declaration((2,)), columns=columns)
    by = ("c0", "c1", "c2", "c3", "c4")
    assert vocabularies(made, by, {}).text == "c0=range,c1=range,c2=sets,c3=tree,c4=own"
    assert vocabularies(made, by, {"c0": "own"}).text.startswith("c0=own,")
    assert vocabularies(made, ("c1",), {"c1": "tree"}).text == "c1=range"  # a declared order has no tree but its runs
    five = declaration((8,) * 5)
    found = vocabularies(five, tuple(five.columns)[:5], {})
    assert found.most <= 2**24  # five columns of eight values are answered exactly: some give up sets
    assert "sets" in found.text
    assert "own" in found.text


def test_twelve_columns_of_nine_values_are_exact():
    declared, question = wide()
    price = question.price(declared)
    assert price.settings["search"] == "exact"
    assert price.settings["contexts"] == f"at most {2**12}"
    dice = random.Random(1)
    table = [(*[0] * 12, 900), *random_table(dice, (9,) * 12, 300, spread=50)]
    answer = replace(question, min_population=3).run(PlainRows(declared, tuple(table), 0), SeededEntropy(1))
    assert all("v0" in held for held in answer["context"].values())


def test_the_log_term_of_full_shrinks_with_the_language():
    by = ("c0", "c1", "c2")
    declared = declaration((9, 8, 8))
    needs = {}
    for language in ("sets", "range", "own"):
        languages = ",".join(f"{name}={language}" for name in by)
        question = Context(
            record="asked", metric="y", by=by, detector=Grubbs(), epsilon=1, guarantee="full", contexts=languages
        )
        needs[language] = int(question.price(declared).expected["needs"].split("any ")[1].split()[0])
    assert needs == {"sets": 37, "range": 26, "own": 11}


@pytest.mark.parametrize(
    ("languages", "says"),
    [
        ("c0=subsets", "no language"),
        ("c0", "column=language"),
        ("c0=sets,c0=own", "each column once"),
        ("c9=own", "not in 'by'"),
        ("c0=tree", "declares no hierarchy"),
    ],
)
def test_a_wrong_language_is_refused(languages, says):
    with pytest.raises(UsageError, match=says):
        Context(record="r", metric="y", by=("c0", "c1"), detector=Grubbs(), epsilon=1, contexts=languages).price(
            declaration((3, 3))
        )


def test_what_does_not_fit_is_refused_with_what_would():
    with pytest.raises(UsageError, match="c0=own"):
        Vocabularies(tuple(Vocabulary(f"c{i}", values(9), "range") for i in range(12))).check()
    assert parse_languages("") == {}


STAFF = (
    Vocabulary("job", Categories(("Nurse", "Porter", "Secretary", "CEO", "Cook", "Clerk")), "sets"),
    Vocabulary("hospital", Categories(("Alder", "Birch", "Cedar", "Dale")), "own"),
    Vocabulary(
        "age", Bins((0, 20, 30, 40, 50), Numbers(lower=Fraction(0), upper=Fraction(99), step=Fraction(1))), "range"
    ),
    Vocabulary("site", Categories(SITES), "tree", TREE),
    Vocabulary("grade", Categories(("A", "B", "C")), "sets"),
)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (((0,), (3,), (2,), (0, 1, 2, 3, 4), (0, 1, 2)), "nurses in Dale, aged 30 to 39"),
        (((0, 2), (0, 1, 2, 3), (2, 3), (0, 1, 2, 3, 4), (0, 1, 2)), "nurses or secretaries, aged 30 to 49"),
        (((0, 3), (3,), (0, 1, 2, 3, 4), (0, 1), (0, 1)), "nurses or CEOs in Dale in a, with grade A or B"),
        (
            ((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4), (0, 1, 2)),
            "everyone but cooks and clerks",
        ),
        (((0, 1, 2, 3, 4, 5), (0, 1, 2, 3), (2, 3, 4), (0,), (0, 1, 2)), "rows in a1, aged 30 to 99"),
        ((tuple(range(6)), (0, 1, 2, 3), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4), (0, 1, 2)), "all rows"),
    ],
)
def test_a_context_is_said_as_a_person_would(held, said):
    space = Space.of(STAFF, own=(0, 3, 2, 0, 0))
    index = space.index(held)
    assert index is not None
    assert text(space, index) == said


def test_a_hierarchy_file_is_read_beside_the_declaration(tmp_path: Path):
    (tmp_path / "site.csv").write_text("a1;a;north\na2;a;north\nb1;b;south\nb2;b;south\nb3;c;south\n")
    columns = dict(declaration((2,)).columns)
    columns["site"] = replace(
        columns["c0"], name="site", domain=Categories(SITES), hierarchy=str(tmp_path / "site.csv")
    )
    declared = replace(declaration((2,)), columns=columns, path=tmp_path / "table.toml")
    assert vocabularies(declared, ("site",), {"site": "tree"}).most == 4
