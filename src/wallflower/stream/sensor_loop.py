"""A sensor of windows at work: readings in, what may leave of each window out, charged and on disk before it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import BudgetError
from wallflower.noise.entropy import Entropy
from wallflower.stream.book import Entry, Source
from wallflower.stream.outbox import Outbox
from wallflower.stream.sensor import CodeSensor, Sensor


@dataclass
class SensorLoop:
    """Joins a sensor and its outbox. At most `ahead` windows wait for receipts: then readings must wait too."""

    sensor: Sensor | CodeSensor
    outbox: Outbox
    entropy: Entropy
    ahead: int = 32
    source: Source | None = None
    """The file that the readings come from; how far it was taken is committed with the charge."""

    def __post_init__(self) -> None:
        self._next = self.outbox.book.next_number

    @property
    def room(self) -> int:
        """How many more windows may be taken now."""
        return max(0, self.ahead - len(self.outbox))

    @property
    def waiting(self) -> int:
        return len(self.outbox)

    def take(self, windows: Sequence[NDArray[np.int64]]) -> None:
        """Noise and charge windows of quantised readings. Raises BudgetError, and then nothing of them is kept or sent."""
        book, entries = self.outbox.book, []
        for place, readings in enumerate(windows):
            number = self._next + place
            said, differences = self.sensor.say(readings, series=book.series, number=number, entropy=self.entropy)
            entries.append(
                Entry(
                    number=number,
                    units=len(readings),
                    body=said.encode(),
                    differences=None if differences is None else differences.encode(),
                )
            )
        book.charge(entries, source=self.source)
        self._next += len(entries)
        for entry in entries:
            self.outbox.add(entry.number, entry.body, entry.differences)

    def take_what_fits(self, windows: Sequence[NDArray[np.int64]]) -> BudgetError | None:
        """`take` all together; if the day's budget is too small for that, as many as it allows. The refusal, where there was one."""
        try:
            self.take(windows)
        except BudgetError as error:
            if len(windows) == 1:
                return error
            return next((refused for window in windows if (refused := self.take_what_fits([window]))), error)
        return None

    def turn(self, timeout: float = 0.0) -> None:
        self.outbox.turn(timeout)
