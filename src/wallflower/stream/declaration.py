"""What an operator declares about one stream; every party reads the same file and nothing is learnt from readings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal

from wallflower.mechanisms.layer_price import LayerPrice
from wallflower.schema import canonical
from wallflower.schema.domains import Numbers
from wallflower.schema.exact import shown

Protocol = Literal["alarm", "share", "code", "private", "paper"]
PROTOCOLS: tuple[Protocol, ...] = ("alarm", "share", "code", "private", "paper")
Promise = Literal["local-dp", "metric-privacy"]

TWO_SERVERS = "two non-colluding servers, no DP towards the corrector"
"""What the `paper` protocol rests on; its declaration must repeat it word for word."""
NOBODY = "nobody: the promise holds against all parties together"
LONGEST_WINDOW = 1_000_000
MOST_SLOTS = 100_000
MOST_PARTITIONS = 1024


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
    """This column's share of what one reading costs; 0 where no noised reading is sent."""
    core_width: Fraction
    """Two readings this far apart lose `epsilon` under metric-privacy (the paper's relaxed sensitivity, made public)."""


@dataclass(frozen=True, kw_only=True)
class Slots:
    """How a protocol that speaks by the clock divides time. Periods and slots are counted from 1970 in UTC."""

    period: Fraction
    """Seconds that one promise covers."""
    slot: Fraction
    """Seconds between two messages."""
    epsilon: Fraction
    """What everything that is sent in a period costs."""
    least_readings: int
    """A slot misbehaves when at least so many of its readings lie beyond the core."""
    false_alarms: Fraction = Fraction(0)
    """`alarm`: the probability that a period in which nothing happens raises an alarm."""
    live_share: Fraction = Fraction(0)
    """`alarm`: the part of `false_alarms` spread evenly over the slots; the rest belongs to the last."""

    @property
    def count(self) -> int:
        """Slots in a period."""
        return int(self.period / self.slot)


@dataclass(frozen=True, kw_only=True)
class StreamBudget:
    """Limits on what one person behind every reading of a window, or of a day (UTC), could lose."""

    per_window: Fraction | None
    """None for protocols without windows."""
    per_day: Fraction


@dataclass(frozen=True, kw_only=True)
class StreamDeclaration:
    """A whole stream declaration, checked."""

    id: str
    broker: str
    topic_prefix: str
    roster: tuple[str, ...]
    """The sensors there are; nobody else is listened to."""
    partitions: int
    """Into how many parts the sensors are dealt, so that as many analysts can share them."""
    quota: int
    """Messages a second that a sensor sends at most; one that sends more is cut off for a while."""
    protocol: Protocol
    promise: Promise
    core_radius: Fraction
    """Readings beyond this scaled distance from the centre are what the stream looks for."""
    slots: Slots | None
    """How time is divided, for `alarm` and `share`; the others have a `window`."""
    window: int
    """Readings in a window; the last one may be shorter. 0 for protocols that speak by the clock."""
    layers: tuple[Fraction, ...]
    """Radii that separate the layers whose code a reading sends; the first is the core radius."""
    epsilon2: Fraction
    """What the randomised bit or layer code of a reading costs; 0 where none is sent."""
    outlier_width: Fraction | None
    """The paper's w_O: how wide the layer of outliers is, in scaled units."""
    detector: str
    outlier_share: Fraction | None
    """Expected share of outliers (of misbehaving periods under `alarm`); None lets the analyst estimate it or speak of several."""
    columns: tuple[StreamColumn, ...]
    budget: StreamBudget
    ca: Path | None
    test: bool
    path: Path | None = None

    @property
    def trust(self) -> str:
        """Whom a sensor must trust; every output says it."""
        return TWO_SERVERS if self.protocol == "paper" else NOBODY

    @cached_property
    def event_epsilon(self) -> Fraction:
        """What one reading loses: the larger of its columns together, and of the code beside the farthest pair it tells apart."""
        if self.slots is not None:
            return self.slots.epsilon
        noised = sum((column.epsilon for column in self.columns), start=Fraction(0))
        if self.promise == "metric-privacy" or not self.epsilon2:
            return noised + self.epsilon2  # by distance there is no farthest pair: the code comes on top
        price = LayerPrice(
            domains=tuple(column.domain for column in self.columns),
            centres=tuple(column.centre for column in self.columns),
            scales=tuple(column.scale for column in self.columns),
            epsilons=tuple(column.epsilon for column in self.columns),
            radii=self.layers,
            code=self.epsilon2,
        )
        return price.epsilon

    @property
    def window_epsilon(self) -> Fraction:
        """What one person behind every reading of a full window loses."""
        return self.window * self.event_epsilon

    @cached_property
    def fingerprint(self) -> bytes:
        """Eight bytes over all that the parties must agree on; a message of another stream is told by them."""
        meaning: dict[str, object] = {
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
        if self.slots is not None:
            slots = self.slots
            numbers = (slots.period, slots.slot, slots.epsilon, slots.false_alarms, slots.live_share)
            meaning["slots"] = [*map(shown, numbers), slots.least_readings]
        return bytes.fromhex(canonical.digest(meaning))[:8]
