"""Every public constant that is rounded is rounded so that no loss is understated; by a hair, which no draw would show."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from wallflower.mechanisms import alarm_clock, noisy_scale, quantile
from wallflower.mechanisms.alarm_clock import AlarmClock
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.inverse_sensitivity import InverseSensitivity
from wallflower.mechanisms.layer_price import MOST_COLUMNS, LayerPrice
from wallflower.mechanisms.lomax import Lomax
from wallflower.mechanisms.noisy_scale import NoisyScale
from wallflower.mechanisms.profiles import Profile
from wallflower.mechanisms.quantile import Quantile
from wallflower.mechanisms.top import TopH
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.domains import Numbers

EXPONENTS = [Fraction(text) for text in ("1/1000", "1/7", "1/3", "1", "22/7", "4", "9", "10")]


def exactly(number):
    return mpmath.mpf(number.numerator) / number.denominator


def clock(epsilon):
    return AlarmClock(epsilon=epsilon, false_alarms=Fraction(1, 20), live_share=Fraction(3, 5), slots=4)


@pytest.mark.parametrize("epsilon", EXPONENTS)
def test_no_alarm_is_likelier_than_e_to_the_epsilon_allows(epsilon):
    with mpmath.workdps(80):
        power = mpmath.exp(exactly(epsilon))
        assert power * (1 - mpmath.mpf(2) ** -50) < exactly(clock(epsilon).ratio) < power


def test_an_alarm_sounds_for_as_many_draws_as_its_mass(monkeypatch):
    made = clock(Fraction(4))
    mass = made.mass(0, made.whole, misbehaves=True)
    for drawn, sounds in ((0, True), (mass - 1, True), (mass, False), (made.whole - 1, False)):
        monkeypatch.setattr(alarm_clock, "below", lambda _rest, _entropy, drawn=drawn: drawn)
        assert made.draw(0, made.whole, misbehaves=True, entropy=SeededEntropy(0))[0] is sounds


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("bits", [20, 60])
def test_what_noise_is_scaled_by_is_no_larger_than_the_proof_has_it(exponent, bits):
    with mpmath.workdps(80):
        power, grown = mpmath.exp(exactly(exponent)), exactly(Lomax._grown(exponent, bits))
        assert power - mpmath.mpf(2) ** -bits < grown < power


@pytest.mark.parametrize("beta", EXPONENTS)
def test_a_rung_is_no_lower_than_a_scale_may_climb(beta):
    ladder = NoisyScale(floor=Fraction(1), cap=10**6, beta=beta, epsilon=Fraction(1))
    with mpmath.workdps(80):
        assert exactly(ladder.step) > mpmath.exp(exactly(beta))
    assert all(after >= before * ladder.step for before, after in zip(ladder.rungs, ladder.rungs[1:], strict=False))


@pytest.mark.parametrize("value", [0, 3, 5, 6, 10**6])
def test_every_answer_has_a_level_of_its_own_wherever_the_true_one_is(value):
    """Even beyond the range, where more rows came than were declared."""
    rings = InverseSensitivity(epsilon=Fraction(1), most=5).rings(value, Profile(bounds=(1,), cap=1))
    assert sorted(answer for ring in rings for side in ring for answer in side) == list(range(6))


@pytest.mark.parametrize("most", [1, 1000, 10**9])
def test_answers_that_share_the_last_level_hardly_ever_come_up(most):
    mechanism = InverseSensitivity(epsilon=Fraction(1, 3), most=most)
    assert mpmath.exp(-exactly(mechanism.epsilon) / 2 * mechanism.levels) * most < 1e-12


def test_the_noise_of_a_rung_has_the_scale_that_was_charged(monkeypatch):
    drawn = []
    monkeypatch.setattr(noisy_scale, "DiscreteLaplace", lambda *, scale: lambda rung, _: drawn.append(scale) or rung)
    ladder = NoisyScale(floor=Fraction(3), cap=60, beta=Fraction(1, 8), epsilon=Fraction(2, 5))
    assert ladder.noisy_rung(2, SeededEntropy(0)) == 2
    assert drawn == [Fraction(5, 2)]


def test_each_number_with_the_drawn_score_is_drawn_at_one_place(monkeypatch):
    """At the ends of its runs too: one place further is a number with another score."""
    median = Quantile(share=Fraction(1, 2), first=0, last=10, exponent=Fraction(1, 4))
    numbers = np.array([2, 2, 7, 8])
    begins, lengths, scores = median.pieces(numbers)
    of_score = {}
    for begin, length, score in zip(begins.tolist(), lengths.tolist(), scores.tolist(), strict=True):
        of_score.setdefault(score, []).extend(range(begin, begin + length))
    assert len(of_score) > 2
    for score, wanted in of_score.items():
        monkeypatch.setattr(Exponential, "level", lambda *_, score=score: score)
        found = []
        for place in range(len(wanted)):
            monkeypatch.setattr(quantile, "below", lambda _n, _entropy, place=place: place)
            found.append(median(numbers, SeededEntropy(0)))
        assert found == wanted


def test_every_one_of_the_h_selections_is_counted_in_rho():
    promise = TopH(h=3, exponent=Fraction(1, 4)).guarantee(distance=2, neighbours="replace-one")
    assert (promise.epsilon, promise.rho) == (3, Fraction(3, 8))


def test_beyond_so_many_columns_the_whole_sum_is_charged():
    many = MOST_COLUMNS + 1
    domain = Numbers(lower=Fraction(0), upper=Fraction(10), step=Fraction(1))
    price = LayerPrice(
        domains=(domain,) * many,
        centres=(Fraction(5),) * many,
        scales=(Fraction(1),) * many,
        epsilons=(Fraction(1, 9),) * many,
        radii=(Fraction(3),),
        code=Fraction(1, 2),
    )
    assert (price.noised, price.farthest, price.epsilon) == (1, 1, Fraction(3, 2))
