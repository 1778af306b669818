"""One alarm a period at most, raised so that no day can be told from another by more than e^ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from wallflower.errors import DeclarationError
from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.entropy import Entropy
from wallflower.noise.uniform import below
from wallflower.privacy.guarantees import LocalDP
from wallflower.schema.exact import shown

BITS = 64
"""ρ lies below e^ε by a part of 2^BITS at most."""


@dataclass(frozen=True, kw_only=True)
class AlarmClock:
    """Draws, slot after slot, whether the period's one alarm sounds now.

    Guarantee
        Inputs        any two sequences of states, one state per slot of a period
        Bound         LocalDP(epsilon) of everything that is sent in the period, whatever the number of changes or slots
        Assumes       every slot is drawn exactly once and in order; no state crosses a period's end; entropy.private
        Numerics      exact: integers over one common denominator
        Proof         alarm_clock.md
        Checked by    tests/mechanisms/test_alarm_clock.py

    >>> clock = AlarmClock(epsilon=Fraction(4), false_alarms=Fraction(1, 20), live_share=Fraction(3, 5), slots=96)
    >>> round(float(clock.recall(0)), 3), round(float(clock.recall(95)), 3)
    (0.983, 0.983)
    """

    epsilon: Fraction
    false_alarms: Fraction
    """F, the probability that a period in which nothing happens raises an alarm."""
    live_share: Fraction
    """The part of F spread evenly over the slots; the rest belongs to the last slot."""
    slots: int

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise DeclarationError.of(self, "epsilon", "above 0", shown(self.epsilon))
        if not 0 < self.false_alarms < 1:
            raise DeclarationError.of(self, "false_alarms", "above 0 and below 1", shown(self.false_alarms))
        if not 0 <= self.live_share <= 1:
            raise DeclarationError.of(self, "live_share", "from 0 to 1", shown(self.live_share))
        if self.slots < 1:
            raise DeclarationError.of(self, "slots", "at least 1", self.slots)

    def guarantee(self) -> LocalDP:
        return LocalDP(epsilon=self.epsilon, unit="period of this sensor", protects="everything measured in a period")

    @cached_property
    def ratio(self) -> Fraction:
        """ρ, a fraction from 1 to e^ε."""
        return Fraction(1 << BITS, exp_bounds(self.epsilon, BITS)[1])

    @cached_property
    def _unit(self) -> int:
        """The common denominator of every probability of this clock."""
        masses = (self._quiet(0), self._quiet(self.slots - 1))
        parts = (*masses, *(self.ratio * mass for mass in masses), (1 - self.false_alarms) / self.ratio)
        return math.lcm(*(part.denominator for part in parts))

    @property
    def whole(self) -> int:
        """Probability 1 in the clock's unit: what `rest` is when a period begins."""
        return self._unit

    @cached_property
    def reserve(self) -> int:
        """n₀, what must be left for "never": without it a day of misbehaviour could make silence impossible."""
        return self._whole_number((1 - self.false_alarms) / self.ratio)

    def _quiet(self, slot: int) -> Fraction:
        """f_t, the probability of the alarm in this slot when nothing ever happens."""
        even = self.false_alarms * self.live_share / self.slots
        return even + self.false_alarms * (1 - self.live_share) if slot == self.slots - 1 else even

    def _whole_number(self, share: Fraction) -> int:
        return int(share * self._unit)

    @cached_property
    def _masses(self) -> tuple[int, int, int, int]:
        """f and ρf of an ordinary slot, then of the last."""
        even, last = self._quiet(0) if self.slots > 1 else Fraction(0), self._quiet(self.slots - 1)
        return (
            self._whole_number(even),
            self._whole_number(self.ratio * even),
            self._whole_number(last),
            self._whole_number(self.ratio * last),
        )

    def later(self, slot: int) -> int:
        """Σ f over the slots after this one."""
        even, _, last, _ = self._masses
        left = self.slots - 1 - slot
        return 0 if left == 0 else (left - 1) * even + last

    def mass(self, slot: int, rest: int, *, misbehaves: bool) -> int:
        """The part of `rest` that alarms now."""
        even, loud_even, last, loud_last = self._masses
        quiet, loud = (last, loud_last) if slot == self.slots - 1 else (even, loud_even)
        return min(loud, rest - self.reserve - self.later(slot)) if misbehaves else quiet

    def draw(self, slot: int, rest: int, *, misbehaves: bool, entropy: Entropy) -> tuple[bool, int]:
        """Whether the alarm sounds in this slot, and what is left for later slots and for never."""
        mass = self.mass(slot, rest, misbehaves=misbehaves)
        if below(rest, entropy) < mass:
            return True, rest
        return False, rest - mass

    def law(self, states: Sequence[bool]) -> list[Fraction]:
        """P(alarm in slot 0, 1, …) and, last, P(never), for one sequence of states; exact."""
        rest, law = self.whole, []
        for slot, misbehaves in enumerate(states):
            mass = self.mass(slot, rest, misbehaves=misbehaves)
            law.append(Fraction(mass, self.whole))
            rest -= mass
        return [*law, Fraction(rest, self.whole)]

    def recall(self, onset: int) -> Fraction:
        """P(alarm in the period) when every slot from `onset` on misbehaves and none before."""
        return 1 - self.law([slot >= onset for slot in range(self.slots)])[-1]
