"""A level k with probability proportional to how many are there times e^(−step·k), by lazy inverse CDF.

One uniform number is drawn bit by bit. Integers that enclose e^(−step·k) say between which bounds it must lie for a level to be
certain; while none is, the same number gets more bits and the enclosures get tighter. The answer is that of the real-number
inverse CDF, so its law is exact, and levels far below the top are counted together until a bit makes them matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from operator import mul

from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.entropy import Entropy

_FIRST_BITS = 64


def draw_level(
    within: Callable[[int], Sequence[int]],
    total: int,
    step: Fraction,
    entropy: Entropy,
    *,
    first_bits: int = _FIRST_BITS,
) -> int:
    """`within(reach)` counts the members of levels 0..reach-1; `total` counts all; level 0 must not be empty."""
    precision = first_bits
    uniform = entropy.bits(precision)
    while True:
        counts = within(reach(precision, total, step))
        level = decide(uniform, precision, counts, total - sum(counts), step)
        if level is not None:
            return level
        uniform = uniform << precision | entropy.bits(precision)
        precision *= 2


def reach(precision: int, total: int, step: Fraction) -> int:
    """How many levels can matter at this precision: all members below together weigh less than 2^(−precision) of the top one."""
    enough = 7 * (precision + total.bit_length())  # 7/10 > ln 2
    return -(-enough * step.denominator // (10 * step.numerator)) + 1


def decide(uniform: int, precision: int, counts: Sequence[int], rest: int, step: Fraction) -> int | None:
    """The level in which every real number in [uniform, uniform+1)/2^precision falls, or None if that is not certain.

    `rest` members lie somewhere below the counted levels.
    """
    bits = precision + (sum(counts) + rest).bit_length() + len(counts).bit_length() + 4
    least, most, next_high = cumulative_bounds(counts, step, bits)
    from_here = uniform * least[-1]  # the rest may weigh nothing,
    to_here = (uniform + 1) * (most[-1] + rest * next_high)  # or as much as if all of it were just out of reach
    above = 0
    for level, (lowest, highest) in enumerate(zip(least, most, strict=True)):
        if from_here >= above << precision and to_here <= lowest << precision:
            return level
        above = highest
    return None


def cumulative_bounds(counts: Sequence[int], step: Fraction, bits: int) -> tuple[list[int], list[int], int]:
    """(least, most, next): levels 0..k weigh from least[k] to most[k] in units of 2^(−bits), one member of the next at most `next`."""
    lows, highs = _powers(step, bits, len(counts))
    return list(accumulate(map(mul, counts, lows))), list(accumulate(map(mul, counts, highs))), highs[-1]


@lru_cache(maxsize=64)  # they are the same for every draw at one exponent from about as many candidates
def _powers(step: Fraction, bits: int, levels: int) -> tuple[list[int], list[int]]:
    """Bounds of 2^bits·e^(−step·k), from k = 0 up to the first level out of reach."""
    low_ratio, high_ratio = exp_bounds(step, bits)
    lows, highs = [1 << bits], [1 << bits]
    for _ in range(levels):
        lows.append(lows[-1] * low_ratio >> bits)  # a lower bound times a lower bound, rounded down, is one again;
        highs.append(-(-highs[-1] * high_ratio >> bits))  # likewise upwards
    return lows, highs
