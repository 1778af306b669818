"""What an operator declares about one stream; every party reads the same file and nothing is learnt from readings."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from wallflower.schema.domains import Numbers
from wallflower.schema.exact import shown

Protocol = Literal["private", "paper"]
Promise = Literal["local-dp", "metric-privacy"]

TWO_SERVERS = "two non-colluding servers, no DP towards the corrector"
"""What the `paper` protocol rests on; its declaration must repeat it word for word."""
LONGEST_WINDOW = 1_000_000


@dataclass(frozen=True, kw_only=True)
class StreamColumn:
    """One measured quantity, with everything public about it."""

    name: str
    domain: Numbers
    """Bounds and grid: a reading is rounded to the grid and clipped to the bounds before anything else happens."""
    centre: Fraction
    scale: Fraction
    """Radii are distances from `centre` in units of `scale`."""
    epsilon: Fraction
    """This column's share of what one reading costs."""
    core_width: Fraction
    """Two readings this far apart lose `epsilon` under metric-privacy (the paper's relaxed sensitivity, made public)."""


@dataclass(frozen=True, kw_only=True)
class StreamBudget:
    """Limits on what one person behind every reading of a window, or of a day (UTC), could lose."""

    per_window: Fraction
    per_day: Fraction


@dataclass(frozen=True, kw_only=True)
class StreamDeclaration:
    """A whole stream declaration, checked."""

    id: str
    broker: str
    topic_prefix: str
    window: int
    """Readings in a window; the last one may be shorter."""
    protocol: Protocol
    promise: Promise
    core_radius: Fraction
    """Readings beyond this scaled distance from the centre are what the stream looks for."""
    layers: tuple[Fraction, ...]
    """Radii that separate the layers whose code a reading sends under `private`; the first is the core radius."""
    epsilon2: Fraction
    """What the randomised bit or layer code costs; 0 under `paper`, which sends none."""
    outlier_width: Fraction | None
    """The paper's w_O: how wide the layer of outliers is, in scaled units."""
    detector: str
    outlier_share: Fraction | None
    """Expected share of outliers; None lets the analyst estimate it from what it received."""
    columns: tuple[StreamColumn, ...]
    budget: StreamBudget
    ca: Path | None
    test: bool
    path: Path | None = None

    @property
    def event_epsilon(self) -> Fraction:
        """What one reading loses: the columns' shares add up, and the code comes on top."""
        return sum((column.epsilon for column in self.columns), start=self.epsilon2)

    @property
    def window_epsilon(self) -> Fraction:
        """What one person behind every reading of a full window loses."""
        return self.window * self.event_epsilon

    @property
    def fingerprint(self) -> bytes:
        """Eight bytes over all that the parties must agree on; a message of another stream is told by them."""
        meaning = {
            "id": self.id,
            "window": self.window,
            "protocol": self.protocol,
            "promise": self.promise,
            "layers": [shown(radius) for radius in self.layers],
            "epsilon2": shown(self.epsilon2),
            "columns": [
                [
                    column.name,
                    *map(shown, (column.domain.lower, column.domain.upper, column.domain.step, column.centre)),
                ]
                + [shown(number) for number in (column.scale, column.epsilon, column.core_width)]
                for column in self.columns
            ],
        }
        return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).digest()[:8]
