"""A count with its profile in strips that DuckDB sorts, against the same with all rows fetched: CPU seconds and peak memory.

Each measurement runs in a process of its own on the same bell-shaped rows of two columns: dense in the middle, sparse at the edge. Both ways
must give the same integers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb

from benchmarks.harness import Table, exponent, peak_mebibytes
from wallflower.count import Outliers
from wallflower.count.queries import measure
from wallflower.engines import open_source
from wallflower.engines.made_up import made_up_rows
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.declaration import Becomes, Clip, Column, Declaration
from wallflower.schema.domains import Numbers

GRID = 10**6
SMALL, LARGE = 2**26, 2**29
"""Bytes for strips: about 320,000 rows at a time, and from 10^8 rows on, whose halos are larger, 2.6 million."""


def declaration(path: Path, rows: int) -> Declaration:
    domain = Numbers(lower=Fraction(0), upper=Fraction(GRID), step=Fraction(1))
    columns = {
        name: Column(name=name, role="sensitive", domain=domain, outside=Clip(), missing=Becomes(0)) for name in "xy"
    }
    return Declaration(
        id="benchmark",
        source=path,
        key=None,
        neighbours="add-remove",
        max_rows=rows,
        reviewed=True,
        test=True,
        ledger=Path("none"),
        budgets={},
        columns=columns,
        fingerprint="0",
    )


def generate(path: Path, rows: int) -> None:
    """By arithmetic alone: each number is the sum of four that are spread evenly."""

    def bell(salt: int) -> str:
        return " + ".join(f"hash(range * 8 + {salt + at}) % {GRID // 4}" for at in range(4))

    values = f"SELECT CAST({bell(0)} AS BIGINT) AS x, CAST({bell(4)} AS BIGINT) AS y FROM range({rows})"
    with duckdb.connect(config={"memory_limit": "1GiB", "temp_directory": str(path.parent)}) as connection:
        connection.execute(f"COPY ({values}) TO '{path}' (FORMAT PARQUET)")


def question(rows: int) -> Outliers:
    """The radius shrinks as rows grow, so that about as many are near a row."""
    return Outliers(
        columns=("x", "y"), neighbours=5, radius=Fraction(6 * GRID, round(rows**0.5)), epsilon="1", noise="lomax"
    )


def one(task: str, path: Path, rows: int) -> None:
    query = question(rows)
    declared = replace(declaration(path, rows), memory=2**50 if task == "fetch" else SMALL if rows < 10**8 else LARGE)
    noise = query.noise_for(declared)
    with made_up_rows(declared, query.columns) as made_up:
        query.run(made_up, SeededEntropy(0))
    before = time.process_time()
    with open_source(declared).rows(query.columns) as held:
        count, profile = measure(held, query.columns, query.radius, noise)
    told = hashlib.sha256(repr((count, profile)).encode()).hexdigest()[:12]
    cpu = time.process_time() - before
    print(json.dumps({"cpu": cpu, "mebibytes": peak_mebibytes(), "count": count, "told": told}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3·10^5 and 10^6 rows instead of 10^6 to 10^7")
    parser.add_argument("--large", action="store_true", help="also 10^8 rows, in strips alone (1.3 GB of rows on disk)")
    parser.add_argument("--one", nargs=3, metavar=("TASK", "FILE", "ROWS"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(asked.one[0], Path(asked.one[1]), int(asked.one[2]))
        return
    sizes = [300_000, 10**6] if asked.quick else [10**6, 3 * 10**6, 10**7]
    table = Table("Counting with a profile, 2 columns, from Parquet: strips in 64 MiB against all rows fetched")
    spent = []
    for size in [*sizes, *([10**8] if asked.large else [])]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            generate(path, size)
            runs = {task: _run(task, path, size) for task in (("fetch", "tiles") if size in sizes else ("tiles",))}
        tiles, fetch = runs["tiles"], runs.get("fetch")
        if fetch is not None and fetch["told"] != tiles["told"]:
            raise SystemExit(f"strips and the whole table disagree at {size} rows: {runs}")
        spent.append(tiles["cpu"])
        table.add(
            f"{size:.0e} rows, {tiles['count']} outliers",
            "not run" if fetch is None else f"fetch: {fetch['cpu']:.1f} CPU s, {fetch['mebibytes']:.0f} MiB",
            f"{tiles['cpu']:.1f} CPU s"
            + ("" if fetch is None else f", {tiles['cpu'] / fetch['cpu']:.2f} times")
            + f", peak {tiles['mebibytes']:.0f} MiB",
            "the same integers; at most 3 times",
        )
    grown = [*sizes, 10**8][: len(spent)]
    table.add("growth of CPU seconds with rows", "–", f"exponent {exponent(grown, spent):.2f}", "about 1")


def _run(task: str, path: Path, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.engines.tiles", "--one", task, str(path), str(size)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


if __name__ == "__main__":
    main()
