"""Arrow batches gathered into one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Growing:
    """A table of integers that grows in place, batch by batch: a second copy never exists."""

    def __init__(self, width: int, dtype: Any) -> None:
        self._width, self._filled = width, 0
        self._flat = np.empty(0, dtype)

    def add(self, columns: Sequence[Any], rows: int) -> None:
        """`rows` rows more, given by column."""
        wanted = (self._filled + rows) * self._width
        if wanted > self._flat.size:
            room = max(wanted, self._flat.size + self._flat.size // 4)
            self._flat.resize(room, refcheck=False)  # realloc
        part = self._flat[self._filled * self._width : wanted].reshape(rows, self._width)
        for at, column in enumerate(columns):
            part[:, at] = column.to_numpy(zero_copy_only=False)
        self._filled += rows

    def whole(self) -> NDArray[Any]:
        """All rows, in the order they came."""
        self._flat.resize(self._filled * self._width, refcheck=False)
        return self._flat.reshape(self._filled, self._width)
