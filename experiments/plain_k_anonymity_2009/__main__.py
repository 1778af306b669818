"""`python -m experiments.plain_k_anonymity_2009 [--quick|--full|--only PART]`: Figures 8 to 13 again; writes RESULTS.md beside this file."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from benchmarks.publish.data import ADULT, CENSUS, canonical, figure_7, figure_7_space, real

from experiments.plain_k_anonymity_2009 import pictures
from experiments.plain_k_anonymity_2009.methods import METHODS, STEPS, run
from wallflower.publish.anonymise import anonymise
from wallflower.publish.attacks import attack
from wallflower.publish.checker import Checker
from wallflower.publish.levels import method_of
from wallflower.publish.loss import losses
from wallflower.publish.matching_attack import guesses
from wallflower.publish.published_file import PublishedGroup

K = 15
MATCHED = ("strict", "candidate", "matching", "matching+candidate")
BESIDE = (*METHODS, "matching")
HEAD = """# Plain k-anonymity (EDBT 2009) again

Written by `python -m experiments.plain_k_anonymity_2009{flag}`. CPU seconds on one core, parts perhaps of different runs (`--only`); the paper used a 2 GHz machine with 1 GB and C++.
The paper's IPUMS extract is not public, so "made up" is a table with the columns and cardinalities of its Figure 7 (91 % in one
country); Adult and the KDD census are real. The paper prints curves and no numbers; its sentences are quoted beside ours.
Where nothing else is said: level strict (Theorem 5.1), p = 0.8, d = 0.85, k = 15, {base:,} rows made up.
Loss is Definition 3.7 summed over 8 columns, on kept rows; "with suppressed" counts a suppressed row as 8.
"Remove all" removes every outlier and checks no group: NOT PRIVATE in the sense of the paper.
Why its theorems cannot be relied on, with proofs: [COUNTEREXAMPLES.md](COUNTEREXAMPLES.md).
"""


class Page:
    def __init__(self, *, drawn: bool) -> None:
        self.lines: list[str] = []
        self.drawn = drawn
        """Whether pictures are drawn: they belong to the page that is written."""

    def say(self, text: str) -> None:
        self.lines.append(text)
        print(text, flush=True)

    def table(self, title: str, columns: list[str]) -> None:
        self.say(f"\n## {title}\n\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))

    def row(self, *cells: object) -> None:
        self.say("| " + " | ".join(str(cell) for cell in cells) + " |")


def made_up(rows: int, **setting: str) -> Checker:
    return Checker(figure_7_space(**setting), canonical(figure_7(rows)))


def by_size(page: Page, sizes: list[int]) -> None:
    outcomes = {(size, method): run(made_up(size), method, k=K) for size in sizes for method in (*BESIDE, "removal")}
    page.table("Figure 8: time of the approaches, CPU seconds", ["rows", *BESIDE])
    for size in sizes:
        page.row(f"{size:,}", *(f"{outcomes[size, m].seconds:.2f}" for m in BESIDE))
    page.say(
        '\nPaper: "When the dataset is of 50K, our ExpC approach is around twice faster than GNOF and GOF" because it does not look for '
        "outliers first. Here the exact search for outliers is cheap; GOF pays for seeds that are in no plain group."
    )
    page.table("Figures 9 and 10: time by component, CPU seconds", ["rows", "method", *STEPS])
    for (size, method), outcome in outcomes.items():
        if method in METHODS:
            page.row(f"{size:,}", method, *(f"{outcome.times[step]:.2f}" for step in STEPS))
    page.say(
        '\nPaper: "the time cost of expansion-based grouping is dominant", "the cost of residue processing is always negligible". '
        "Not here: many rows are left over because no plain group can take them (Theorem 6.2 is false), and offering them costs."
    )
    page.table("Figure 11: average group size", ["rows", *BESIDE])
    for size in sizes:
        page.row(f"{size:,}", *(f"{outcomes[size, m].average:.1f}" for m in BESIDE))
    page.say('\nPaper: "ExpC always produces the QI-groups of the smallest average sizes".')
    page.table(
        "Figure 13 (a): information loss on kept rows (with suppressed), and share suppressed",
        ["rows", *BESIDE, "remove all"],
    )
    for size in sizes:
        cells = []
        for method in (*BESIDE, "removal"):
            o = outcomes[size, method]
            cells.append(f"{o.kept_loss:.2f} ({o.loss:.2f}), {100 * o.suppressed / size:.1f} %")
        page.row(f"{size:,}", *cells)
    page.say(
        '\nPaper: "ExpC always achieves the best information loss", "removing outliers incurs the worst information loss", "always small '
        '(less than 1)". Suppressed rows are not mentioned there. The column matching is our level of that name: it hides which value is '
        "whose and takes it to be known who is an outlier, so that it does not leave outliers out; strict, which the others keep, does."
    )
    measures = {
        "seconds": "Figure 8: CPU seconds",
        "average": "Figure 11: rows in a group",
        "loss": "Figure 13 (a): loss, a suppressed row counted as 8",
    }
    if page.drawn:
        page.say("\n" + pictures.by_size(sizes, outcomes, measures))
    page.say(
        "\nThe paper's curves have no numbers to put beside ours; what its sentences say of them is drawn: a cross where ExpC would be if it were twice "
        "as fast as GNOF and GOF, and a line at 1 under which its loss is said to stay. With every level that leaves no outlier in, loss is mostly "
        "suppression."
    )


def by_setting(page: Page, base: int) -> None:
    page.table(
        "Figures 12 and 13 (b, c): ExpC against p, d and k",
        ["p", "d", "k", "CPU seconds", "loss kept", "suppressed", "average group"],
    )
    settings = [("0.8", d, K) for d in ("0.75", "0.85", "0.95", "1.05")]
    settings += [(p, "0.85", K) for p in ("0.85", "0.9", "0.95")]
    settings += [("0.8", "0.85", k) for k in (5, 10)]
    for p, d, k in settings:
        outcome = run(made_up(base, p=p, d=d), "ExpC", k=k)
        suppressed = f"{100 * outcome.suppressed / base:.1f} %"
        page.row(p, d, k, f"{outcome.seconds:.2f}", f"{outcome.kept_loss:.2f}", suppressed, f"{outcome.average:.1f}")
    page.say(
        '\nPaper: time "gets better with increasing d" and with increasing k; loss "increases with increasing k" and is "always the same with '
        'larger p". A larger p or d makes fewer outliers, so both suppression and time fall.'
    )


def levels(page: Page, tables: dict[str, Checker]) -> None:
    page.table(
        "Levels and attacks, method hybrid",
        [
            "table",
            "rows",
            "level",
            "groups",
            "suppressed",
            "loss kept",
            "CPU seconds",
            "given away (4.1, 4.2)",
            "abnormal values",
            "abnormal people",
        ],
    )
    for name, checker in tables.items():
        rows = len(checker.places)
        for level in ("candidate", "strict", "attack"):
            outcome = run(checker, "hybrid", k=K, level=level)
            page.row(
                name,
                f"{rows:,}",
                level,
                len(outcome.groups),
                f"{100 * outcome.suppressed / rows:.1f} %",
                *judged(checker, outcome),
            )
        outcome = run(checker, "removal", k=K)
        page.row(
            name,
            f"{rows:,}",
            "remove all (NOT PRIVATE)",
            len(outcome.groups),
            f"{100 * outcome.suppressed / rows:.1f} %",
            *judged(checker, outcome),
        )
    page.say(
        "\nThe candidate adversary knows everyone's quasi-identifiers. Abnormal values are published with a group although they are normal for "
        "nobody who matches it; abnormal people match a group and are outliers with every value of it. Level candidate rules both out. Level "
        "strict does not (COUNTEREXAMPLES.md, K2), even where a table shows none."
    )


def matching(page: Page, tables: dict[str, Checker]) -> None:
    page.table(
        "Level matching beside them, against an adversary who knows quasi-identifiers, flags and groups",
        [
            "table",
            "rows",
            "level",
            "groups",
            "suppressed",
            "loss kept",
            "CPU seconds",
            "outliers published",
            "pinned to one value",
            "fewest possible values",
            "outliers' likeliest value, median and largest share",
        ],
    )
    kept: dict[str, dict[str, tuple[int, int, int]]] = {}
    for name, checker in tables.items():
        kept[name] = {}
        for level in MATCHED:
            fresh = Checker(checker.space, checker.places)
            start = time.process_time()
            grouping = anonymise(fresh, level=level, k=K, method=method_of(level, None))
            seconds = time.process_time() - start
            found = guesses(fresh, [g.rows for g in grouping.groups])
            low, high = np.array([g.low for g in grouping.groups]), np.array([g.high for g in grouping.groups])
            sizes = [len(g.rows) for g in grouping.groups]
            lost = losses(fresh.space.quasi, low, high, sizes, suppressed=len(grouping.suppressed), k=K)
            likeliest = found.likeliest[found.outlying]
            pinned = int((found.outlying & (found.possible == 1)).sum())
            kept[name][level] = int(found.outlying.sum()), pinned, int(fresh.outlying.sum())
            page.row(
                name,
                f"{len(fresh.places):,}",
                level,
                len(grouping.groups),
                f"{100 * len(grouping.suppressed) / len(fresh.places):.1f} %",
                f"{lost.information_loss:.2f}",
                f"{seconds:.2f}",
                f"{int(found.outlying.sum()):,} of {int(fresh.outlying.sum()):,}",
                len(found.pinned),
                found.fewest(outlying=False),
                f"{np.median(likeliest):.2f}, {likeliest.max():.2f}" if len(likeliest) else "-",
            )
    if page.drawn:
        page.say("\n" + pictures.outliers(kept))
    page.say(
        "\nThe paper's methods leave outliers out; level matching keeps them with at least k possible values each, and says nothing "
        "about how likely each is. Shares are counted for groups of up to a dozen and estimated by a walk in larger ones."
    )


def judged(checker: Checker, outcome) -> tuple[str, ...]:
    found = attack(
        checker, [PublishedGroup(g.low, g.high, checker.places[g.rows, checker.quasi :]) for g in outcome.groups]
    )
    loss, seconds = f"{outcome.kept_loss:.2f}", f"{outcome.seconds:.2f}"
    return loss, seconds, str(len(found.leaks)), str(found.abnormal_values), str(found.abnormal_people)


PARTS = ("sizes", "settings", "levels", "matching")


def sections(text: str) -> dict[str, str]:
    """The page by its headings; what comes before the first is under no name."""
    found: dict[str, str] = {}
    for part in ("\n" + text).split("\n## "):
        name = part.split("\n", 1)[0] if found else ""
        found[name] = part if not found else f"## {part}"
    return found


def written(lines: list[str], *, over: Path) -> None:
    """The page, whole or with the sections that were made anew in place of those that stood there."""
    fresh = sections("\n".join(lines) + "\n")
    page = sections(over.read_text(encoding="utf-8")) if over.exists() else {}
    page.update(fresh)
    over.write_text("\n".join(part.strip("\n") + "\n" for part in page.values()), encoding="utf-8")


def compiled(parts: tuple[str, ...]) -> None:
    """Before anything is measured."""
    warm = made_up(1_000)
    for method in BESIDE if {"sizes", "settings"} & set(parts) else ():
        run(warm, method, k=K)
    for level in ("candidate", "attack", "strict") if "levels" in parts else ():
        run(warm, "hybrid", k=K, level=level)
    for level in MATCHED if "matching" in parts else ():
        guesses(warm, [g.rows for g in anonymise(warm, level=level, k=K, method=method_of(level, None)).groups])


def main() -> None:
    parser = argparse.ArgumentParser()
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true")
    size.add_argument("--full", action="store_true", help="what is done without --quick")
    size.add_argument("--only", choices=PARTS, help="make one part of the page anew and leave the others")
    chosen = parser.parse_args()
    parts = PARTS if chosen.only is None else (chosen.only,)
    sizes = [1_000, 2_000] if chosen.quick else [10_000, 20_000, 50_000]
    base = 1_000 if chosen.quick else 10_000
    page = Page(drawn=not chosen.quick)
    page.say(HEAD.format(flag=" --quick" if chosen.quick else "", base=base))
    compiled(parts)
    if "sizes" in parts:
        by_size(page, sizes)
    if "settings" in parts:
        by_setting(page, base)
    if "levels" in parts:
        levels(page, tables_of(base, 2_000 if chosen.quick else None))
    if "matching" in parts:
        matching(page, tables_of(base, 2_000 if chosen.quick else base))
    if page.drawn:
        written(page.lines, over=Path(__file__).with_name("RESULTS.md"))


def tables_of(base: int, some: int | None) -> dict[str, Checker]:
    tables = {"made up": made_up(base)}
    for name, columns, sensitive in (
        ("adult", ADULT, "hours_per_week"),
        ("census_income_kdd_nominal", CENSUS, "occupation_code"),
    ):
        rows = some if some or name == "adult" else 50_000
        space, places = real(f"{name}.parquet", columns, sensitive, rows=rows)
        tables[name] = Checker(space, np.ascontiguousarray(places))
    return tables


if __name__ == "__main__":
    main()
