"""How fast `explain` is: against the kernel before, against scikit-learn and scipy on the same rows, up to 2^30 contexts, and how it grows."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.explain.rows import NAMES, made_up
from benchmarks.explain.sizes import SHAPES, ratios, whole_selections
from benchmarks.harness import Table, exponent, peak_mebibytes, seconds
from wallflower.detectors import LOF, Grubbs, Histogram
from wallflower.engines import open_source
from wallflower.explain import Context, searches
from wallflower.explain.full import Plan
from wallflower.explain.landscape import Landscape
from wallflower.explain.languages import vocabularies
from wallflower.explain.record_view import RecordView
from wallflower.explain.space import Space
from wallflower.explain.utilities import Population
from wallflower.explain.validity import decider
from wallflower.mechanisms.exponential import Exponential
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.exact import exact

LEAST = 10
COLD = """
import numpy as np, time
from wallflower.detectors.flips_kernels import flips
from wallflower.detectors.histogram_kernels import bars
from wallflower.detectors.lof_kernels import lof_runs
entries = (np.arange(1, 4), np.ones(3, np.int64), np.zeros(3, np.uint64))
words, some, out = np.zeros(1, np.uint64), np.full(1, 7), np.zeros(1, np.bool_)
began = time.perf_counter()
side = (*entries, np.zeros(3, np.int64))
lof_runs(side, side, words, np.empty(0, np.int64), some, some, 2, 1.5, 1, 2, out)
bars(entries, entries, words, some, some, some, some, out)
flips(some, some, some * 1.0, 1, 2, 3, 4, np.ones(20), some.copy())
print(time.perf_counter() - began)
"""


class Filtered:
    """What a user would write: filter the rows of a context, then ask the library."""

    def __init__(self, view):
        self.view = view
        self.words = view.words.ravel()[view.codes]
        self.values = view.shifted
        self.mine = int(np.flatnonzero((view.shifted == 0) & (self.words == np.uint64(0)))[0])

    def rows(self, index):
        inside = (self.words & ~self.view.space.words(np.array([index]))[0]) == 0
        return self.values[inside].astype(float), int(inside[: self.mine].sum())

    def lof(self, index):
        values, mine = self.rows(index)
        model = LocalOutlierFactor(n_neighbors=min(20, len(values) - 1)).fit(values[:, None])
        return -model.negative_outlier_factor_[mine] > 1.5

    def grubbs(self, index):
        values, mine = self.rows(index)
        n = len(values)
        t2 = stats.t.isf(0.05 / (2 * n), n - 2) ** 2
        limit = (n - 1) / np.sqrt(n) * np.sqrt(t2 / (n - 2 + t2))
        return abs(values[mine] - values.mean()) / values.std(ddof=1) > limit


def every(view, detector):
    """A function that decides all contexts."""
    decided = decider(view, detector)
    return lambda: np.concatenate([decided.valid(block) for block in view.blocks()])


def per_context(work, indices):
    began = time.perf_counter()
    for index in indices:
        work(int(index))
    return (time.perf_counter() - began) / len(indices)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explain")
    parser.add_argument("--quick", action="store_true", help="fewer samples, rows and contexts")
    parser.add_argument(
        "--contexts",
        metavar="LOG2,LOG2",
        help=f"sizes of whole selections, of {', '.join(map(str, SHAPES))}; default 18 and 22, or 18 with --quick",
    )
    parser.add_argument("--only", choices=["lof", "selections", "rest"], help="one part of the table")
    asked = parser.parse_args()
    quick, only = asked.quick, asked.only
    sizes = [int(size) for size in asked.contexts.split(",")] if asked.contexts else ([18] if quick else [18, 22])
    table = Table(f"explain (load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    if only in (None, "lof"):
        ratios(table, 1 if quick else None)
    if only in (None, "selections"):
        whole_selections(table, sizes)
    if only in (None, "rest"):
        rest(table, quick)
    table.add("peak memory of this process", "–", f"{peak_mebibytes():,.0f} MiB", "≤ 2,048 MiB at 2^22 contexts")


def rest(table, quick):
    """Against scikit-learn and scipy, and growth with rows."""
    with tempfile.TemporaryDirectory() as place:
        whole(table, Path(place), samples=20 if quick else 200)
        growth(table, Path(place), [100_000, 1_000_000] if quick else [100_000, 1_000_000, 10_000_000])
    cold = subprocess.run(
        [sys.executable, "-c", COLD],
        capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": tempfile.mkdtemp()},
    )  # fmt: skip
    table.add("compiling every kernel, once per machine", "–", f"{float(cold.stdout):.0f} s", "–")


def whole(table, folder, *, samples):
    """All contexts of 51,000 rows, 9/8/8."""
    declaration = made_up(folder, 51_000)
    source = open_source(declaration)
    with source.rows((*NAMES, "salary")) as rows, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, about ties
        record = rows.record("r0")
        space = Space.of(vocabularies(declaration, NAMES, {}).each, own=tuple(record.codes[name] for name in NAMES))
        view = RecordView(rows=rows, space=space, metric="salary", centre=record.numbers["salary"], least=LEAST)
        measure(table, view, samples)


def measure(table, view, samples):
    by_hand, space = Filtered(view), view.space
    chosen = np.random.default_rng(0).integers(0, space.count, samples)
    theirs = per_context(by_hand.lof, chosen)
    lof = every(view, LOF())
    lof()
    ours, valid = seconds(lof, repeats=2)
    agree = sum(bool(valid[index]) == by_hand.lof(int(index)) for index in chosen[:100])
    table.add(
        f"all {space.count:,} contexts, LOF(20), 51,000 rows, every cell in use",
        f"scikit-learn {1000 * theirs:.1f} ms a context ({samples} sampled, {theirs * space.count / 3600:.0f} h)",
        f"{ours:.1f} s, {theirs * space.count / ours:,.0f}x ({agree} of {min(100, samples)} agree; it breaks ties by row order)",
        "≥ 8,000x",
    )
    theirs = per_context(by_hand.grubbs, chosen)
    ours, _ = seconds(every(view, Grubbs()))
    table.add(
        "all contexts, Grubbs",
        f"numpy and scipy {1000 * theirs:.2f} ms a context",
        f"{ours:.2f} s, {theirs * space.count / ours:,.0f}x",
        "≤ 1 s",
    )
    histogram = every(view, Histogram())
    histogram()
    ours, _ = seconds(histogram, repeats=1)
    table.add("all contexts, histogram", "–", f"{ours:.1f} s", "–")
    full = Plan(
        detector=Grubbs(),
        least=LEAST,
        epsilon=exact(1),
        neighbours="add-remove",
        contexts_log2=space.steps,
        max_rows=10**6,
        certificate=None,
    )
    ours, scores = seconds(lambda: full.scores(view), repeats=1)
    table.add(
        "all contexts, distance to flipping (full promise)",
        "–",
        f"{ours:.1f} s, {int((scores > 0).sum()):,} valid, furthest {int(scores.max())}",
        "–",
    )
    search(table, view, by_hand)


def search(table, view, by_hand):
    """Breadth-first search of 50 samples, deciding contexts as it comes to them."""
    selection = Exponential(exponent=exact("0.2") / 51, monotone=True)

    def ours():
        landscape = Landscape(view, decider(view, LOF()), Population())
        start = searches.first_valid(landscape)
        searches.draw(searches.bfs(landscape, start, 50), landscape.scores, selection, SeededEntropy(1))
        return landscape

    ours()
    best, landscape = seconds(ours)
    decided = list(landscape._known)  # noqa: SLF001 - how many contexts the search looked at
    each = per_context(by_hand.lof, np.random.default_rng(1).choice(decided, size=min(60, len(decided)), replace=False))
    table.add(
        f"bfs of 50 samples, LOF(20): {len(decided):,} contexts decided",
        f"scikit-learn in the same search: {each * len(decided):.0f} s (60 of them timed)",
        f"{1000 * best:.0f} ms, {each * len(decided) / best:,.0f}x",
        "≥ 300x",
    )


def growth(table, folder, sizes):
    """A whole answer from a parquet file: cells and nearest values are pushed down to DuckDB."""
    times = []
    for size in sizes:
        source = open_source(made_up(folder, size))
        query = Context(record="r0", metric="salary", by=NAMES, detector=LOF(), epsilon="0.2", search="bfs")

        def answer(source=source, query=query):
            with source.rows(query.columns) as rows:
                return query.run(rows, SeededEntropy(1))

        answer()
        took, _ = seconds(answer, repeats=2)
        times.append(took)
        table.add(f"answer (bfs, LOF) from parquet, {size:,} rows", "–", f"{took:.2f} s", "10^7 rows in 15 s")
    table.add(
        f"growth over {sizes[0]:,} to {sizes[-1]:,} rows", "–", f"exponent {exponent(sizes, times):.2f}", "≤ 1.05"
    )


if __name__ == "__main__":
    main()
