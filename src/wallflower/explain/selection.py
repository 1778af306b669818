"""Which mechanism selects a context, and at what exponent: permute-and-flip where it is proved better, else the exponential mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.permute_and_flip import PermuteAndFlip

Selection = Exponential | PermuteAndFlip


def bought(epsilon: Fraction, *, distance: int, monotone: bool, neighbours: str, better: bool) -> Selection:
    """The mechanism that loses `epsilon` once for scores that a neighbouring change moves by `distance`.

    `better`: one selection alone, of scores held in memory, charged in ε. There permute-and-flip never falls short of the exponential
    mechanism (permute_and_flip.md) and costs the same; it has no bounded range, so in concentrated accounts it costs four times as much.
    """
    kind = PermuteAndFlip if better else Exponential
    once = kind(exponent=Fraction(1), monotone=monotone).guarantee(distance=distance, neighbours=neighbours).epsilon
    return kind(exponent=epsilon / once, monotone=monotone)


def name(selection: Selection) -> str:
    return "permute-and-flip" if isinstance(selection, PermuteAndFlip) else "exponential"


def shortfall(selection: Selection, candidates_log2: int) -> int:
    """The selected score is below the best by more than this once in twenty times at most, for either mechanism."""
    return math.ceil((candidates_log2 * math.log(2) + math.log(20)) / float(selection.exponent))
