"""Where randomness comes from: the operating system, or a seed that marks every release as not private."""

from __future__ import annotations

import hashlib
import os
from typing import Protocol


class Entropy(Protocol):
    """A source of independent fair bits. `private` is False when somebody could predict them."""

    @property
    def private(self) -> bool: ...

    def bits(self, count: int, /) -> int:
        """A uniform integer in [0, 2**count)."""
        ...

    def block(self, count: int, /) -> bytes:
        """`count` uniform bytes, for samplers that work in bulk."""
        ...


class _Buffered:
    """Hands out bits from blocks, so that a coin does not cost a system call."""

    _block = 4096

    def __init__(self) -> None:
        self._pool = 0
        self._left = 0

    def _fresh(self, count: int) -> bytes:
        raise NotImplementedError

    def bits(self, count: int, /) -> int:
        while self._left < count:
            self._pool |= int.from_bytes(self._fresh(self._block), "little") << self._left
            self._left += 8 * self._block
        value = self._pool & ((1 << count) - 1)
        self._pool >>= count
        self._left -= count
        return value

    def block(self, count: int, /) -> bytes:
        return self._fresh(count)


class SystemEntropy(_Buffered):
    """`os.urandom`, buffered. A forked child throws the buffer away: parent and child never share a bit."""

    _block = 32  # a pool this small keeps shifts cheap; a call to urandom costs about a microsecond

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    @property
    def private(self) -> bool:
        return True

    def _fresh(self, count: int) -> bytes:
        return os.urandom(count)

    def bits(self, count: int, /) -> int:
        if os.getpid() != self._process:
            self._pool, self._left, self._process = 0, 0, os.getpid()
        return super().bits(count)


class SeededEntropy(_Buffered):
    """A reproducible stream for tests; never private.

    >>> SeededEntropy(1).bits(16) == SeededEntropy(1).bits(16)
    True
    >>> SeededEntropy(1).private
    False
    """

    _block = 32

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._key = hashlib.sha256(f"wallflower test seed {seed}".encode()).digest()
        self._counter = 0

    @property
    def private(self) -> bool:
        return False

    def _fresh(self, count: int) -> bytes:
        self._counter += 1
        return hashlib.shake_256(self._key + self._counter.to_bytes(8, "little")).digest(count)
