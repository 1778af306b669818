"""Discrete Laplace noise (Canonne, Kamath and Steinke, 2020, Algorithm 2)."""

from __future__ import annotations

from fractions import Fraction

from wallflower.noise.coins import bernoulli_exp
from wallflower.noise.entropy import Entropy
from wallflower.noise.uniform import below

_ONE = Fraction(1)


def discrete_laplace(scale: Fraction, entropy: Entropy) -> int:
    """The integer z with probability proportional to exp(-|z| / scale), for scale > 0."""
    if scale <= 0:
        raise ValueError("discrete_laplace(scale) needs a scale above 0.")
    t, s = scale.numerator, scale.denominator
    while True:
        low = below(t, entropy)
        if not bernoulli_exp(Fraction(low, t), entropy):
            continue
        high = 0
        while bernoulli_exp(_ONE, entropy):
            high += 1
        size = (low + t * high) // s  # low + t·high is geometric with ratio e^(−1/t); dividing by s makes it e^(−s/t)
        negative = entropy.bits(1)
        if size or not negative:  # minus zero is thrown away: zero must not be counted twice
            return -size if negative else size
