"""Coins with exact probabilities (Canonne, Kamath and Steinke, 2020, Algorithm 1)."""

from __future__ import annotations

from fractions import Fraction

from wallflower.noise.entropy import Entropy
from wallflower.noise.uniform import below


def bernoulli_exp(x: Fraction, entropy: Entropy) -> bool:
    """True with probability exp(-x), for x >= 0."""
    if x < 0:
        raise ValueError("bernoulli_exp(x) needs x of at least 0.")
    whole, part = divmod(x.numerator, x.denominator)
    # e^(−x) = e^(−1)·…·e^(−1)·e^(−part); the first tail ends it, so a huge x costs no more than two coins on average.
    for _ in range(whole):
        if not _bernoulli_exp_up_to_one(1, 1, entropy):
            return False
    return _bernoulli_exp_up_to_one(part, x.denominator, entropy)


def _bernoulli_exp_up_to_one(numerator: int, denominator: int, entropy: Entropy) -> bool:
    # P(first k coins of probability x/1, x/2, … x/k all come up) = x^k/k!, so P(an even number come up) = Σ (−x)^k/k!.
    k = 1
    while below(denominator * k, entropy) < numerator:
        k += 1
    return k % 2 == 1


def logistic(epsilon: Fraction, entropy: Entropy) -> bool:
    """True with probability 1 / (1 + exp(epsilon)), for epsilon >= 0."""
    if epsilon < 0:
        raise ValueError("logistic(epsilon) needs epsilon of at least 0.")
    # Each round ends False with 1/2 and True with e^(−ε)/2: the odds are e^(−ε), whatever the number of rounds.
    while entropy.bits(1):
        if bernoulli_exp(epsilon, entropy):
            return True
    return False
