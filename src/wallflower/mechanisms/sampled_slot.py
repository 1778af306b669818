"""One slot of a period, chosen blindly, and its state through a randomised response at the whole ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from wallflower.errors import DeclarationError
from wallflower.noise.coins import logistic
from wallflower.noise.entropy import Entropy
from wallflower.noise.uniform import below
from wallflower.privacy.guarantees import LocalDP
from wallflower.schema.exact import shown


@dataclass(frozen=True, kw_only=True)
class SampledSlot:
    """Chooses a slot before the period begins and says its state, turned over with probability 1 / (1 + e^ε).

    Guarantee
        Inputs        any two sequences of states, one state per slot of a period
        Bound         LocalDP(epsilon) of the pair (slot, answer), which is all that leaves in the period
        Assumes       the slot is chosen once, before any reading; the answer is drawn once; entropy.private
        Numerics      exact
        Proof         sampled_slot.md
        Checked by    tests/mechanisms/test_sampled_slot.py
    """

    epsilon: Fraction
    slots: int

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise DeclarationError.of(self, "epsilon", "above 0", shown(self.epsilon))
        if self.slots < 1:
            raise DeclarationError.of(self, "slots", "at least 1", self.slots)

    def guarantee(self) -> LocalDP:
        return LocalDP(epsilon=self.epsilon, unit="period of this sensor", protects="everything measured in a period")

    @property
    def flip(self) -> float:
        """How often an answer is turned over; for estimates, where a float is good enough."""
        return 1 / (1 + math.exp(min(float(self.epsilon), 700.0)))

    def choose(self, entropy: Entropy) -> int:
        return below(self.slots, entropy)

    def answer(self, entropy: Entropy, *, misbehaves: bool) -> bool:
        return misbehaves != logistic(self.epsilon, entropy)

    def law(self, states: Sequence[bool]) -> dict[tuple[int, bool], float]:
        """P(slot, answer) for one sequence of states."""
        return {
            (slot, answer): (self.flip if answer != state else 1 - self.flip) / self.slots
            for slot, state in enumerate(states)
            for answer in (False, True)
        }
