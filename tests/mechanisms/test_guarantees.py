"""What each mechanism promises, as data; what it refuses; and that a draw is reproducible from a seed."""

from __future__ import annotations

import dataclasses
import importlib
import math
import pkgutil
from fractions import Fraction

import numpy as np
import pytest

import wallflower.mechanisms
import wallflower.privacy
import wallflower.stores
from wallflower.errors import DeclarationError
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.mechanisms.logistic import FadingResponse
from wallflower.mechanisms.permute_and_flip import PermuteAndFlip
from wallflower.mechanisms.quantile import Quantile
from wallflower.mechanisms.shuffle import shuffled
from wallflower.mechanisms.top import TopH
from wallflower.noise.entropy import SeededEntropy
from wallflower.privacy.guarantees import EVERY_ROW, PureDP

C = Fraction(1, 5)
MECHANISMS = [
    DiscreteLaplace(scale=Fraction(5)),
    Exponential(exponent=C, monotone=True),
    PermuteAndFlip(exponent=C, monotone=False),
    FadingResponse(epsilon=C),
    TopH(h=2, exponent=C),
]


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize(
    ("monotone", "neighbours", "factor"),
    [(True, "add-remove", 1), (True, "replace-one", 2), (False, "add-remove", 2), (False, "replace-one", 2)],
)
def test_selection_costs_half_only_if_monotone_and_add_remove(kind, monotone, neighbours, factor):
    guarantee = kind(exponent=C, monotone=monotone).guarantee(distance=3, neighbours=neighbours)
    bounded = (factor * 3 * C) ** 2 / 8 if kind is Exponential else None  # permute-and-flip has no bounded range
    assert guarantee == PureDP(epsilon=factor * 3 * C, rho=bounded, neighbours=neighbours)


@pytest.mark.parametrize(
    ("monotone", "neighbours", "rho"),
    [(True, "add-remove", C**2 / 8), (False, "add-remove", C**2 / 2), (True, "replace-one", C**2 / 2)],
)
def test_concentrated_loss_of_the_exponential_mechanism(monotone, neighbours, rho):
    mechanism = Exponential(exponent=C, monotone=monotone)
    assert mechanism.zcdp(distance=1, neighbours=neighbours).rho == rho
    assert mechanism.zcdp(distance=2, neighbours=neighbours).rho == 4 * rho


def test_the_others():
    assert DiscreteLaplace(scale=Fraction(4)).guarantee(distance=2, neighbours="replace-one").epsilon == Fraction(1, 2)
    assert FadingResponse(epsilon=C).guarantee(distance=3, neighbours="add-remove").epsilon == 3 * C
    assert TopH(h=5, exponent=C).guarantee(distance=2, neighbours="replace-one").epsilon == 20 * C


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_every_guarantee_names_its_neighbours_and_whom_it_protects(mechanism):
    assert mechanism.guarantee(distance=1, neighbours="replace-one").neighbours == "replace-one"
    assert mechanism.guarantee(distance=1, neighbours="add-remove").protects == EVERY_ROW
    assert mechanism.guarantee(distance=1, neighbours="add-remove", protects="some").protects == "some"


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
@pytest.mark.parametrize("distance", [0, -1, 0.5, True])
def test_a_distance_is_a_whole_number_of_at_least_one(mechanism, distance):
    with pytest.raises(DeclarationError, match="'distance' of"):
        mechanism.guarantee(distance=distance, neighbours="add-remove")


@pytest.mark.parametrize("wrong", [Fraction(0), Fraction(-1), 0.5, 1])
def test_constants_are_exact_and_positive(wrong):
    for make in (
        lambda: DiscreteLaplace(scale=wrong),
        lambda: Exponential(exponent=wrong, monotone=True),
        lambda: PermuteAndFlip(exponent=wrong, monotone=True),
        lambda: FadingResponse(epsilon=wrong),
        lambda: TopH(h=1, exponent=wrong),
    ):
        with pytest.raises(DeclarationError, match="must be"):
            make()
    with pytest.raises(DeclarationError, match="'h' of TopH"):
        TopH(h=0, exponent=C)


def test_draws():
    entropy = SeededEntropy(1)
    scores = np.array([0, 500, 499, 0])
    sharp = Fraction(1000)
    assert Exponential(exponent=sharp, monotone=True)(scores, entropy) == 1
    assert Exponential(exponent=sharp, monotone=True).level({3: 10, 1: 10**6}, entropy) == 3
    assert PermuteAndFlip(exponent=sharp, monotone=True)(scores, entropy) == 1
    assert TopH(h=2, exponent=sharp)(scores, entropy) == [1, 2]
    assert DiscreteLaplace(scale=Fraction(1, 1000))(17, entropy) == 17
    assert FadingResponse(epsilon=sharp)(True, 1, entropy) is True
    assert FadingResponse(epsilon=sharp)(False, 1, entropy) is False
    with pytest.raises(ValueError, match="margin"):
        FadingResponse(epsilon=C)(True, 0, entropy)


