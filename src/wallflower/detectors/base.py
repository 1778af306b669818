"""What a detector is: a frozen description and one verb, with no budget and no randomness in it."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Detector(Protocol):
    """Says whether one value stands out among others.

    Write your own as a frozen dataclass with this method. Its answer must be a function of its arguments alone: no row
    order (values come sorted), no randomness, no clock. An exception counts as "does not stand out".

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Largest:
    ...     def stands_out(self, values, value, /, *, step):
    ...         return bool(value == values[-1])
    >>> isinstance(Largest(), Detector), Largest().stands_out(np.array([1, 2, 9]), 9, step=Fraction(1))
    (True, True)
    """

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        """Whether `value` stands out among `values`: whole numbers of `step`, ascending, `value` itself among them."""
        ...


def spelled(detector: object) -> str:
    """The detector as the command line writes it; a user's own one as Python does."""
    text = getattr(detector, "text", None)
    return text if isinstance(text, str) else repr(detector)
