"""The error of a count at every epsilon, for a declaration alone: what an owner looks at before spending anything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from wallflower.count.intervals import SHARE, NarrowInterval
from wallflower.count.noise import Noise, NoiseName
from wallflower.count.queries import Outliers
from wallflower.errors import UsageError
from wallflower.schema.declaration import Declaration

EPSILONS = tuple(Fraction(step, 20) for step in (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 25, 30, 40))


@dataclass(frozen=True, kw_only=True)
class ErrorCurve:
    """±rows that 19 answers in 20 keep, by ε: one list per noise, on the calmest table and on the worst."""

    epsilons: tuple[Fraction, ...]
    laplace: tuple[int, ...]
    lomax_calm: tuple[int, ...]
    lomax_worst: tuple[int, ...]
    bought: tuple[int | None, ...]
    """± of a bought interval at the same whole ε, where the table is what its size suggests; None where there is none to buy."""
    chosen: tuple[str, ...]
    """What `auto` takes at each ε."""


def error_by_epsilon(query: Outliers, declaration: Declaration) -> ErrorCurve:
    """The curve for the columns and k of a query; its own ε plays no part."""

    base = query.noise_for(declaration)

    def noise(epsilon: Fraction, wanted: NoiseName) -> Noise:
        return replace(base, epsilon=epsilon, wanted=wanted)

    smooth = [noise(epsilon, "lomax").margins() for epsilon in EPSILONS]
    return ErrorCurve(
        epsilons=EPSILONS,
        laplace=tuple(noise(epsilon, "laplace").margins()[0] for epsilon in EPSILONS),
        lomax_calm=tuple(best for best, _ in smooth),
        lomax_worst=tuple(best if worst is None else worst for best, worst in smooth),
        bought=tuple(_bought(base, epsilon) for epsilon in EPSILONS),
        chosen=tuple(noise(epsilon, "auto").name for epsilon in EPSILONS),
    )


def error_of_auto(query: Outliers, declaration: Declaration) -> tuple[int, ...]:
    """± at each of `EPSILONS` with the noise that `auto` takes there, on the calmest table: a small part of the curve,
    for a page that is drawn anew while one types.
    """
    return _error_of_auto(replace(query.noise_for(declaration), epsilon=Fraction(1), wanted="auto"))


@lru_cache(maxsize=256)
def _error_of_auto(base: Noise) -> tuple[int, ...]:
    each = (replace(base, epsilon=epsilon) for epsilon in EPSILONS)
    return tuple(replace(noise, wanted=noise.name).margins()[0] for noise in each)


def _bought(base: Noise, whole: Fraction) -> int | None:
    counted = whole / (1 + SHARE)
    try:
        interval = NarrowInterval(noise=replace(base, epsilon=counted, wanted="lomax"), epsilon=whole - counted)
    except UsageError:
        return None
    return interval.expected[1]
