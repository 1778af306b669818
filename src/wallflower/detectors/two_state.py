"""Which of many randomised bits stood for 1: a two-state hidden Markov model, and a fallback where episodes are too short for it.

All of it is post-processing of bits that have left their source. It is also what an attacker would do: bits that are each well hidden
do not hide an episode of many. The model's emissions are the public coin and stay fixed; only how states follow each other is learnt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

PRIOR = ((49.5, 0.5), (0.5, 9.5))
"""Moves 0→0, 0→1, 1→0, 1→1 that were seen before the first window, so to speak: episodes are rare and last."""
FORGETTING = 0.9
"""What a window's moves, and its gain, still count one window later."""
ENOUGH = 3.0
"""The discounted gain in log-likelihood over independent readings from which the model is believed."""
ROUNDS = 30


@dataclass(frozen=True, kw_only=True)
class TwoState:
    """Decodes windows of bits in their order; `decode` gives the probabilities and the decoder for the next window.

    >>> bits = np.array([False] * 40 + [True] * 20 + [False] * 40)
    >>> probability, _ = TwoState(keep=0.73).decode(bits)
    >>> [bool(probability[place] > 0.5) for place in (0, 50, 99)]
    [False, True, False]
    """

    keep: float
    """P(a bit is what it stands for), from ε."""
    moves: tuple[tuple[float, float], tuple[float, float]] = ((0.0, 0.0), (0.0, 0.0))
    """Discounted expected moves of earlier windows."""
    last: float | None = None
    """P(state 1) after the last bit of the window before; None at the beginning."""
    gain: float = 0.0

    def decode(self, bits: NDArray[np.bool_]) -> tuple[NDArray[np.float64], TwoState]:
        """P(state 1) of each bit, and the decoder for what comes next."""
        posterior, moves, likelihood, rise, fall = self._learnt(bits)
        alone, baseline = self._independent(bits)
        gain = FORGETTING * self.gain + likelihood - baseline
        after = replace(
            self,
            moves=tuple(  # type: ignore[arg-type]
                tuple(FORGETTING * old + new for old, new in zip(*rows, strict=True))
                for rows in zip(self.moves, moves, strict=True)
            ),
            last=float(posterior[-1] * (1 - fall) + (1 - posterior[-1]) * rise),
            gain=gain,
        )
        return (posterior if gain > ENOUGH else alone), after

    def _learnt(
        self, bits: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], tuple[tuple[float, float], tuple[float, float]], float, float, float]:
        """Baum and Welch with fixed emissions: each round makes the bits likelier, given what was seen before."""
        from wallflower.detectors.two_state_kernels import passes

        posterior = np.empty(len(bits))
        before = [[PRIOR[a][b] + self.moves[a][b] for b in (0, 1)] for a in (0, 1)]
        found = (0.0, 0.0, 0.0, 0.0)
        likelihood = rise = fall = 0.0
        for _ in range(ROUNDS):
            earlier = rise, fall
            calm, stormy = before[0][0] + found[0], before[1][1] + found[3]
            up, down = before[0][1] + found[1], before[1][0] + found[2]
            rise, fall = up / (calm + up), down / (down + stormy)
            if max(abs(rise - earlier[0]), abs(fall - earlier[1])) < 1e-5:
                break
            first = rise / (rise + fall) if self.last is None else self.last
            likelihood, *moves = passes(bits, self.keep, first, rise, fall, posterior)
            found = moves[0], moves[1], moves[2], moves[3]
        return posterior, ((found[0], found[1]), (found[2], found[3])), likelihood, rise, fall

    def _independent(self, bits: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
        """The same when every reading is on its own: the likeliest share of ones, and what it makes of each bit."""
        seen = float(bits.mean())
        share = min(max((seen - (1 - self.keep)) / (2 * self.keep - 1), 0.0), 1.0) if self.keep > 0.5 else 0.5
        one = share * self.keep + (1 - share) * (1 - self.keep)
        probability = np.where(bits, share * self.keep / one, share * (1 - self.keep) / (1 - one))
        count = int(bits.sum())
        return probability, count * float(np.log(one)) + (len(bits) - count) * float(np.log(1 - one))
