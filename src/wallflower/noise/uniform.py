"""Uniform integers, and fair coins by the million."""

from __future__ import annotations

from wallflower.noise.entropy import Entropy


def below(n: int, entropy: Entropy) -> int:
    """A uniform integer in [0, n), for n >= 1.

    Too large a draw is thrown away rather than folded back, because folding favours the small ones.
    """
    if n < 1:
        raise ValueError("below(n) needs n of at least 1.")
    width = (n - 1).bit_length()
    while True:
        value = entropy.bits(width)
        if value < n:
            return value


def fair_heads(coins: int, entropy: Entropy) -> int:
    """How many of `coins` fair coins show heads: Binomial(coins, 1/2), one bit each."""
    whole, rest = divmod(coins, 8)
    return int.from_bytes(entropy.block(whole), "little").bit_count() + entropy.bits(rest).bit_count()
