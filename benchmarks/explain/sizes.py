"""LOF against the kernel it replaced, and whole streamed selections up to 2^30 contexts in bounded memory: one process a size."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.explain.rows import NAMES, made_up
from benchmarks.explain.walking import Walking
from benchmarks.harness import peak_mebibytes
from wallflower.detectors import LOF, Grubbs, Histogram
from wallflower.engines import open_source
from wallflower.explain import streaming
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

SHAPES = {18: (7, 7, 7), 22: (9, 8, 8), 26: (10, 10, 9), 30: (12, 11, 10)}
"""Values of the three columns, by log2 of how many contexts they make."""
ROUNDED = (1, 100, 1000)
ROUNDS = 3
MEMORY = 1024
SECONDS = 90


@contextmanager
def sight(folder: Path, *, shape=SHAPES[22], rounded=1, rows=51_000):
    """The rows as the first of them sees them, pay rounded to `rounded`."""
    declaration = made_up(folder, rows, shape=shape)
    if rounded > 1:
        file = folder / "rows.parquet"
        table = pq.read_table(file)
        pay = np.rint(table["salary"].to_numpy() / rounded) * rounded
        pq.write_table(table.set_column(table.column_names.index("salary"), "salary", pa.array(pay)), file)
    with open_source(declaration).rows((*NAMES, "salary")) as held:
        record = held.record("r0")
        languages = vocabularies(declaration, NAMES, dict.fromkeys(NAMES, "sets"))
        space = Space.of(languages.each, own=tuple(record.codes[name] for name in NAMES))
        yield RecordView(rows=held, space=space, metric="salary", centre=record.numbers["salary"], least=10)


def ratios(table, blocks: int | None) -> None:
    """CPU seconds of both kernels, turn by turn on the same contexts; every flag is compared."""
    for rounded in ROUNDED:
        with tempfile.TemporaryDirectory() as folder, sight(Path(folder), rounded=rounded) as view:
            kinds = {"walking": Walking(LOF(), view), "ours": decider(view, LOF())}
            chosen = list(view.blocks())[:blocks]
            for one in kinds.values():
                one.valid(chosen[0])
            spent, flags = {name: [] for name in kinds}, {}
            for _ in range(ROUNDS):
                for name, one in kinds.items():
                    began = time.process_time()
                    flags[name] = np.concatenate([one.valid(block) for block in chosen])
                    spent[name].append(time.process_time() - began)
            best = {name: min(times) for name, times in spent.items()}
            differ = int((flags["walking"] != flags["ours"]).sum())
            table.add(
                f"LOF(20), {len(flags['ours']):,} contexts, pay rounded to {rounded}",
                f"the kernel that walks, {best['walking']:.2f} CPU s",
                f"{best['ours']:.2f} CPU s, {best['walking'] / best['ours']:.2f}x, {differ} flags differ",
                "≥ 2.5x" if rounded == 1 else "≥ 1.8x",
            )


def whole_selections(table, log2s: list[int]) -> None:
    """Both passes of a streamed selection, each in a process of its own: time, processor time, memory."""
    for log2 in log2s:
        for kind in ("grubbs", "histogram", "full"):
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.explain.sizes", kind, str(log2)],
                capture_output=True,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout)
            table.add(
                f"{kind}, 2^{log2} contexts, both passes",
                "–",
                f"{found['wall']:.1f} s, {found['cpu']:.1f} CPU s, {2**log2 / found['wall']:,.0f} contexts/s, {found['memory']:,.0f} MiB",
                f"≤ {SECONDS} s, ≤ {MEMORY} MiB" if log2 == 30 else "–",
            )


def select(kind: str, log2: int) -> dict[str, float]:
    selection = Exponential(exponent=exact("0.2"), monotone=True)
    with tempfile.TemporaryDirectory() as folder, sight(Path(folder), shape=SHAPES[log2]) as view:
        if kind == "full":
            plan = Plan(
                detector=Grubbs(), least=10, epsilon=exact(1), neighbours="add-remove", contexts_log2=log2, max_rows=10**6,
                certificate=None, streamed=True,
            )  # fmt: skip
            plan.scorer(view).scores(view.few(np.arange(2)))  # compiles, and reads the rows
            began, used = time.perf_counter(), time.process_time()
            plan.run(view, SeededEntropy(1))
        else:
            land = Landscape(view, decider(view, Grubbs() if kind == "grubbs" else Histogram()), Population())
            land.valid([0, 1])
            began, used = time.perf_counter(), time.process_time()
            streaming.select(
                view,
                scores=land.block_scores,
                candidates=land.valid_places,
                selection=selection,
                h=1,
                entropy=SeededEntropy(1),
            )
        return {
            "wall": time.perf_counter() - began,
            "cpu": time.process_time() - used,
            "memory": peak_mebibytes(),
        }


if __name__ == "__main__":
    print(json.dumps(select(sys.argv[1], int(sys.argv[2]))))
