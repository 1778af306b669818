"""OpenDP as an outside oracle: its samples and ours come from one law. Its entropy cannot be seeded, hence the tiny threshold."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.statistics.fit import REJECT, SAMPLES, agreement

from wallflower.noise.entropy import SeededEntropy
from wallflower.noise.laplace import discrete_laplace
from wallflower.noise.selection import permute_and_flip, select, select_many

pytestmark = pytest.mark.statistics

NEVER = 1e-9
SCORES = [9, 8, 8, 6, 5, 3, 2, 0]


@pytest.fixture(scope="module")
def dp():
    from opendp import prelude

    prelude.enable_features("contrib")
    return prelude


def ours(sampler, *arguments):
    entropy = SeededEntropy(11)
    return [sampler(*arguments, entropy) for _ in range(SAMPLES)]


@cache
def chosen(sampler, exponent):
    """Two tests look at the same draws."""
    return ours(sampler, np.array(SCORES), exponent)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3, 2), Fraction(8)])
def test_discrete_laplace(dp, scale):
    noise = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(scale))
    theirs = noise([0] * SAMPLES)
    assert agreement(ours(discrete_laplace, scale), theirs) > NEVER
    assert agreement(ours(discrete_laplace, scale * 8 / 10), theirs) < REJECT
    assert agreement(ours(discrete_laplace, scale * 12 / 10), theirs) < REJECT


def noisy_max(dp, measure, exponent):
    return dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int), measure, scale=float(1 / exponent)
    )


def test_exponential_mechanism(dp):
    theirs = noisy_max(dp, dp.zero_concentrated_divergence(), Fraction(1, 2))  # Gumbel noise
    samples = [theirs(SCORES) for _ in range(SAMPLES)]
    assert agreement(chosen(select, Fraction(1, 2)), samples) > NEVER
    assert agreement(chosen(select, Fraction(2, 5)), samples) < REJECT
    assert agreement(chosen(permute_and_flip, Fraction(1, 2)), samples) < REJECT


def test_permute_and_flip(dp):
    theirs = noisy_max(dp, dp.max_divergence(), Fraction(1, 2))  # exponential noise
    samples = [theirs(SCORES) for _ in range(SAMPLES)]
    assert agreement(chosen(permute_and_flip, Fraction(1, 2)), samples) > NEVER
    assert agreement(chosen(permute_and_flip, Fraction(2, 5)), samples) < REJECT
    assert agreement(chosen(select, Fraction(1, 2)), samples) < REJECT


def test_top_h_equals_one_shot_gumbel(dp):
    theirs = dp.m.make_noisy_top_k(
        dp.vector_domain(dp.atom_domain(T=int)),
        dp.linf_distance(T=int),
        dp.zero_concentrated_divergence(),
        k=2,
        scale=2.0,
    )
    many = (
        SAMPLES // 2
    )  # pairs say more than single choices: 9,000 of them notice a fifth off with a chance of 1 − 10^−6
    samples = [tuple(theirs(SCORES)) for _ in range(many)]
    entropy = SeededEntropy(12)
    for exponent, alike in ((Fraction(1, 2), True), (Fraction(2, 5), False)):
        draws = [tuple(select_many(np.array(SCORES), 2, exponent, entropy)) for _ in range(many)]
        assert (agreement(draws, samples) > NEVER) if alike else (agreement(draws, samples) < REJECT)
