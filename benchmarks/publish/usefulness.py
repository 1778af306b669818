"""`python -m benchmarks.publish.usefulness [--rows N …] [--adult] [--alone N …]`: what the methods keep of the same rows, and what an adversary learns."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Table, exponent, peak_mebibytes
from benchmarks.publish import arx, peers, quality
from benchmarks.publish.adult import adult
from benchmarks.publish.census import NAMES, census_like, census_space
from wallflower.publish.anonymise import anonymise
from wallflower.publish.checker import Checker
from wallflower.publish.floor import floor
from wallflower.publish.matching_attack import guesses

K = 10
SIZES = (10_000, 50_000)
METHODS = (("candidate", "hybrid"), ("candidate", "expc"), ("matching", "shed"), ("matching+candidate", "shed"))


@dataclass(frozen=True)
class Publication:
    """What any method published: the rows of each group, and the boxes or lists it says of them."""

    groups: list[np.ndarray]
    table: quality.Table
    cpu: float


def ours(checker: Checker, level: str, method: str) -> Publication:
    """The checker is made anew: its flags are part of the work."""
    start = time.process_time()
    fresh = Checker(checker.space, checker.places)
    grouping = anonymise(fresh, level=level, k=K, method=method)
    cpu = time.process_time() - start
    groups = [g.rows for g in grouping.groups]
    low, high = np.array([g.low for g in grouping.groups]), np.array([g.high for g in grouping.groups])
    return Publication(groups, quality.Table(low, high, _held(checker, groups)), cpu)


def anonypy(checker: Checker, *, timeout: int = 900) -> Publication | None:
    peer = peers.measured(peers.ANONYPY_GROUPS, checker.places, list(NAMES), timeout=timeout)
    if peer is None:
        return None
    ends = np.array([g["ends"] for g in peer["groups"]])
    # A reader spreads rows over a range of numbers, and over the listed values of a category.
    sets = [
        [np.arange(g["ends"][a][0], g["ends"][a][1] + 1) if a < 2 else np.array(s) for a, s in enumerate(g["sets"])]
        for g in peer["groups"]
    ]
    groups = [np.array(g["rows"]) for g in peer["groups"]]
    return Publication(groups, quality.Table(ends[:, :, 0], ends[:, :, 1], _held(checker, groups), sets), peer["cpu"])


def local_recoding(checker: Checker, found: arx.Recoded) -> Publication:
    return Publication(found.groups, quality.Table(found.low, found.high, _held(checker, found.groups)), found.cpu)


def _held(checker: Checker, groups: list[np.ndarray]) -> list[np.ndarray]:
    return [checker.places[rows, checker.quasi :] for rows in groups]


def attacked(checker: Checker, made: Publication) -> str:
    """By someone who knows everyone's quasi-identifiers and flag, and who is in which group."""
    found = guesses(checker, made.groups)
    likeliest = found.likeliest[found.outlying]
    median = float(np.median(likeliest)) if len(likeliest) else 0.0
    pinned = int((found.outlying & (found.possible == 1)).sum())
    return (
        f"{int(found.outlying.sum())} of {int(checker.outlying.sum())} outliers published, {pinned} of them pinned ({len(found.pinned)} of "
        f"everyone); fewest possible values {found.fewest(outlying=False)}; outliers' likeliest value: median {median:.2f}, at most "
        f"{found.surest(outlying=True):.2f}"
    )


def described(checker: Checker, made: Publication) -> str:
    space, places, table = checker.space, checker.places, made.table
    two, three = (quality.errors(space, places, table, columns=columns) for columns in (2, 3))
    around = quality.errors(space, places, table, columns=2, around=True)
    narrow = quality.narrow_errors(places, table, 0, space.quasi[0].size)
    return (
        f"loss {quality.loss(space, table):.3f}; 2-column counts {np.median(two):.1%} ({two.mean():.1%}), 3-column "
        f"{np.median(three):.1%} ({three.mean():.1%}), 2-column around a row {np.median(around):.1%} ({around.mean():.1%}), age ±2 {np.median(narrow):.1%}; mutual information kept "
        f"{quality.information(space, places, table):.2f}; left out {1 - table.sizes.sum() / len(places):.2%}; {made.cpu:.1f} CPU s"
    )


