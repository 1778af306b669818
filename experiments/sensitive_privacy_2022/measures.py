"""Exact error probabilities of the mechanisms on a data set, from counts alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wallflower.identify.answers import FadingAnswers
from wallflower.identify.counts import copies, of_rows, within
from wallflower.identify.margins import anomalous
from wallflower.schema.declaration import Model

FARTHEST = 4_600
"""How far beyond β counts are taken: enough for e^(−45) at ε = 0.01."""


@dataclass(frozen=True)
class Counted:
    """The counts of every record, and of random values of the box around them."""

    data: object
    held: np.ndarray
    near: np.ndarray
    random_held: np.ndarray
    random_near: np.ndarray

    @property
    def truth(self):
        return anomalous(self.held, self.near, beta=self.data.beta)


def count(data, *, seed=5):
    metric, points = data.metric, data.points
    held, near = of_rows(metric, points, until=data.beta, cap=data.beta + FARTHEST)
    rng = np.random.default_rng(seed)
    low, high = points.min(axis=0), points.max(axis=0)
    asked = rng.integers(low, high + 1, (len(points) // 5, points.shape[1]))
    return Counted(
        data=data,
        held=held,
        near=near,
        random_held=copies(points, asked, cap=data.beta + FARTHEST),
        random_near=within(metric, points, asked, cap=data.beta + FARTHEST),
    )


def mechanism(data, *, epsilon, bound, k=1):
    model = Model(name="paper", columns=("c",), beta=data.beta, radius=Fraction(data.radius), k=k, epsilon=Fraction(1))
    return FadingAnswers(model=model, epsilon=Fraction(epsilon), bound=bound)


def errors(counted, *, epsilon, bound, k=1, random=False):
    """The exact probability of a wrong answer about each record (or each random value), as its natural logarithm."""
    fading = mechanism(counted.data, epsilon=epsilon, bound=bound, k=k)
    held, near = (counted.random_held, counted.random_near) if random else (counted.held, counted.near)
    no, yes = fading.log_chances(held, near)
    return np.where(fading.true(held, near), no, yes)


def mean(logarithms):
    """The mean of probabilities given by their logarithms."""
    if not len(logarithms):
        return float("nan")
    top = logarithms.max()
    return float(np.exp(top) * np.exp(logarithms - top).mean())


def empty_place(data, *, epsilon, k=1):
    """The error about a value that no record holds, with none near."""
    zero = np.zeros(1, dtype=np.int64)
    _, yes = mechanism(data, epsilon=epsilon, bound="paper", k=k).log_chances(zero, zero)
    return float(np.exp(yes[0]))
