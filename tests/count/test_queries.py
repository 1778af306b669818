import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.count import twins
from tests.count.stub import Table, declared
from wallflower.audit.exact import exact_audit
from wallflower.count import Outliers, Subspaces
from wallflower.count.degrees import capped_degrees, declared_ball
from wallflower.count.expectations import error_by_epsilon, error_of_auto
from wallflower.count.noise import NOISES, Noise
from wallflower.count.profiles import bound, profile
from wallflower.count.queries import measure
from wallflower.count.sensitivity import global_sensitivity
from wallflower.errors import DeclarationError, UsageError
from wallflower.geometry.balls import Ball
from wallflower.mechanisms.inverse_sensitivity import InverseSensitivity
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.entropy import SeededEntropy
from wallflower.report.count import error_picture

ADJACENCIES = ["replace-one", "add-remove"]
DRAWN = [noise for noise in NOISES if noise != "auto"]


def question(width=2, **changes):
    return Outliers(
        **{"columns": [f"c{i}" for i in range(width)], "neighbours": 2, "radius": "5", "epsilon": "0.9"} | changes
    )


def rows(seed, size=60, width=2):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.integers(-20, 21, (size, width)), rng.integers(500, 900, (size // 10, width))])


@given(st.integers(0, 10_000), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_the_true_count_is_that_of_the_definition(seed, width):
    declaration = declared(width, step=Fraction(1, 4), scale=Fraction(3))
    points = rows(seed, width=width)
    query = question(width, radius="7/3")
    count, _ = measure(Table(points, declaration), query.columns, query.radius, query.noise_for(declaration))
    gaps = points[:, None] - points[None]  # in steps of 1/4, of which a unit of distance has twelve
    near = (gaps**2).sum(axis=2) * 9 <= 49 * 12**2 * width
    assert count == int((near.sum(axis=1) - 1 < 2).sum())


@pytest.mark.parametrize("noise", DRAWN)
@pytest.mark.parametrize("neighbours", ADJACENCIES)
def test_every_answer_is_a_whole_number_in_the_public_range(noise, neighbours):
    declaration = declared(2, neighbours=neighbours, max_rows=70)
    table = Table(rows(1), declaration)
    most = len(table.points) if neighbours == "replace-one" else 70
    seen = [question(noise=noise, epsilon="0.1").run(table, SeededEntropy(seed)) for seed in range(60)]
    assert all(isinstance(answer["count"], int) and 0 <= answer["count"] <= most for answer in seen)
    assert {0, most} & {answer["count"] for answer in seen} or noise == "inverse"
    for answer in seen:
        if answer["interval"] is not None:
            low, high = answer["interval"]
            assert 0 <= low <= answer["count"] <= high <= most


@pytest.mark.parametrize("noise", ["lomax", "laplace"])
def test_the_interval_is_a_function_of_the_answer_and_of_public_things(noise):
    """Two tables with very different smooth bounds: the same answer comes with the same interval."""
    declaration = declared(2, neighbours="add-remove", max_rows=10**6)
    calm, wild = Table([[0, 0]] * 50, declaration), Table(rows(2, size=400), declaration)
    by_answer = {}
    for table in (calm, wild):
        for seed in range(300):
            answer = question(noise=noise, epsilon="2").run(table, SeededEntropy(seed))
            assert by_answer.setdefault(answer["count"], answer["interval"]) == answer["interval"]


def test_intervals_hold_the_truth_as_often_as_they_say():
    declaration = declared(2)
    table = Table(rows(3), declaration)
    for noise in ("lomax", "laplace"):
        query = question(noise=noise, epsilon="2")
        truth, _ = measure(table, query.columns, query.radius, query.noise_for(declaration))
        hits = 0
        for seed in range(300):
            low, high = query.run(table, SeededEntropy(seed))["interval"]
            hits += low <= truth <= high
        assert hits >= 275  # 285 expected of an exact 95 %, and these are wider


@pytest.mark.parametrize("noise", ["lomax", "inverse"])
@pytest.mark.parametrize("neighbours", ADJACENCIES)
def test_rows_with_far_more_than_k_others_are_far_from_the_threshold(noise, neighbours):
    """Degrees capped at k, which is enough for the count, would put them all at the threshold of a profile."""
    declaration = declared(2, neighbours=neighbours)
    query = question(noise=noise)
    asked = query.noise_for(declaration)
    count, profile = measure(Table([[0, 0]] * 60, declaration), query.columns, query.radius, asked)
    assert (count, profile[0]) == (0, 1)
    assert profile[min(asked.horizon, 40) - 1] == min(bound(0, min(asked.horizon, 40) - 1, neighbours), asked.cap)


@pytest.mark.parametrize("noise", DRAWN)
@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("points", [[], [[3, 3]], [[1, 1]] * 5])
def test_small_and_empty_tables_are_answered(noise, neighbours, points):
    answer = question(noise=noise).run(Table(points, declared(2, neighbours=neighbours)), SeededEntropy(0))
    assert answer["count"] >= 0


def test_clamping_to_a_private_number_of_rows_would_give_a_row_away():
    """The published range {0 … N} with N private, X = {0, 100} and X′ = X + {200}: answer 3 is impossible under X."""

    def released(sizes_public):
        def law(table):
            mechanism = DiscreteLaplace(scale=Fraction(2))
            most = 20 if sizes_public else len(table)
            truth = twins.outliers(np.array(table).reshape(-1, 1), twins.Ball((1,), 1), 1)
            chances = [2.718281828459045 ** mechanism.log_probability(z) for z in range(-60, 61)]
            found = dict.fromkeys(range(most + 1), 0.0)
            for z, chance in zip(range(-60, 61), chances, strict=True):
                found[min(max(truth + z, 0), most)] += chance
            total = sum(found.values())
            return {answer: chance / total for answer, chance in found.items()}

        return law

    pair = [((0, 100), (0, 100, 200))]
    assert exact_audit(released(sizes_public=False), pair).loss == np.inf
    assert exact_audit(released(sizes_public=True), pair).within(Fraction(1, 2))


def test_the_whole_inverse_mechanism_on_every_small_table():
    """Exact laws over every table of up to three rows on a line of five places, add-remove, with real profiles."""
    k, ball, epsilon = 1, twins.Ball((1,), 1), Fraction(4, 5)
    tables = [t for n in range(4) for t in itertools.combinations_with_replacement(range(5), n)]
    pairs = [(t, t[:i] + t[i + 1 :]) for t in tables for i in range(len(t))]

    def law(table, unsafe=0):
        points = np.array(table, dtype=np.int64).reshape(-1, 1)
        cap = global_sensitivity(1, k, "add-remove")
        profile = twins.bounds_of(points, ball, k=k, neighbours="add-remove", cap=cap)
        if unsafe:
            profile = type(profile)(bounds=(1,) * 30, cap=cap)
        count = twins.outliers(points, ball, k)
        return dict(enumerate(InverseSensitivity(epsilon=epsilon, most=8).probabilities(count, profile)))

    assert exact_audit(law, pairs).within(epsilon)
    assert not exact_audit(lambda table: law(table, unsafe=1), pairs).within(epsilon)


@pytest.mark.parametrize("neighbours", ADJACENCIES)
def test_the_whole_lomax_mechanism_on_every_small_table(neighbours):
    """The exact law of what is released, rounded and clamped, over every table of up to three rows on five places."""
    k, ball, epsilon, most = 1, twins.Ball((1,), 1), Fraction(1), 8
    noise = Noise(epsilon=epsilon, dimension=1, k=k, neighbours=neighbours, max_rows=most, wanted="lomax")
    tables = [t for n in range(4) for t in itertools.combinations_with_replacement(range(5), n)]
    rests = {t: {t[:i] + t[i + 1 :] for i in range(len(t))} for t in tables}
    pairs = [(t, rest) for t in tables for rest in rests[t]]
    if neighbours == "replace-one":
        pairs = [(t, u) for t in tables for u in tables if len(t) == len(u) and rests[t] & rests[u]]

    def law(table, unsafe=0):
        points = np.array(table, dtype=np.int64).reshape(-1, 1)
        profile = twins.bounds_of(
            points, ball, k=k, neighbours=neighbours, cap=noise.cap, horizon=min(noise.horizon, noise.cap)
        )
        if unsafe:
            profile = Profile(bounds=profile.bounds[:1] * 40, cap=noise.cap)  # this table's own bound, not smoothed
        count = twins.outliers(points, ball, k)
        scale = noise._lomax.smooth(profile) / noise._lomax.sigma

        def at_least(m):  # P(noise ≥ m)
            if m <= 0:
                return 1 - at_least(1 - m)
            return (1 + (m - Fraction(1, 2)) / scale) ** -8 / 2

        chances = {y: at_least(y - count) - at_least(y + 1 - count) for y in range(1, most)}
        return {0: 1 - at_least(1 - count), **chances, most: at_least(most - count)}

    assert exact_audit(law, pairs).within(epsilon)
    assert not exact_audit(lambda table: law(table, unsafe=1), pairs).within(epsilon)


def test_a_tiny_epsilon_is_still_answered():
    for noise in DRAWN:
        query = question(noise=noise, epsilon="1/1000000", neighbours=40)
        table = Table(rows(5), declared(2, max_rows=10**9, neighbours="add-remove"))
        assert 0 <= query.run(table, SeededEntropy(0))["count"] <= 10**9
        assert query.price(table.declaration).expected


def test_auto_is_public_and_takes_the_smaller_noise_where_it_is_clear():
    def chosen(dimension, k, epsilon, max_rows=100_000):
        return Noise(
            epsilon=Fraction(epsilon), dimension=dimension, k=k, neighbours="replace-one", max_rows=max_rows
        ).name

    assert chosen(1, 3, "0.9") == "laplace"
    assert chosen(2, 3, "0.1") == "laplace"
    assert chosen(2, 10, "0.9") == "lomax"
    assert chosen(5, 10, "0.3") == "lomax"
    assert chosen(10, 3, "0.1") == "lomax"
    assert chosen(2, 3, "0.7") == "laplace"
    assert chosen(2, 3, "0.7", max_rows=50) == "lomax"


@pytest.mark.parametrize("neighbours", ADJACENCIES)
def test_the_price_says_the_error_from_floor_to_cap(neighbours):
    price = question(noise="lomax").price(declared(2, neighbours=neighbours))
    cap = 11 if neighbours == "replace-one" else 10
    assert price.guarantee.epsilon == Fraction(9, 10)
    assert price.mechanism == {"name": "lomax", "beta": "0.1125", "tail": "8", "cap": str(cap)}
    assert price.settings["scales"] == "c0: 1 (none declared), c1: 1 (none declared)"
    assert price.expected["error"].startswith("from ±")
    assert "interval" in price.notes[0]


def test_the_picture_of_error_needs_no_row():
    curve = error_by_epsilon(question(width=4), declared(4))
    assert list(curve.laplace) == sorted(curve.laplace, reverse=True)
    assert all(calm <= worst for calm, worst in zip(curve.lomax_calm, curve.lomax_worst, strict=True))
    parts = zip(curve.laplace, curve.lomax_calm, curve.chosen, strict=True)
    chosen = tuple(laplace if name == "laplace" else calm for laplace, calm, name in parts)
    assert error_of_auto(question(width=4), declared(4)) == chosen
    picture = error_picture(curve)
    assert picture.svg.startswith("<svg")
    assert "epsilon" in picture.alt
    assert "mathdefault" not in picture.svg


@pytest.mark.parametrize(
    "change",
    [
        {"columns": []},
        {"columns": ["c0", "c0"]},
        {"neighbours": 0},
        {"radius": "-1"},
        {"epsilon": "0"},
        {"noise": "gauss"},
    ],
)
def test_a_wrong_question_is_refused(change):
    with pytest.raises(UsageError):
        question(**change)


def test_an_undeclared_column_is_refused_with_the_closest_name():
    with pytest.raises(DeclarationError, match="c0"):
        question(columns=["co", "c1"]).price(declared(2))


@pytest.mark.parametrize("change", [{"size": 0}, {"size": 4}, {"top": 0}, {"top": 4}, {"noise": "x"}])
def test_a_wrong_search_is_refused(change):
    with pytest.raises(UsageError):
        Subspaces(**{"columns": "abc", "size": 1, "top": 1, "neighbours": 1, "radius": 1, "epsilon": 1} | change)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_degrees_are_known_as_far_as_the_bounds_look(neighbours):
    """`measure` may cap degrees, but above the threshold they still decide how soon a row can become an outlier."""
    declaration = declared(1, neighbours=neighbours)
    query = Outliers(columns=("c0",), neighbours=2, radius="1", epsilon="0.2", noise="lomax")
    noise = query.noise_for(declaration)
    assert noise.horizon > 1
    ball = declared_ball(declaration, ("c0",), query.radius)
    differs = False
    for crowd in range(2, 9):
        points = np.repeat(np.array([[0], [50], [90]]), [crowd, crowd + 3, 1], axis=0)
        cap = min(noise.cap, len(points)) if neighbours == "replace-one" else noise.cap
        setting = {"k": noise.k, "neighbours": neighbours, "cap": cap, "horizon": noise.horizon}
        count, bounds = measure(Table(points, declaration), ("c0",), query.radius, noise)
        assert count == twins.outliers(points, ball, 2)
        assert bounds == twins.bounds_of(points, ball, **setting)
        capped = np.minimum(twins.degrees(points, ball), noise.k)
        differs |= bounds != profile(points, capped, ball, **setting)
    assert differs  # a cap at the threshold would show


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("cap", [1, 4, 9])
def test_degrees_are_those_of_every_pair_and_never_above_the_cap(width, cap):
    """On a line, in a grid and in a tree alike; an owner's histogram has one place for each up to the cap."""
    points = np.random.default_rng(width).integers(0, 3, (60, width))
    near = (np.abs(points[:, None] - points[None]) ** 2).sum(axis=2) <= 2
    ball = Ball(weights=(1,) * width, limit=2)
    assert capped_degrees(points, ball, cap).tolist() == np.minimum(near.sum(axis=1) - 1, cap).tolist()
