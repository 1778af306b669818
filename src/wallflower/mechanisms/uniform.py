"""One of n, all alike: a draw that looks at no row."""

from __future__ import annotations

from dataclasses import dataclass

from wallflower.noise.entropy import Entropy
from wallflower.noise.uniform import below


@dataclass(frozen=True)
class Uniform:
    """A uniform integer below `n`. It promises nothing and costs nothing: its law does not depend on the rows, if `n` does not."""

    def __call__(self, n: int, entropy: Entropy) -> int:
        return below(n, entropy)
