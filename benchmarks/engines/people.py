"""Joining the rows of people, ten a person, against reading the same rows: CPU seconds in one run, each in a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import duckdb

from benchmarks.engines.__main__ import COLUMNS, declaration
from benchmarks.harness import Table, peak_mebibytes
from wallflower.engines import open_source
from wallflower.schema.declaration import Declaration, Reducer

PLAIN: tuple[Reducer, ...] = ("max", "mean", "sum", "min")
TIMED: tuple[Reducer, ...] = ("most-common", "latest", "sum", "earliest")


def people(path: Path, reducers: tuple[Reducer, ...]) -> Declaration:
    base = declaration(path)
    pairs = zip(base.columns.items(), reducers, strict=True)
    columns = {name: replace(column, per_person=reducer) for (name, column), reducer in pairs}
    return replace(base, columns=columns, unit="person", person="person", time="day")


def generate(path: Path, rows: int) -> None:
    """By arithmetic alone; the rows of a person are scattered over the file."""
    values = f"""SELECT range * 7919 % {rows // 10} AS person, 'title ' || (range * 7919 % 20) AS title,
        CAST(range * 104729 % 121 AS TINYINT) AS age, (range * 15485863 % 500000000) / 100.0 AS salary,
        (range * 32452843 % 1001) / 10.0 AS hours, DATE '2000-01-01' + CAST(range * 17 % 9000 AS INTEGER) AS day FROM range({rows})"""
    with duckdb.connect(config={"memory_limit": "1GiB"}) as connection:
        connection.execute(f"COPY ({values}) TO '{path}' (FORMAT PARQUET)")


def one(task: str, path: Path) -> None:
    asked = {"read": declaration(path), "plain": people(path, PLAIN), "timed": people(path, TIMED)}[task]
    before = time.process_time()
    with open_source(asked).rows(COLUMNS) as rows:
        found = len(rows.fetch(numbers=COLUMNS).numbers)
    print(json.dumps({"cpu": time.process_time() - before, "mebibytes": peak_mebibytes(), "rows": found}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^6 rows instead of 10^7")
    parser.add_argument("--one", nargs=2, metavar=("TASK", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(asked.one[0], Path(asked.one[1]))
        return
    size = 10**6 if asked.quick else 10**7
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        generate(path, size)
        runs = {}
        for task in ("read", "plain", "timed"):
            command = [sys.executable, "-m", "benchmarks.engines.people", "--one", task, str(path)]
            runs[task] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        table = Table(f"People: {size:.0e} rows of {size // 10:.0e} people, 4 columns, from Parquet")
        for task, words in (("plain", "max, mean, sum, min"), ("timed", "most-common, latest, sum, earliest")):
            ratio = runs[task]["cpu"] / runs["read"]["cpu"]
            table.add(
                words,
                f"reading: {runs['read']['cpu']:.2f} CPU s, {runs['read']['mebibytes']:.0f} MiB",
                f"{runs[task]['cpu']:.2f} CPU s, {ratio:.1f} times, peak {runs[task]['mebibytes']:.0f} MiB",
                "3 times reading",
            )


if __name__ == "__main__":
    main()
