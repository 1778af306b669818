"""How many protected changes an answer is away from being another one: the margins that Construction 1 fades with.

Every margin is a function of two private counts, of the asked value i and the table x:

    copies   x_i, how many rows hold exactly the asked value
    within   B_x(i, r), how many rows lie within the radius of it, the copies included

and of the public β and k. All are whole numbers of at least 1, computed in integers, on arrays of any shape. The claims and
their proofs are in `margins.md`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

RARE = 45
"""e^(−45) is below 2^(−64): a wrong answer rarer than that is not made rarer by counting further."""


class Margin(Protocol):
    """A lower bound on the number of protected changes that an answer needs to flip."""

    def __call__(self, copies: Ints, within: Ints, /, *, beta: int, k: int) -> Ints: ...


def anomalous(copies: Ints, within: Ints, *, beta: int, included: bool = False) -> NDArray[np.bool_]:
    """The true answers: present with at most β rows within the radius.

    `included` asks about the table with one more row of the asked value.

    >>> anomalous(np.array([0, 1, 1]), np.array([0, 3, 4]), beta=3).tolist()
    [False, True, False]
    """
    if included:
        return np.asarray(within + 1 <= beta)
    return np.asarray((copies >= 1) & (within <= beta))


def every_row(copies: Ints, within: Ints, /, *, beta: int, k: int = 0) -> Ints:  # noqa: ARG001 - one shape for all margins
    """Δ_G, equation (4): the exact distance when every row is protected (differential privacy); k plays no part.

    >>> every_row(np.array([0, 0, 2, 2]), np.array([0, 5, 2, 5]), beta=3).tolist()
    [1, 4, 2, 2]
    """
    absent = np.where(within < beta, 1, 2 + within - beta)
    present = np.where(within <= beta, np.minimum(copies, beta + 1 - within), within - beta)
    return np.where(copies == 0, absent, present)


def paper(copies: Ints, within: Ints, /, *, beta: int, k: int) -> Ints:
    """λ_k, equation (5): the paper's lower bound on the sensitive neighbourhood graph.

    >>> paper(np.array([0, 2]), np.array([0, 2]), beta=10, k=3).tolist()
    [8, 8]
    """
    sensitive = within >= beta + 1 - k
    return np.where(sensitive, every_row(copies, within, beta=beta), beta + 1 - within + np.minimum(0, copies - k))


def star(copies: Ints, within: Ints, /, *, beta: int, k: int) -> Ints:
    """λ*_k: the exact distance on a relaxed graph of pairs (copies, others); never below λ_k.

    >>> star(np.array([0, 2]), np.array([0, 2]), beta=10, k=3).tolist()
    [8, 9]
    """
    others = within - copies
    absent = 1 + np.maximum(0, np.maximum(beta - k - others, others - beta + 1))
    few = np.minimum(beta + 1 - within, copies + np.maximum(0, beta - k - others))
    return np.where(copies == 0, absent, np.where(within > beta, within - beta, few))


def threshold(copies: Ints, within: Ints, /, *, beta: int, k: int = 0) -> Ints:  # noqa: ARG001 - one shape for all margins
    """For `included`: the answer depends on `within` alone, so this exact distance holds between all neighbours.

    >>> threshold(np.array([0, 0]), np.array([0, 10]), beta=10).tolist()
    [10, 1]
    """
    return np.where(within < beta, beta - within, within - beta + 1)


def cap(epsilon: Fraction) -> int:
    """The least c with e^(−ε(c−1)) ≤ e^(−45), at least 2: margins of normal values need not be told apart beyond it.

    >>> cap(Fraction(1, 10))
    451
    """
    return max(2, 1 + -(-RARE * epsilon.denominator // epsilon.numerator))


def capped(margin: Ints, within: Ints, *, beta: int, most: int) -> Ints:
    """`margin`, at most `most` where more than β rows are within; counts need to be right up to β + `most` only."""
    return np.where(within > beta, np.minimum(margin, most), margin)
