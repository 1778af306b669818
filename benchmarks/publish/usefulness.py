"""`python -m benchmarks.publish.usefulness [--rows N …]`: what the methods keep of the same census-like rows, and what an adversary learns."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Table, exponent
from benchmarks.publish import arx, peers, quality
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
    narrow = quality.narrow_errors(places, table, 0, space.quasi[0].size)
    return (
        f"loss {quality.loss(space, table):.3f}; 2-column counts {np.median(two):.1%} ({two.mean():.1%}), 3-column "
        f"{np.median(three):.1%} ({three.mean():.1%}), age ±2 {np.median(narrow):.1%}; mutual information kept "
        f"{quality.information(space, places, table):.2f}; left out {1 - table.sizes.sum() / len(places):.2%}; {made.cpu:.1f} CPU s"
    )


def others(table: Table, checker: Checker) -> None:
    """Tools that know no outliers."""
    rows = f"census-like {len(checker.places):,}"
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


def usefulness(table: Table, *, sizes: Sequence[int]) -> None:
    """Census-like rows, k = 10: attacks; loss, median (mean) errors of range counts, information kept, what is left out, CPU."""
    space = census_space()
    for level, method in METHODS:
        anonymise(Checker(space, census_like(17_000)), level=level, k=K, method=method)  # compiled, with a guide
    spent: dict[int, float] = {}
    for size in sizes:
        checker = Checker(space, census_like(size))
        for level, method in METHODS:
            made = ours(checker, level, method)
            table.add(
                f"census-like {size:,}: {method}, {level}",
                attacked(checker, made),
                described(checker, made),
                ">= 95 % of outliers, <= 0.5 % left out" if level == "matching" else "-",
            )
            if level == "matching":
                spent[size] = made.cpu
                out = np.setdiff1d(np.arange(size), np.concatenate(made.groups))
                least = floor(checker, level, out, least=K)
                table.add(
                    f"census-like {size:,}: floor, matching", "-", f"{least.rows} rows no method could publish", "-"
                )
        others(table, checker)
    if len(spent) > 1:
        grown = exponent(list(spent), list(spent.values()))
        table.add(
            f"growth {sizes[0]:,} to {sizes[-1]:,}, matching",
            "-",
            f"exponent {grown:.2f}",
            "<= 1.2; 50,000 in <= 6 CPU s",
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    usefulness(Table("publish: usefulness"), sizes=parser.parse_args().rows)


if __name__ == "__main__":
    main()
