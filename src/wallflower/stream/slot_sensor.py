"""The sensor of `alarm` and `share`: counts readings beyond the core, and says one blind word a slot or a period.

It knows messages and nothing else of `stream`, and no clock: it is told which slot has ended. Slots are numbered from 1970 in UTC, so
a number names its period too. Each slot is drawn exactly once and in order; whatever breaks that keeps it silent until the next period.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.centre import Centre, on_grid
from wallflower.mechanisms.alarm_clock import AlarmClock
from wallflower.mechanisms.sampled_slot import SampledSlot
from wallflower.noise.entropy import Entropy
from wallflower.schema.domains import Numbers
from wallflower.stream.messages import Message, Tick, Window


@dataclass(frozen=True, kw_only=True)
class ClockState:
    """What must be on disk before a message is sent; holds nothing of a reading but what the draws say."""

    period: int
    slot: int
    """The last slot of the period that was drawn; -1 when the period has begun and none was."""
    rest: int
    """`alarm`: what is left of the probability. `share`: the slot that was chosen."""
    done: bool
    """The period's one alarm has sounded, or its one answer is given."""


@dataclass(frozen=True, kw_only=True)
class SlotSensor:
    """Turns the readings of a slot into at most one message. All that lasts is in the `ClockState`."""

    stream: bytes
    name: str
    mechanism: AlarmClock | SampledSlot
    domains: tuple[Numbers, ...]
    centre: Centre
    radius: float
    least_readings: int

    def beyond(self, values: NDArray[np.float64]) -> int:
        """How many readings lie beyond the core, after clipping and rounding; a missing one counts as the centre."""
        return int((self.centre.distance(on_grid(values, self.domains, self.centre)) > self.radius).sum())

    def begin(self, period: int, entropy: Entropy) -> ClockState:
        """The state at a period's start: nothing of the period before is in it."""
        mechanism = self.mechanism
        rest = mechanism.whole if isinstance(mechanism, AlarmClock) else mechanism.choose(entropy)
        return ClockState(period=period, slot=-1, rest=rest, done=False)

    def close(
        self, state: ClockState, slot: int, *, misbehaves: bool, series: bytes, entropy: Entropy
    ) -> tuple[ClockState, Tick | None]:
        """Draw the slot that has ended. Raises when it is not the next one: a slot drawn twice or skipped breaks the promise."""
        if slot != state.slot + 1 or slot >= self.mechanism.slots:
            raise AssertionError("a slot is drawn once and in order.")
        window = Window(
            stream=self.stream, sensor=self.name, series=series, number=state.period * self.mechanism.slots + slot
        )
        if isinstance(self.mechanism, SampledSlot):
            if slot != state.rest:
                return replace(state, slot=slot), None
            said = self.mechanism.answer(entropy, misbehaves=misbehaves)
            return replace(state, slot=slot, done=True), Tick(window=window, said=said)
        if state.done:  # the same message as ever, saying nothing
            return replace(state, slot=slot), Tick(window=window, said=False)
        said, rest = self.mechanism.draw(slot, state.rest, misbehaves=misbehaves, entropy=entropy)
        return replace(state, slot=slot, rest=rest, done=said), Tick(window=window, said=said)

    @property
    def latches(self) -> bool:
        """Whether a period that has misbehaved counts as misbehaving to its end: the alarm's last slot speaks for the day."""
        return isinstance(self.mechanism, AlarmClock)

    def settles(self, message: Message) -> bool:
        """Whether a message is for this sensor at all."""
        return message.window.stream == self.stream and message.window.sensor == self.name
