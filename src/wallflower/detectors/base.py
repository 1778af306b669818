"""What a detector is: a frozen description, with no budget and no randomness in it.

Two verbs exist. `Detector` asks about one value among others (`explain`); `PointDetector` scores all points of a window (`stream`).
Both kinds are written `name(setting=value, ...)`, register under that name and are found by it (`registry`).
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wallflower.schema.exact import shown


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


@runtime_checkable
class PointDetector(Protocol):
    """Scores points in public units; a score above 0 presumes an outlier, larger is stranger."""

    def score(self, rows: NDArray[np.float64], /) -> NDArray[np.float64]: ...


class Written:
    """A detector that the command line can write: its name and its fields are all there is to it."""

    name: ClassVar[str]

    @property
    def text(self) -> str:
        """As the command line writes it; settings that are off are left out."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        written = [f"{name}={_setting(value)}" for name, value in settings.items() if value not in (None, False)]
        return f"{self.name}({', '.join(written)})"


def _setting(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    return "true" if value is True else shown(value)


def spelled(detector: object) -> str:
    """The detector as the command line writes it; a user's own one as Python does."""
    text = getattr(detector, "text", None)
    return text if isinstance(text, str) else repr(detector)