@pytest.mark.statistics
@pytest.mark.parametrize("margin", [1, 2, 4])
def test_fading_flips_as_often_as_its_law_says(margin):
    from tests.statistics.fit import ACCEPT, REJECT, fit

    response, entropy = FadingResponse(epsilon=Fraction(1, 2)), SeededEntropy(margin)
    draws = [response(True, margin, entropy) for _ in range(60_000)]
    flip = math.exp(response.log_flip(margin))
    assert fit(draws, {True: 1 - flip, False: flip}) > ACCEPT
    for wrong in (math.exp(response.log_flip(margin + 1)), math.exp(response.log_flip(margin - 1))):
        assert fit(draws, {True: 1 - wrong, False: wrong}) < REJECT


def test_a_flip_too_rare_to_be_seen_keeps_its_law():
    response = FadingResponse(epsilon=Fraction(1))
    assert response.log_flip(49) == pytest.approx(-48 - math.log(1 + math.e))
    assert math.exp(response.log_flip(49)) < 1e-21
    assert response.log_flip(1) == pytest.approx(-math.log(1 + math.e))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(50)])
@pytest.mark.parametrize("miss", [Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**6)])
def test_the_reach_of_laplace_noise_is_the_least_that_suffices(scale, miss):
    mechanism = DiscreteLaplace(scale=scale)
    reach = mechanism.reach(miss=miss)

    def beyond(t):
        return 1 - math.fsum(math.exp(mechanism.log_probability(z)) for z in range(-t, t + 1))

    assert beyond(reach) <= float(miss) * (1 + 1e-6)
    assert reach == 0 or beyond(reach - 1) > float(miss) * (1 - 1e-6)
    with pytest.raises(DeclarationError, match="'miss'"):
        mechanism.reach(miss=Fraction(1))


@pytest.mark.parametrize("value", [0.5, Fraction(1, 2), np.float64(3), "3"])
def test_only_whole_numbers_get_whole_noise(value):
    with pytest.raises(TypeError):
        DiscreteLaplace(scale=Fraction(1))(value, SeededEntropy(1))


def test_noise_larger_than_numpys_integers_is_added():
    noisy = DiscreteLaplace(scale=Fraction(10**40))(np.int64(3), SeededEntropy(1))
    assert type(noisy) is int
    assert abs(noisy) > 2**64


@pytest.mark.parametrize("bit", [2, np.bool_(True), np.int64(1)])
def test_a_bit_is_true_or_false(bit):
    entropy = SeededEntropy(1)
    told = [FadingResponse(epsilon=Fraction(1, 100))(bit, 1, entropy) for _ in range(200)]
    assert {type(answer) for answer in told} == {bool}
    assert 60 < sum(told) < 140


@pytest.mark.parametrize("scale", [Fraction(10) ** 400, Fraction(9) * 10**308, Fraction(1, 10**400), Fraction(2)])
def test_the_reach_of_laplace_noise_is_known_at_any_scale(scale):
    reach = DiscreteLaplace(scale=scale).reach(miss=Fraction(1, 20))
    assert abs(reach - 3 * scale) <= scale / 2 + 2  # ln(2/0.05) − ln 2 is about 3


@pytest.mark.parametrize(("neighbours", "distance"), [("add-remove", 3), ("replace-one", 4)])
def test_a_row_that_is_replaced_moves_a_quartile_by_both_sides(neighbours, distance):
    quartile = Quantile.of(Fraction(1), share=Fraction(1, 4), first=0, last=9, neighbours=neighbours)
    assert quartile.exponent == Fraction(1, 2 * distance)
    assert quartile.guarantee(neighbours=neighbours).epsilon == 1


def test_an_order_is_drawn_again_exactly_where_two_keys_are_equal():
    class Given:
        def __init__(self, *draws):
            self.draws = [np.array(keys, dtype=np.uint64).tobytes() for keys in draws]

        def block(self, count):
            found = self.draws.pop(0)
            assert len(found) == count
            return found

    distinct = [[5, 1], [5, 0], [2, 9]]  # two agree in half of a key
    assert shuffled(3, Given(distinct)).tolist() == [2, 1, 0]
    assert shuffled(3, Given([[7, 7], [1, 2], [7, 7]], distinct)).tolist() == [2, 1, 0]


@pytest.mark.parametrize(("kind", "other"), [(Exponential, 0.0), (PermuteAndFlip, math.log(1 / 2))])
def test_probabilities_of_scores_that_are_far_apart_are_finite(kind, other):
    chances = kind(exponent=Fraction(1), monotone=False).log_probabilities([-(10**6), 0])
    assert chances == [-(10.0**6) + other, 0.0]  # permute-and-flip: its coin, and to be visited first


def modules():
    for package in (wallflower.mechanisms, wallflower.privacy, wallflower.stores):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if not found.ispkg:
                yield importlib.import_module(found.name)


def test_what_is_promised_cannot_be_changed_afterwards():
    """A mechanism, a guarantee or a price that could be changed after the charge would promise what nobody paid for."""
    made = {one for module in modules() for one in vars(module).values() if dataclasses.is_dataclass(one)}
    ours = [one for one in made if isinstance(one, type) and one.__module__.startswith("wallflower.")]
    assert TopH in ours
    assert PureDP in ours
    assert [one.__name__ for one in ours if not one.__dataclass_params__.frozen] == []
    by_place = {one.__name__ for one in ours for field in dataclasses.fields(one) if not field.kw_only}
    assert by_place == {"Account", "BulkResponse"}  # else an epsilon could be given where a delta is meant
