"""Exact draws by the million: discrete Laplace noise and randomised codes, by inverse CDF on 32-bit words.

A draw is put together from independent digits. Each digit is looked up in a table of thresholds floor(2^32 C_j) with one
uniform word; a word that equals a threshold leaves the digit open, and more bits of the same uniform decide it against
tighter enclosures of C_j. The law is therefore exactly that of the scalar samplers; the proof is in bulk.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError
from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.entropy import Entropy

WORD = 32
BASE = 1024
SMALLEST_SCALE = Fraction(1, 1024)
"""Below it noise is as good as none, and its tables would need enclosures of thousands of bits."""
LARGEST_SCALE = 2**40
"""Keeps every |draw| below 2**62 but for an event that saturates (see bulk.md)."""
SATURATED = 2**62

Enclosures = list[tuple[int, int]]


class Law(Protocol):
    """A law on 0, 1, ..., `size` - 1 whose cumulative probabilities C_1 < ... < C_(size-1) can be enclosed at will."""

    @property
    def size(self) -> int: ...

    def cumulative(self, precision: int) -> Enclosures:
        """For j = 1 .. size - 1, integers on both sides of 2**precision * C_j."""
        ...


@dataclass(frozen=True)
class TruncatedGeometric:
    """P(j) in proportion to exp(-rate * j) for j < size."""

    rate: Fraction
    size: int

    def cumulative(self, precision: int) -> Enclosures:
        # 1 - r^size may be as small as rate * size: that many more bits keep the quotient tight.
        work = precision + 64 + (self.rate.denominator // self.rate.numerator).bit_length()
        powers = _powers(self.rate, self.size, work)
        one = 1 << work
        whole_low, whole_high = one - powers[-1][1], one - powers[-1][0]
        return [
            (((one - high) << precision) // whole_high, -((-(one - low) << precision) // whole_low))
            for low, high in powers[:-1]
        ]


@dataclass(frozen=True)
class Geometric:
    """P(j) = (1 - r) r^j with r = exp(-rate), for j < size - 1; the last digit stands for 'size - 1 or more'."""

    rate: Fraction
    size: int

    def cumulative(self, precision: int) -> Enclosures:
        work = precision + 32
        one = 1 << precision
        return [(one - (-(-high >> 32)), one - (low >> 32)) for low, high in _powers(self.rate, self.size - 1, work)]


@dataclass(frozen=True)
class Response:
    """P(0) = e^ε / (e^ε + size - 1), and the rest evenly on 1 .. size - 1: how far a code moves."""

    epsilon: Fraction
    size: int

    def cumulative(self, precision: int) -> Enclosures:
        work = precision + 32
        one = 1 << work
        low, high = exp_bounds(self.epsilon, work)
        others = self.size - 1
        # C_j = (1 + j t) / (1 + (size - 1) t) falls in t = e^-ε, so the upper end of t gives the lower end of C_j.
        return [
            (
                ((one + j * high) << precision) // (one + others * high),
                -((-(one + j * low) << precision) // (one + others * low)),
            )
            for j in range(others)
        ]


def _powers(rate: Fraction, most: int, work: int) -> Enclosures:
    """Enclosures of 2**work * exp(-rate * j) for j = 1 .. most."""
    extra = most.bit_length() + 8
    low, high = exp_bounds(rate, work + extra)
    scale = work + extra
    found = [(low, high)]
    for _ in range(most - 1):
        found.append((found[-1][0] * low >> scale, -(-(found[-1][1] * high) >> scale)))
    return [(below >> extra, -(-above >> extra)) for below, above in found]


@dataclass(frozen=True, eq=False)
class Digits:
    """A law with its table; `word` bits are looked up at once (fewer only in tests, where ties must be common)."""

    law: Law
    word: int = WORD
    _table: tuple[NDArray[np.uint32], NDArray[np.int32], int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        thresholds = np.array(_floors(self.law, self.word), dtype=np.uint32)
        shift = max(0, self.word - 10)
        starts = np.arange(1 << (self.word - shift), dtype=np.uint64) << np.uint64(shift)
        guide = np.searchsorted(thresholds.astype(np.uint64), starts, side="left").astype(np.int32)
        object.__setattr__(self, "_table", (thresholds, guide, shift))

    def add(self, out: NDArray[np.int64], weight: int, entropy: Entropy) -> None:
        """Add `weight` times an independent digit to every entry of `out`."""
        from wallflower.noise.kernels import add_digits

        words = np.frombuffer(entropy.block(4 * out.size), dtype="<u4") >> np.uint32(WORD - self.word)
        thresholds, guide, shift = self._table
        undecided = np.empty(out.size, dtype=np.int64)
        count = add_digits(words, thresholds, guide, shift, weight, out, undecided)
        for place in undecided[:count]:
            out[place] += weight * self.decide(int(words[place]), entropy)

    def decide(self, word: int, entropy: Entropy) -> int:
        """The digit of a uniform that starts with `word`, by as many further bits of it as that takes."""
        value, bits = word, self.word
        while True:
            value, bits = value << 64 | entropy.bits(64), bits + 64
            enclosures = self.law.cumulative(bits)
            surely = sum(high <= value for _, high in enclosures)
            perhaps = sum(low < value + 1 for low, _ in enclosures)
            if surely == perhaps:
                return surely


def _floors(law: Law, word: int) -> list[int]:
    """floor(2**word * C_j) for every j; irrational C_j, so some precision settles each."""
    precision = word + 32
    while True:
        spare = precision - word
        enclosures = law.cumulative(precision)
        floors = [low >> spare for low, _ in enclosures]
        if floors == [high >> spare for _, high in enclosures]:
            return floors
        precision *= 2


@dataclass(frozen=True, eq=False)
class BulkLaplace:
    """Discrete Laplace noise, P(z) in proportion to exp(-|z| / scale).

    |z| or |z| - 1 is geometric (which of the two, the sign says), and the digits of a geometric number are independent.
    """

    scale: Fraction
    word: int = WORD
    _parts: tuple[Digits, list[tuple[int, Digits]], Digits, int, int] = field(init=False, repr=False)
    """Sign, lower digits with their weights, top digit, its weight, and the top digit that stands for more."""

    def __post_init__(self) -> None:
        if not SMALLEST_SCALE <= self.scale <= LARGEST_SCALE:
            raise DeclarationError.of(self, "scale", "from 1/1024 to 2^40 steps", str(self.scale))
        places, weight = [], 1
        while self.scale > 64 * weight:
            places.append((weight, Digits(TruncatedGeometric(weight / self.scale, BASE), self.word)))
            weight *= BASE
        most = min(2048, max(2, int(16 * self.scale / weight) + 2))
        top = Digits(Geometric(weight / self.scale, most), self.word)
        sign = Digits(Response(1 / self.scale, 2), self.word)
        object.__setattr__(self, "_parts", (sign, places, top, weight, most - 1))

    def draw(self, count: int, entropy: Entropy) -> NDArray[np.int64]:
        """`count` independent draws."""
        sign, places, top, weight, last = self._parts
        negative = np.zeros(count, dtype=np.int64)
        sign.add(negative, 1, entropy)
        high = np.zeros(count, dtype=np.int64)
        top.add(high, 1, entropy)
        for place in np.flatnonzero(high == last):
            high[place] = _open_end(top, last, entropy, SATURATED // weight - 1)
        high *= weight
        for unit, digits in places:
            digits.add(high, unit, entropy)
        # z >= 0 with probability 1/(1+q) and is then geometric; otherwise -1 - z is.
        return np.where(negative == 1, -1 - high, high)


def _open_end(top: Digits, last: int, entropy: Entropy, limit: int) -> int:
    """A geometric number known to be at least `last`: it has no memory, so `last` and a fresh one."""
    total = last
    while total < limit:
        fresh = np.zeros(1, dtype=np.int64)
        top.add(fresh, 1, entropy)
        total += int(fresh[0])
        if fresh[0] < last:
            break
    return min(total, limit)


@dataclass(frozen=True, eq=False)
class BulkResponse:
    """Randomised response on 0 .. size - 1: kept with probability e^ε / (e^ε + size - 1), else any other evenly."""

    epsilon: Fraction
    size: int
    word: int = WORD
    _digits: Digits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= 1 / SMALLEST_SCALE:
            raise DeclarationError.of(self, "epsilon", "above 0 and at most 1024", str(self.epsilon))
        if not 2 <= self.size <= 256:
            raise DeclarationError.of(self, "size", "from 2 to 256", self.size)
        object.__setattr__(self, "_digits", Digits(Response(self.epsilon, self.size), self.word))

    def draw(self, codes: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        moved = codes.astype(np.int64)
        self._digits.add(moved, 1, entropy)
        return moved % self.size


@lru_cache(maxsize=64)
def bulk_laplace(scale: Fraction) -> BulkLaplace:
    """A sampler whose tables are made once per scale."""
    return BulkLaplace(scale)


@lru_cache(maxsize=64)
def bulk_response(epsilon: Fraction, size: int) -> BulkResponse:
    return BulkResponse(epsilon, size)
