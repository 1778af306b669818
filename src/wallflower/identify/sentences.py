"""Sentences and numbers for people, from public things alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wallflower.schema.declaration import Model


def about_the_graph(model: Model, separating: tuple[str, ...]) -> tuple[str, ...]:
    """What the declared numbers make of the promise, where that is not what one would expect."""
    if model.k >= model.beta:
        note = (
            f"k = {model.k} is at least beta = {model.beta}: every row is protected, and these answers are in fact differentially "
            "private. They are booked under the model all the same."
        )
        return (note,)
    if separating:
        note = (
            f"Warning: values that differ in {', '.join(separating)} are never within the radius of each other, so this model is not "
            "regular: between some tables the promise says nothing at all, and rows with anomalous values may have no protection."
        )
        return (note,)
    return ()


def ladder(model: Model) -> NDArray[np.int64]:
    """Numbers of rows near at which a price quotes the chance of a wrong answer."""
    beta, k = model.beta, model.k
    rungs = {0, 1, beta // 2, beta - k, beta, beta + 1, beta + 1 + max(beta // 2, 1), 2 * beta + 1}
    return np.array(sorted(n for n in rungs if n >= 0), dtype=np.int64)


def chance(logarithm: float) -> str:
    """A probability given by its natural logarithm, in three digits however small it is.

    >>> chance(math.log(0.25)), chance(-1000.0)
    ('0.25', '5.08e-435')
    """
    tens = logarithm / math.log(10)
    if tens > -4:
        return f"{math.exp(logarithm):.3g}"
    exponent = math.floor(tens)
    digits = f"{10 ** (tens - exponent):.2f}"
    return f"{digits}e{exponent}" if digits != "10.00" else f"1.00e{exponent + 1}"
