import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.count import twins
from tests.count.stub import Table, declared
from wallflower.audit.exact import exact_audit
from wallflower.count import Subspaces
from wallflower.count.sensitivity import global_sensitivity
from wallflower.errors import UsageError
from wallflower.geometry.balls import normalised_ball
from wallflower.mechanisms.top import TopH
from wallflower.noise.entropy import SeededEntropy


def search(**changes):
    return Subspaces(
        **{"columns": ("c0", "c1", "c2"), "size": 2, "top": 2, "neighbours": 2, "radius": "3", "epsilon": "1"} | changes
    )


def planted(seed=0, size=300):
    """Three columns; the first two hold outliers, the third none."""
    rng = np.random.default_rng(seed)
    points = rng.integers(-5, 6, (size, 3))
    points[:60, 0] = 1000 + 50 * np.arange(60)
    points[:60, 1] = 2000 + 50 * np.arange(60)
    return points


def test_scores_are_the_counts_of_each_subspace():
    points, declaration = planted(), declared(3)
    for size in (1, 2, 3):
        query = search(size=size, top=1)
        ball = normalised_ball(steps=[Fraction(1)] * size, scales=[Fraction(1)] * size, radius=Fraction(3))
        expected = [
            twins.outliers(points[:, list(chosen)], ball, 2) for chosen in itertools.combinations(range(3), size)
        ]
        assert query._outliers(Table(points, declaration)).tolist() == expected


def test_with_much_budget_the_right_subspaces_come_first_and_are_counted():
    table = Table(planted(), declared(3))
    answer = search(size=1, top=2, epsilon="40", counts_epsilon="40").run(table, SeededEntropy(1))
    assert {names for found in answer["subspaces"] for names in found["columns"]} == {"c0", "c1"}
    assert all(abs(found["count"] - 60) <= 6 for found in answer["subspaces"])
    without = search(size=1, top=2, epsilon="40").run(table, SeededEntropy(1))
    assert all(found["count"] is None for found in without["subspaces"])


def test_the_whole_request_is_priced_before_it_starts():
    price = search(epsilon="1", counts_epsilon="1/2").price(declared(3))
    assert price.guarantee.epsilon == Fraction(3, 2)
    assert price.mechanism["exponent"] == "1/44"  # 1 / (2·2·11)
    assert price.settings["budget"] == "1 to find, 0.5 to count"
    assert price.settings["candidates"] == "3"
    assert set(price.expected) == {"certainty", "counts"}
    assert search(epsilon="1").price(declared(3)).guarantee.epsilon == 1


def test_too_many_subspaces_are_refused():
    with pytest.raises(UsageError, match="subspaces"):
        search(columns=tuple(f"c{i}" for i in range(40)), size=10)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_the_exact_law_of_the_choice_keeps_the_promise_and_the_printed_one_spends_twice(neighbours):
    """Counts that move by at most the sensitivity: exponent ε/(2h) is ε-DP; the paper's ε/h costs nearly 2ε."""
    h, epsilon = 2, Fraction(1)
    distance = global_sensitivity(1, 1, neighbours)
    mine = search(size=1, top=h, neighbours=1)._choice(declared(3, neighbours=neighbours))
    assert mine == TopH(h=h, exponent=epsilon / (2 * h * distance))
    printed = TopH(h=h, exponent=epsilon / (h * distance))

    def loss(mechanism):
        def law(scores):
            return {order: mechanism.log_probability(scores, order) for order in itertools.permutations(range(4), h)}

        corners = itertools.product((0, distance), repeat=4)
        far = (30 * distance, 29 * distance, 0, 0)
        pairs = [
            (base, tuple(score + move for score, move in zip(base, moves, strict=True)))
            for moves in corners
            for base in ((0,) * 4, far, (0, 40 * distance, 40 * distance, 40 * distance))
        ]
        shifted = [((distance, distance, 0, 0), (0, 0, distance, distance))]
        return exact_audit(law, pairs + shifted, logs=True)

    assert loss(mine).within(epsilon)
    assert not loss(printed).within(epsilon)
    assert loss(printed).within(2 * epsilon)


def test_a_search_among_copies_is_uniform():
    points = np.tile(planted()[:, :1], (1, 3))
    query = search(size=1, top=1)
    first = [
        query.run(Table(points, declared(3)), SeededEntropy(seed))["subspaces"][0]["columns"][0] for seed in range(90)
    ]
    assert min(first.count(name) for name in ("c0", "c1", "c2")) >= 90 / 3 - 5 * math.sqrt(20)


def test_the_owner_sees_the_true_order():
    seen = search(size=1, top=1).inspect(Table(planted(), declared(3)))
    assert [row[0] for row in seen["tables"][0]["rows"]][:2] == ["c0", "c1"]
