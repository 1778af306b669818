"""Noise at the source: the promise against exact laws, draws against the scalar sampler, and a planted bug."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wallflower.errors import DeclarationError
from wallflower.mechanisms.layer import LayerResponse
from wallflower.mechanisms.perturbation import NoisyColumn, Perturbation
from wallflower.noise.entropy import SeededEntropy, SystemEntropy
from wallflower.noise.laplace import discrete_laplace
from wallflower.schema.domains import Numbers

BOUNDS = Numbers(lower=Fraction(-2), upper=Fraction(3), step=Fraction(1, 2))


def column(epsilon="1", width="5"):
    return NoisyColumn(domain=BOUNDS, epsilon=Fraction(epsilon), width=Fraction(width))


def log_law(noisy, reading, seen):
    """log P(seen | reading) of one column, from the definition."""
    clipped = min(max(reading, noisy.domain.first), noisy.domain.last)
    inverse = mpmath.mpf(noisy.scale.denominator) / noisy.scale.numerator
    q = mpmath.exp(-inverse)
    return mpmath.log((1 - q) / (1 + q)) - abs(seen - clipped) * inverse


@settings(deadline=None)
@given(st.data())
def test_the_exact_log_ratio_never_exceeds_the_loss_and_attains_it(data):
    noisy = column(data.draw(st.sampled_from(["1/10", "1", "3"])), data.draw(st.sampled_from(["1/2", "5", "7"])))
    one, other = data.draw(st.integers(-9, 9)), data.draw(st.integers(-9, 9))
    loss = float(Perturbation(columns=(noisy,)).loss((one,), (other,)))
    ratios = [float(log_law(noisy, one, seen) - log_law(noisy, other, seen)) for seen in range(-30, 31)]
    assert max(ratios) <= loss + 1e-12
    assert max(ratios) == pytest.approx(loss)


def test_bounds_as_width_promise_epsilon_for_every_two_readings():
    two = Perturbation(columns=(column("1/2"), column("1/4")))
    assert two.local().epsilon == Fraction(3, 4)  # columns add up
    assert (
        Perturbation(columns=(column(width="1"),)).local().epsilon == 5
    )  # a narrow core costs more over the whole range
    assert Perturbation(columns=(column(width="1"),)).metric().epsilon == 1


@pytest.mark.statistics
@pytest.mark.parametrize("scale", ["1/2", "10/3", "40"])
def test_bulk_draws_and_scalar_draws_are_one_law(scale):
    from scipy.stats import chi2_contingency

    scale = Fraction(scale)
    noisy = NoisyColumn(domain=BOUNDS, epsilon=1 / scale, width=BOUNDS.step)
    zeros = np.zeros((30_000, 1), dtype=np.int64)
    bulk = Perturbation(columns=(noisy,))(zeros, SeededEntropy(4))[:, 0]
    entropy = SeededEntropy(5)

    def agreement(other_scale):
        scalar = np.array([discrete_laplace(other_scale, entropy) for _ in range(30_000)])
        edges = np.unique(
            np.concatenate([[-(2**62)], np.quantile(scalar, np.linspace(0.02, 0.98, 20)).round() + 0.5, [2.0**62]])
        )
        table = np.array([np.histogram(sample, edges)[0] for sample in (bulk, scalar)])
        return chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue

    assert agreement(scale) > 1e-6
    assert agreement(scale * 11 / 10) < 1e-6  # a scale a tenth off would be seen


def test_a_reading_outside_the_bounds_is_noised_as_the_bound():
    huge = np.array([[10**6]] * 2000)
    top = np.array([[BOUNDS.last]] * 2000)
    mechanism = Perturbation(columns=(column(),))
    assert np.array_equal(mechanism(huge, SeededEntropy(1)), mechanism(top, SeededEntropy(1)))
    unclipped = Perturbation(
        columns=(
            NoisyColumn(
                domain=Numbers(lower=Fraction(-2), upper=Fraction(10**7), step=Fraction(1, 2)),
                epsilon=Fraction(1),
                width=Fraction(5),
            ),
        )
    )
    assert unclipped(huge, SystemEntropy()).min() > 10**5  # the planted bug, no clipping: told apart at a glance


@pytest.mark.parametrize(
    ("epsilon", "width"), [("0", "5"), ("-1", "5"), ("1", "0"), ("100000", "5"), ("1", "1000000000000")]
)
def test_impossible_settings_are_refused(epsilon, width):
    with pytest.raises(DeclarationError):
        column(epsilon, width)


@pytest.mark.parametrize("layers", [2, 3, 7])
def test_a_code_loses_epsilon_between_layers_and_nothing_within_one(layers):
    table = LayerResponse(epsilon=Fraction(3, 2), layers=layers).likelihood()
    assert np.allclose(table.sum(axis=1), 1)
    ratios = np.log(table[:, None, :] / table[None, :, :])
    assert ratios.max() == pytest.approx(1.5)
    assert LayerResponse(epsilon=Fraction(3, 2), layers=layers).guarantee().epsilon == Fraction(3, 2)


@pytest.mark.statistics
def test_codes_are_drawn_as_their_likelihood_says():
    response = LayerResponse(epsilon=Fraction(1), layers=3)
    for layer in range(3):
        said = response(np.full(100_000, layer, dtype=np.int64), SeededEntropy(layer))
        assert np.bincount(said, minlength=3) / 100_000 == pytest.approx(response.likelihood()[layer], abs=0.006)


@pytest.mark.parametrize(("epsilon", "layers"), [("0", 2), ("1", 1), ("1", 257)])
def test_impossible_codes_are_refused(epsilon, layers):
    with pytest.raises(DeclarationError):
        LayerResponse(epsilon=Fraction(epsilon), layers=layers)


@pytest.mark.statistics
@pytest.mark.parametrize(("real", "caught"), [("1", False), ("3/2", True)])
def test_an_audit_of_drawn_codes_catches_a_coin_that_flips_too_seldom(real, caught):
    """The claim is epsilon = 1; a coin made for 3/2 breaks it by far more than sampling could."""
    count = 200_000
    response = LayerResponse(epsilon=Fraction(real))
    said = [int(response(np.full(count, layer, dtype=np.int64), SeededEntropy(30 + layer)).sum()) for layer in (0, 1)]
    low, high = said[1] - 5 * np.sqrt(said[1]), said[0] + 5 * np.sqrt(said[0])
    assert bool(low / high > np.exp(1.0)) is caught


def test_codes_of_several_readings_are_drawn_with_coins_of_their_own():
    """The law of two codes is the product of each one's; a coin used twice would tell their difference for certain."""
    response = LayerResponse(epsilon=Fraction(1))
    keep = float(response.likelihood()[0, 0])
    rounds, truth = 20_000, np.array([0, 1])
    said = response(np.tile(truth, rounds), SeededEntropy(5)).reshape(rounds, 2)
    counts = np.bincount(said[:, 0] * 2 + said[:, 1], minlength=4)
    law = [(keep if a == 0 else 1 - keep) * (keep if b == 1 else 1 - keep) for a in (0, 1) for b in (0, 1)]
    assert stats.chisquare(counts, np.array(law) * rounds).pvalue > 1e-6
    reused = said[:, 0] ^ 1  # the planted bug: the second reading turned over by the first one's coin
    pairs = np.bincount(said[:, 0] * 2 + reused, minlength=4)
    assert stats.chisquare(pairs + 1e-9, np.array(law) * pairs.sum() * (1 + 4e-9 / pairs.sum())).pvalue < 1e-12
