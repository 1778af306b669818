"""How far an integer can move within t changes of the table: what noise shaped by the rows is allowed to know of them."""

from __future__ import annotations

from dataclasses import dataclass

from wallflower.errors import DeclarationError


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Bounds U_0 ≤ U_1 ≤ … of one table, all of them `cap` from some public place on.

    A mechanism that takes a profile assumes of whoever made it, for all neighbouring tables X and X′: the integer differs
    between them by at most U_0(X), and U_t(X) ≤ U_{t+1}(X′) for every t; `cap` and the number of `bounds` are public.
    """

    bounds: tuple[int, ...]
    cap: int

    def __post_init__(self) -> None:
        if self.cap < 1 or any(not 1 <= bound <= self.cap for bound in self.bounds):
            raise DeclarationError.of(self, "bounds", "between 1 and the cap", "something else")
        if any(a > b for a, b in zip(self.bounds, self.bounds[1:], strict=False)):
            raise DeclarationError.of(self, "bounds", "increasing", "something else")

    def __getitem__(self, t: int) -> int:
        return self.bounds[t] if t < len(self.bounds) else self.cap
