"""A sensor of slots at work: readings in as they come, one message at the end of each slot, by UTC.

The rules that the promise rests on: every slot of a period is drawn once and in order, a missed one as quiet; what was drawn is on
disk before it is sent; nothing of a period crosses its end; and a process that was not there when a period began says nothing in it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import BudgetError
from wallflower.noise.entropy import Entropy
from wallflower.schema.domains import EPOCH
from wallflower.stream.outbox import Outbox
from wallflower.stream.slot_sensor import ClockState, SlotSensor

DAY = 86_400
"""Seconds in a day of UTC."""


@dataclass
class SlotLoop:
    """Joins a slot sensor, its outbox and a clock."""

    sensor: SlotSensor
    outbox: Outbox
    entropy: Entropy
    slot: Fraction
    """Seconds in a slot."""
    now: Callable[[], float] = time.time
    """Seconds since 1970, UTC; a simulation hands in its own."""
    drawn: int = 0
    missed: int = 0
    """Slots that nobody was awake for, drawn as quiet."""
    refused: BudgetError | None = None
    _state: ClockState | None = None
    """Of the period that is being drawn; None while silent."""
    _beyond: int = 0
    _latched: bool = False
    _at: int = field(init=False)
    """The slot that is running, counted from 1970."""
    _heard: int = field(init=False)
    """The slot in which readings came last."""
    _ends: int | None = None
    """The slot from which on nothing is drawn any more."""

    def __post_init__(self) -> None:
        self._at = self._heard = self._slot_now()
        period, slot = divmod(self._at, self.slots)
        before = self.outbox.book.clock()
        # A period that has begun without this process stays silent: what was drawn of it, here or on a lost disk, is not known.
        self._silent_until = period if slot == 0 else period + 1
        if before is not None:
            self._silent_until = max(self._silent_until, before.period + 1)

    @property
    def slots(self) -> int:
        return self.sensor.mechanism.slots

    @property
    def silent(self) -> bool:
        """Whether nothing is said in this period."""
        return self._at // self.slots < self._silent_until or self.refused is not None

    @property
    def speaks_at(self) -> float:
        """When the first period begins that this process speaks in, in seconds since 1970."""
        return float(self._silent_until * self.slots * self.slot)

    @property
    def waiting(self) -> int:
        return len(self.outbox)

    def hear(self, values: NDArray[np.float64]) -> None:
        """Readings that were measured now."""
        self.advance()
        if len(values):
            self._beyond += self.sensor.beyond(values)
            self._heard = self._at

    def end(self) -> None:
        """No reading comes any more: the period in which the last one came is drawn to its end, and no later one is begun."""
        if self._ends is None:
            first = self._at - self._at % self.slots
            untouched = self._at == first and self._heard < first
            self._ends = first if untouched else first + self.slots

    @property
    def ended(self) -> bool:
        """Whether everything is drawn that ever will be."""
        return self._ends is not None and self._at >= self._ends

    def advance(self) -> None:
        """Draw every slot that has ended since; a clock that was set back draws nothing until it has caught up."""
        now = self._slot_now()
        if now <= self._at:
            return
        self._close(self._at, awake=True)
        first_of_now = now - now % self.slots
        for slot in range(self._at + 1, now):
            # Of periods that were slept through from end to end nothing is said; the last one and this one are drawn to here.
            if slot // self.slots == self._at // self.slots or slot >= first_of_now:
                self._close(slot, awake=False)
        self._at, self._beyond = now, 0

    def turn(self, timeout: float = 0.0) -> None:
        self.advance()
        self.outbox.turn(timeout)

    def until_end(self) -> float:
        """Seconds to the end of the running slot."""
        return max(0.0, float((self._at + 1) * self.slot) - self.now())

    def _slot_now(self) -> int:
        now = math.floor(Fraction(self.now()) / self.slot)
        return now if self._ends is None else min(now, self._ends)

    def _began(self, period: int) -> date:
        """The day that a period is charged to: its last slot may be drawn when the next day has begun."""
        return EPOCH + timedelta(days=math.floor(period * self.slots * self.slot / DAY))

    def _close(self, number: int, *, awake: bool) -> None:
        period, slot = divmod(number, self.slots)
        if period < self._silent_until:
            return
        if self._state is None or self._state.period != period:
            self._state, self._latched = self.sensor.begin(period, self.entropy), False
            self.refused = None
        if self.refused is not None:
            return
        if awake:
            loud = self._beyond >= self.sensor.least_readings
            self._latched = loud or (self._latched and self.sensor.latches)
        misbehaves = awake and self._latched
        book = self.outbox.book
        state, tick = self.sensor.close(
            self._state, slot, misbehaves=misbehaves, series=book.series, entropy=self.entropy
        )
        body = None if tick is None else tick.encode()
        try:
            book.commit(state, number=number, body=body, today=self._began(period))
        except BudgetError as error:  # the day is spent: this period stays silent from its first slot on
            self.refused = error
            return
        self._state = state
        self.drawn += 1
        self.missed += not awake
        if body is not None:
            self.outbox.add(number, body)