def others(table: Table, rows: str, checker: Checker) -> None:
    """Tools that know no outliers."""
    for title, distinct in ((f"ARX local recoding, {K} distinct", K), ("ARX local recoding, k alone", 1)):
        try:
            made = local_recoding(checker, arx.recoded(checker.space, checker.places, k=K, distinct=distinct))
        except arx.NotRunError as why:
            table.add(f"{rows}: {title}", "-", str(why), "-")
        else:
            table.add(f"{rows}: {title}", attacked(checker, made), described(checker, made), "-")
    other = anonypy(checker)
    if other is None:
        table.add(f"{rows}: anonypy, {K} distinct", "-", "did not run", "-")
    else:
        table.add(f"{rows}: anonypy, {K} distinct", attacked(checker, other), described(checker, other), "-")


def compared(table: Table, rows: str, checker: Checker) -> float:
    """All methods on one table; the CPU seconds of level `matching`."""
    spent = 0.0
    for level, method in METHODS:
        made = ours(checker, level, method)
        aim = ">= 95 % of outliers, <= 0.5 % left out" if level == "matching" else "-"
        table.add(f"{rows}: {method}, {level}", attacked(checker, made), described(checker, made), aim)
        if level == "matching":
            spent = made.cpu
            out = np.setdiff1d(np.arange(len(checker.places)), np.concatenate(made.groups))
            least = floor(checker, level, out, least=K)
            table.add(f"{rows}: floor, matching", "-", f"{least.rows} rows no method could publish", "-")
    others(table, rows, checker)
    return spent


def usefulness(table: Table, *, sizes: Sequence[int], with_adult: bool = False, alone: Sequence[int] = ()) -> None:
    """k = 10: attacks; loss, median (mean) errors of range counts, information kept, what is left out, CPU.

    Census-like rows of so many `sizes`; 10,000 rows of Adult; and sizes for level `matching` alone.
    """
    space = census_space()
    for level, method in METHODS:
        anonymise(Checker(space, census_like(17_000)), level=level, k=K, method=method)  # compiled, with a guide
    spent: dict[int, float] = {}
    for size in alone:  # first, so that the peak is theirs
        before = peak_mebibytes()
        checker = Checker(space, census_like(size))
        made = ours(checker, "matching", "shed")
        peak = f"peak {peak_mebibytes():.0f} MiB ({before:.0f} before)"
        kept = np.concatenate(made.groups)
        outliers = f"{int(checker.outlying[kept].sum()):,} of {int(checker.outlying.sum()):,} outliers published"
        table.add(f"census-like {size:,}: shed, matching", outliers, f"{described(checker, made)}, {peak}", "-")
        spent[size] = made.cpu
    for size in sizes:
        spent[size] = compared(table, f"census-like {size:,}", Checker(space, census_like(size)))
    if with_adult:
        for p, d in (("0.9", "1.05"), ("0.8", "0.85")):
            compared(table, f"Adult 10,000 (p, d) = ({p}, {d})", Checker(*adult(10_000, p=p, d=d)))
    if len(spent) > 1:
        grown = exponent(sorted(spent), [spent[size] for size in sorted(spent)])
        table.add(
            f"growth {min(spent):,} to {max(spent):,}, matching",
            "-",
            f"exponent {grown:.2f}",
            "<= 1.2; 50,000 in <= 6 CPU s",
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=SIZES, help="census-like rows, all methods")
    parser.add_argument("--adult", action="store_true", help="10,000 rows of the real Adult table too")
    parser.add_argument("--alone", type=int, nargs="*", default=(), help="census-like rows, level matching alone")
    chosen = parser.parse_args()
    usefulness(Table("publish: usefulness"), sizes=chosen.rows, with_adult=chosen.adult, alone=chosen.alone)


if __name__ == "__main__":
    main()
