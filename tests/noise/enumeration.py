"""The exact law of a sampler, by running it on every string of fair bits up to a length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction


class _NeedsMoreError(Exception):
    def __init__(self, count: int) -> None:
        self.count = count


class Replay:
    """Hands out a given string of bits and asks for more when it ends."""

    private = False

    def __init__(self, prefix: tuple[tuple[int, int], ...]) -> None:
        self._left = list(prefix)

    def bits(self, count: int, /) -> int:
        if count == 0:
            return 0
        if not self._left:
            raise _NeedsMoreError(count)
        width, value = self._left.pop(0)
        assert width == count
        return value

    def block(self, count: int, /) -> bytes:
        return self.bits(8 * count).to_bytes(count, "little")


def exact_law(sampler: Callable[[Replay], Hashable], *, length: int) -> tuple[dict[Hashable, Fraction], Fraction]:
    """What each outcome is sure to weigh, and how much is still open after `length` bits."""
    law: dict[Hashable, Fraction] = defaultdict(Fraction)
    undecided = Fraction(0)
    open_prefixes: list[tuple[tuple[tuple[int, int], ...], int]] = [((), 0)]
    while open_prefixes:
        prefix, used = open_prefixes.pop()
        try:
            law[sampler(Replay(prefix))] += Fraction(1, 2**used)
        except _NeedsMoreError as more:
            if used + more.count > length:
                undecided += Fraction(1, 2**used)
            else:
                open_prefixes += [((*prefix, (more.count, value)), used + more.count) for value in range(2**more.count)]
    return dict(law), undecided
