"""How long rows take to come in, and how much memory: each measurement in a process of its own, so that peaks are its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import duckdb

from benchmarks.harness import Table, exponent, peak_mebibytes, seconds
from wallflower.engines import open_source
from wallflower.schema.declaration import Becomes, Clip, Column, Declaration
from wallflower.schema.domains import Bins, Categories, Numbers

BY = ("title", "age")
COLUMNS = ("title", "age", "salary", "hours")
MEBIBYTE = 2**20


def declaration(path: Path) -> Declaration:
    def number(name: str, upper: int, step: str, edges: tuple[int, ...] = ()) -> Column:
        domain = Numbers(lower=Fraction(0), upper=Fraction(upper), step=Fraction(step))
        bins = Bins(edges, domain) if edges else None
        return Column(name=name, role="sensitive", domain=domain, outside=Clip(), missing=Becomes(0), bins=bins)

    titles = Categories(tuple(f"title {at}" for at in range(20)))
    columns = (
        Column(name="title", role="quasi-identifier", domain=titles, outside=Becomes(0), missing=Becomes(0)),
        number("age", 120, "1", (0, 18, 30, 45, 65)),
        number("salary", 5_000_000, "0.01"),
        number("hours", 100, "0.1"),
    )
    return Declaration(
        id="benchmark",
        source=path,
        key="person",
        neighbours="add-remove",
        max_rows=10**8,
        reviewed=True,
        test=True,
        ledger=Path("none"),
        budgets={},
        columns={column.name: column for column in columns},
        fingerprint="0",
    )


def generate(path: Path, rows: int) -> None:
    """By arithmetic alone, so that every run has the same rows."""
    values = f"""SELECT range AS person, 'title ' || (range * 7919 % 20) AS title, CAST(range * 104729 % 121 AS TINYINT) AS age,
        (range * 15485863 % 500000000) / 100.0 AS salary, (range * 32452843 % 1001) / 10.0 AS hours FROM range({rows})"""
    format_ = "PARQUET" if path.suffix == ".parquet" else "CSV, HEADER"
    with duckdb.connect(config={"memory_limit": "1GiB"}) as connection:
        connection.execute(f"COPY ({values}) TO '{path}' (FORMAT {format_})")


def one(task: str, path: Path) -> None:
    """Measure one question and print it."""
    if task.startswith("generate"):
        generate(path, int(task.partition(" ")[2]))
        return
    with open_source(declaration(path)).rows(COLUMNS) as rows:
        ask = {
            "nothing": lambda: None,
            "numbers": lambda: rows.fetch(numbers=COLUMNS),
            "codes": lambda: rows.fetch(codes=BY),
            "cells": lambda: rows.cells(BY, "salary", 5_000_000),
            "nearest": lambda: rows.nearest(BY, "salary", 5_000_000, 20),
            "record": lambda: rows.record("77"),
        }[task]
        elapsed, _ = seconds(ask, repeats=1)
    print(json.dumps({"seconds": elapsed, "mebibytes": peak_mebibytes()}))


def measured(task: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.engines", "--one", task, str(path)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(run.stdout or "{}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 10^6 rows instead of 10^7")
    parser.add_argument("--one", nargs=2, metavar=("TASK", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(asked.one[0], Path(asked.one[1]))
        return
    sizes = [10**5, 10**6] if asked.quick else [10**5, 10**6, 10**7]
    with tempfile.TemporaryDirectory() as folder:
        paths = {rows: Path(folder) / f"{rows}.parquet" for rows in sizes}
        for rows, path in paths.items():
            measured(f"generate {rows}", path)
        largest = paths[sizes[-1]]
        idle = measured("nothing", largest)["mebibytes"]
        table = Table(
            f"Rows in: {sizes[-1]:.0e} rows of 4 columns from Parquet (the process alone holds {idle:.0f} MiB)"
        )
        own = {"numbers": sizes[-1] * 4 * 8, "codes": sizes[-1] * 2 * 4}
        for task in ("numbers", "codes", "cells", "nearest", "record"):
            runs = [measured(task, path) for path in paths.values()]
            growth = exponent(sizes, [run["seconds"] for run in runs])
            above = runs[-1]["mebibytes"] - idle
            size = (
                f"; {above * MEBIBYTE / own[task]:.1f} times the {own[task] / MEBIBYTE:.0f} MiB it returns"
                if task in own
                else ""
            )
            table.add(
                task,
                f"{sizes[0]:.0e} rows: {runs[0]['seconds']:.2f} s",
                f"{runs[-1]['seconds']:.2f} s, peak {runs[-1]['mebibytes']:.0f} MiB{size}; exponent {growth:.2f}",
                "a few times its own size" if task in own else "exponent ≤ 1.05",
            )
        text = Path(folder) / "rows.csv"
        measured(f"generate {sizes[-1]}", text)
        run = measured("numbers", text)
        table.add(
            f"numbers, CSV ({text.stat().st_size / MEBIBYTE:.0f} MiB)",
            "–",
            f"{run['seconds']:.2f} s, peak {run['mebibytes']:.0f} MiB",
            "–",
        )
    subprocess.run([sys.executable, "-m", "benchmarks.engines.servers", *(["--quick"] * asked.quick)], check=True)


if __name__ == "__main__":
    main()
