"""Tasks on the executors of a Spark cluster (a master, two workers on loopback) against one machine with all rows fetched.

Count and profile, subspaces, asked values and the owner's counts of `identify`, over the bell-shaped rows of `tiles`, with a memory that holds
a little less than all of them: about three parts. The integers must be the same. `rows sent` are the entries that travel to parts for each row, halo
included; what an engine's own copy takes is not in it. CPU seconds are of all processes: the driver's, the workers' JVMs and their Python.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from tests.servers.spark_cluster import cluster

from benchmarks.engines import tiles
from benchmarks.harness import Table
from wallflower.count import Subspaces
from wallflower.count.degrees import declared_ball
from wallflower.count.parts.degrees import DegreesOnExecutors, plan_of
from wallflower.count.queries import measure
from wallflower.engines import open_source
from wallflower.engines.spark.spread import SparkSpread
from wallflower.identify import Anomalies
from wallflower.identify.metric import metric_of
from wallflower.identify.owner_view import _looked_at
from wallflower.identify.parts import of_asked
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.declaration import Declaration, Model

ROOT = Path(__file__).resolve().parents[2]
ASKED = 200
TASKS = {
    "count": "count and its profile, 2 columns",
    "covers": "the same, with the rows near the threshold compared on executors, too",
    "subspaces": "subspaces of 1 of 2 columns",
    "identify": f"identify: {ASKED} asked values",
    "owner": "identify: what the owner is shown of every row",
}


def spread(declared: Declaration, address: str, path: Path, rows: int, task: str = "count") -> Declaration:
    """On the cluster, with a memory that holds a little less than all rows; or, for `covers`, than those near the threshold."""
    memory = {"covers": rows // 2, "subspaces": 50 * rows}.get(task, 100 * rows)
    return replace(declared, source=address, source_table=str(path), memory=memory, executors=True)


def ask(task: str, declared: Declaration, rows: int) -> str:
    """A digest of the integers that a task comes to; no noise is drawn but from a seed."""
    query = tiles.question(rows)
    model = Model(name="default", columns=("x", "y"), beta=5, radius=query.radius, k=2, epsilon=Fraction(1))
    declared = replace(declared, models={"default": model})
    with open_source(declared).rows(query.columns) as view:
        if task in {"count", "covers"}:
            answer: Any = measure(view, query.columns, query.radius, query.noise_for(declared))
        elif task == "subspaces":
            subspaces = Subspaces(columns=("x", "y"), size=1, top=1, neighbours=5, radius=query.radius, epsilon="1")
            answer = subspaces.run(view, SeededEntropy(3))
        elif task == "identify":
            asked = np.array([[at * 4801 % tiles.GRID, at * 7919 % tiles.GRID] for at in range(ASKED)], np.int64)
            answer = [each.tolist() for each in of_asked(view, metric_of(declared, model), asked, cap=50)]
        else:
            asking = Anomalies(values=({"x": 1, "y": 1},), epsilon="1")
            metric = metric_of(declared, model)
            found = _looked_at(view, metric, asking._answering(model, metric))  # noqa: SLF001 - what `inspect` shows, before it is drawn
            answer = [each.tolist() for each in found]
    return hashlib.sha256(repr(answer).encode()).hexdigest()[:16]


def rows_sent(declared: Declaration, rows: int) -> tuple[float, int]:
    """Entries that travel to parts for the degrees of a count, for each row; and how many parts there are."""
    query = tiles.question(rows)
    ball = declared_ball(declared, query.columns, query.radius)
    plan = plan_of(declared, query.columns, query.radius)
    with open_source(declared).rows(query.columns) as view:
        there, cut = DegreesOnExecutors(view, query.columns, ball, 5, plan)._parted()  # noqa: SLF001 - measured where it happens
        assert isinstance(there, SparkSpread)
        return there.placed(cut).count() / len(there), cut.parts


def one(folder: Path, address: str, sizes: list[int], tasks: list[str], roots: tuple[int, ...]) -> None:
    """Measure and print; in a process of its own, which opens the session."""
    from benchmarks.engines.servers import Peaks, cpu_seconds  # noqa: PLC0415 - which may call this file

    Peaks.roots = (os.getpid(), *roots)
    found: dict[str, Any] = {}
    for size in sizes:
        path = folder / f"bell{size}.parquet"
        here = replace(tiles.declaration(path, size), memory=2**50)
        for task in tasks:
            there = spread(here, address, path, size, task)
            before = cpu_seconds(Peaks.roots)
            alone = ask(task, here, size)
            between = cpu_seconds(Peaks.roots)
            told = ask(task, there, size)
            after = cpu_seconds(Peaks.roots)
            Peaks.look()
            found[f"{task} {size}"] = {"one": between - before, "spread": after - between, "same": alone == told}
            print(task, size, found[f"{task} {size}"], file=sys.stderr, flush=True)
        found[f"sent {size}"] = rows_sent(spread(here, address, path, size), size)
    mine, _ = Peaks.seen.pop(os.getpid())
    others = sorted((each for each in Peaks.seen.values() if each[1]), reverse=True)
    print(json.dumps({"found": found, "asking": mine, "others": others}))


def measured(place: Any, folder: Path, sizes: list[int], tasks: Sequence[str] = tuple(TASKS)) -> dict[str, Any]:
    """On a running cluster; `folder` holds the rows of `tiles.generate` as bellROWS.parquet, also of the 10,000 that warm it."""
    workers = [process.pid for process in place.processes[1:]]
    asked = json.dumps([str(folder), place.address, sizes, list(tasks), workers])
    command = [sys.executable, "-m", "benchmarks.engines.executors", "--one", asked]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=place.driver_environment, cwd=ROOT)
    return json.loads(run.stdout.splitlines()[-1])


def tell(run: dict[str, Any], size: int) -> None:
    table = Table(f"Tasks on two workers against one machine with all rows: {size:.0e} rows of 2 columns")
    for task, words in TASKS.items():
        if f"{task} {size}" not in run["found"]:
            continue
        each = run["found"][f"{task} {size}"]
        alike = "the same integers" if each["same"] else "OTHER INTEGERS"
        table.add(
            words,
            f"{each['one']:.1f} CPU s",
            f"{each['spread']:.1f} CPU s on the cluster; {alike}",
            "the same integers",
        )
    sent, parts = run["found"][f"sent {size}"]
    table.add("rows sent a row, for degrees", "–", f"{sent:.3f} to {parts} parts", "at most 1.1")
    largest = ", ".join(f"{part} {peak:.0f} MiB" for peak, part in run["others"][:4])
    table.add("peak memory", "–", f"asking process {run['asking']:.0f} MiB; {largest}", "–")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--only", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        folder, address, sizes, tasks, workers = json.loads(given.one)
        one(Path(folder), address, sizes, tasks, tuple(workers))
        return
    from benchmarks.engines.servers import SETTINGS, WARM  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory() as place:
        for size in (WARM, *given.rows):
            tiles.generate(Path(place) / f"bell{size}.parquet", size)
        with cluster(SETTINGS) as running:
            run = measured(running, Path(place), [WARM, *given.rows], given.only)
    for size in given.rows:
        tell(run, size)


if __name__ == "__main__":
    main()
