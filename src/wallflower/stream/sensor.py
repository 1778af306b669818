"""The sensor of windows: it sees readings and says noised ones or randomised codes; under the paper's protocol also how far noise moved each.

It knows messages and nothing else of `stream`. It keeps nothing between windows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.centre import Centre, on_grid
from wallflower.mechanisms.layer import LayerResponse
from wallflower.mechanisms.perturbation import Perturbation
from wallflower.noise.entropy import Entropy
from wallflower.schema.domains import Numbers
from wallflower.stream.messages import Codes, Differences, Message, Noised, Window


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """Turns a window of readings into what may leave.

    With a `response` it speaks the `private` protocol: a randomised code of each reading's layer rides along. Without
    one it speaks the paper's, and the second message gives every radius away to whoever also reads the first.
    """

    stream: bytes
    name: str
    perturbation: Perturbation
    response: LayerResponse | None
    centre: Centre
    radii: tuple[float, ...]
    """Radii between the layers, outwards."""

    def quantise(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Readings in the columns' own units to steps of the grid, within the bounds; a missing one counts as the centre."""
        return on_grid(values, [column.domain for column in self.perturbation.columns], self.centre)

    def say(
        self, readings: NDArray[np.int64], *, series: bytes, number: int, entropy: Entropy
    ) -> tuple[Noised, Differences | None]:
        """What leaves for one window. The charge must be on disk before anything of it is sent."""
        window = Window(stream=self.stream, sensor=self.name, series=series, number=number)
        noised = self.perturbation(readings, entropy)
        if self.response is None:
            moved = self.centre.distance(noised) - self.centre.distance(readings)
            return Noised(window=window, readings=noised, codes=None, layers=0), Differences(
                window=window, differences=moved
            )
        layers = np.searchsorted(np.array(self.radii), self.centre.distance(readings), side="left").astype(np.int64)
        codes = self.response(layers, entropy).astype(np.uint8)
        return Noised(window=window, readings=noised, codes=codes, layers=self.response.layers), None

    def settles(self, message: Message) -> bool:
        """Whether a message is for this sensor at all."""
        return message.window.stream == self.stream and message.window.sensor == self.name


@dataclass(frozen=True, kw_only=True)
class CodeSensor:
    """Speaks `code`: of each reading one randomised bit, and nothing else leaves."""

    stream: bytes
    name: str
    response: LayerResponse
    domains: tuple[Numbers, ...]
    centre: Centre
    radius: float

    def quantise(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        return on_grid(values, self.domains, self.centre)

    def say(
        self, readings: NDArray[np.int64], *, series: bytes, number: int, entropy: Entropy
    ) -> tuple[Codes, Differences | None]:
        """What leaves for one window. The charge must be on disk before anything of it is sent."""
        beyond = (self.centre.distance(readings) > self.radius).astype(np.int64)
        window = Window(stream=self.stream, sensor=self.name, series=series, number=number)
        return Codes(window=window, beyond=self.response(beyond, entropy).astype(np.bool_)), None

    def settles(self, message: Message) -> bool:
        """Whether a message is for this sensor at all."""
        return message.window.stream == self.stream and message.window.sensor == self.name
