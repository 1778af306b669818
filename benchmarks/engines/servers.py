"""PostgreSQL and Spark against DuckDB: what each engine does for each area, over the same rows, in one run.

A question is asked as a release asks it, from opening the source to the last row that comes back, so that Spark's copy of the declared columns is
in every figure. Seconds are CPU seconds of all processes that took part: the asking one, the server's, the driver's and the executors' JVMs.
Spark is a master with two workers on loopback, PostgreSQL a server on loopback, DuckDB reads Parquet on one thread or two as it likes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
from tests.servers.postgresql import Server, discard, make
from tests.servers.spark_cluster import cluster

from benchmarks.engines import people, tiles
from benchmarks.engines.__main__ import BY, COLUMNS, declaration, generate
from benchmarks.engines.watching import TICK, Peaks, Sent, cpu_seconds
from benchmarks.harness import Table
from wallflower.count import Subspaces
from wallflower.count.queries import measure
from wallflower.engines import open_source
from wallflower.engines.base import Fetched
from wallflower.engines.duckdb.database import Database
from wallflower.engines.postgresql.snapshot import Snapshot as PostgresSnapshot
from wallflower.engines.profile import Tally
from wallflower.engines.spark.snapshot import Snapshot as SparkSnapshot
from wallflower.identify.metric import metric_of
from wallflower.identify.parts import of_asked
from wallflower.noise.entropy import SeededEntropy
from wallflower.publish import PlainTable
from wallflower.publish.publication import Terms, publication_of
from wallflower.schema.declaration import Declaration, Model

ROOT = Path(__file__).resolve().parents[2]
WARM = 10_000
"""Rows that are asked about first: a JVM compiles, and Python imports, before anything is measured."""
CENTRE = 5_000_000
SERVER_ROWS = """CREATE TABLE {name} AS SELECT {person} AS person, 'title ' || (i * 7919 % 20) AS title,
    CAST(i * 104729 % 121 AS smallint) AS age, CAST(i * 15485863 % 500000000 AS float8) / 100 AS salary,
    CAST(i * 32452843 % 1001 AS float8) / 10 AS hours, DATE '2000-01-01' + CAST(i * 17 % 9000 AS int) AS day
    FROM generate_series(0::bigint, {last}) AS i"""
SETTINGS = {
    # What the tests' cluster does without, so that many small questions are cheap: a compiler that does its best, and some memory.
    "spark.executor.extraJavaOptions": "-XX:+UseParallelGC",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
    "spark.executor.memory": "1g",
    "spark.driver.memory": "1g",
    "spark.eventLog.enabled": "false",
}
QUESTIONS: dict[str, str] = {
    "cells": "explain: statistics of 100 cells",
    "nearest": "explain: 20 nearest values a side in each",
    "between": "explain: rows of each within a distance",
    "record": "explain: the asked-for record",
    "fetch 2": "count, identify: 2 columns",
    "fetch 4": "subspaces, publish: 4 columns",
    "people": "people: 10 rows a person joined, 4 columns",
    "check": "check: every cell judged",
}
STRIPS: dict[str, str] = {
    "count": "count and its profile, 2 columns",
    "subspaces": "subspaces of 1 of 2 columns",
    "identify": "identify: 200 asked values, 2 columns",
}
"""Where not all rows are held at once: PostgreSQL and Spark in strips, with a third of the memory that all rows would take, DuckDB with all rows fetched.
The rows are those of `tiles`."""
REGIONS = 4
"""Of a publication: grouped in turn by one process, or side by side by two workers."""
PUSHED_DOWN = ("cells", "between")
"""Asked of ten times as many rows too, so that what another row costs can be told."""


def publish(declared: Declaration) -> list[Any]:
    """Groups in regions, of the 4 columns: who is published with whom, and who is not."""
    query = PlainTable(columns=COLUMNS, out="none.csv", k=10, p="0.9", d="0.7")
    roles = {name: "sensitive" if name == "salary" else "quasi-identifier" for name in COLUMNS}
    columns = {name: replace(column, role=roles[name]) for name, column in declared.columns.items()}
    terms = Terms(k=10, level=query.level, method=str(query.method), least=10, demands=query.demands, regions=REGIONS)
    published = replace(declared, columns=columns, max_rows=2 * 10**6, executors=True)
    with open_source(published).rows(COLUMNS) as rows:
        grouping = publication_of(rows, query.space(published), terms=terms).grouping
        Peaks.look()
    return [[group.rows.tolist() for group in grouping.groups], grouping.suppressed.tolist()]


def ask_in_strips(task: str, declared: Declaration, rows: int) -> Any:
    query = tiles.question(rows)
    with open_source(declared).rows(query.columns) as view:
        if task == "count":
            answer: Any = measure(view, query.columns, query.radius, query.noise_for(declared))
        elif task == "subspaces":
            subspaces = Subspaces(columns=("x", "y"), size=1, top=1, neighbours=5, radius=query.radius, epsilon="1")
            answer = subspaces.run(view, SeededEntropy(3))
        else:
            model = Model(name="default", columns=("x", "y"), beta=5, radius=query.radius, k=2, epsilon=Fraction(1))
            asked = np.array([[at * 4801 % tiles.GRID, at * 7919 % tiles.GRID] for at in range(200)], np.int64)
            answer = [each.tolist() for each in of_asked(view, metric_of(declared, model), asked, cap=50)]
        Peaks.look()
    return answer


def ask(task: str, declared: Declaration) -> Any:
    source: Any = open_source(declared)
    if task == "check":
        return source.tally(COLUMNS)
    with source.rows(COLUMNS[2:] if task == "fetch 2" else COLUMNS) as rows:
        asks: dict[str, Callable[[], Any]] = {
            "cells": lambda: rows.cells(BY, "salary", CENTRE),
            "nearest": lambda: rows.nearest(BY, "salary", CENTRE, 20),
            "between": lambda: rows.between(BY, "salary", CENTRE - 10**6, CENTRE + 10**6),
            "record": lambda: rows.record("77"),
            "fetch 2": lambda: rows.fetch(numbers=COLUMNS[2:]),
            "fetch 4": lambda: rows.fetch(numbers=COLUMNS),
            "people": lambda: rows.fetch(numbers=COLUMNS),
        }
        answer = asks[task]()
        Peaks.look()
        return answer


def digest(answer: Any) -> str:
    """The same for the same answer; the order of fetched rows means nothing."""
    if isinstance(answer, Fetched):
        numbers = answer.numbers[np.lexsort(answer.numbers.T)]
        return hashlib.sha256(numbers.tobytes()).hexdigest()
    if isinstance(answer, Tally):
        return repr(
            (
                answer.rows,
                answer.leaving,
                answer.repeated_keys,
                {k: sorted(v.items()) for k, v in answer.states.items()},
            )
        )
    if isinstance(answer, np.ndarray):
        return hashlib.sha256(answer.tobytes()).hexdigest()
    parts = [each.tolist() if isinstance(each, np.ndarray) else each for each in vars(answer).values()]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def places(engine: str, folder: Path, address: str, size: int) -> tuple[Declaration, Declaration]:
    """Rows, and people, of one size."""
    plain, joined = (
        declaration(folder / f"rows{size}.parquet"),
        people.people(folder / f"people{size}.parquet", people.TIMED),
    )
    if engine == "DuckDB":
        return plain, joined
    tables = (f"rows{size}", f"people{size}")
    if engine == "Spark":
        tables = (str(plain.source), str(joined.source))
    return replace(plain, source=address, source_table=tables[0]), replace(
        joined, source=address, source_table=tables[1]
    )


def one(engine: str, folder: Path, address: str, work: dict[int, list[str]], roots: tuple[int, ...]) -> None:
    """Measure one engine and print it."""
    Sent.watch(Database, PostgresSnapshot, SparkSnapshot)
    Peaks.roots = (os.getpid(), *roots)
    rows, joined = places(engine, folder, address, WARM)
    for task in QUESTIONS:
        ask(task, joined if task == "people" else rows)
    measured = {}
    for size, tasks in work.items():
        rows, joined = places(engine, folder, address, size)
        for task in tasks:
            Sent.rows()
            before = cpu_seconds(Peaks.roots)
            answer = ask(task, joined if task == "people" else rows)
            cpu = cpu_seconds(Peaks.roots) - before
            measured[f"{task} {size}"] = {"cpu": cpu, "sent": Sent.rows(), "digest": digest(answer)}
            progress(engine, f"{task} {size}", cpu)
    for task in STRIPS:
        for size in (WARM, min(work)):
            path = folder / f"bell{size}.parquet"
            declared = replace(tiles.declaration(path, size), memory=2**50)
            if engine != "DuckDB":
                table = str(path) if engine == "Spark" else path.stem
                declared = replace(declared, source=address, source_table=table, memory=32 * size)
            Sent.rows()
            before = cpu_seconds(Peaks.roots)
            answer = ask_in_strips(task, declared, size)
            cpu = cpu_seconds(Peaks.roots) - before
            measured[f"{task} {size}"] = {"cpu": cpu, "sent": Sent.rows(), "digest": repr(answer)}
            progress(engine, f"{task} {size}", cpu)
    for size in (WARM, min(work) // 10):
        rows, _ = places(engine, folder, address, size)
        before = cpu_seconds(Peaks.roots)
        answer = publish(rows)
        cpu = cpu_seconds(Peaks.roots) - before
        measured[f"publish {size}"] = {"cpu": cpu, "digest": hashlib.sha256(repr(answer).encode()).hexdigest()}
        progress(engine, f"publish {size}", cpu)
    mine, _ = Peaks.seen.pop(os.getpid())
    others = sorted((each for each in Peaks.seen.values() if each[1]), reverse=True)
    print(json.dumps({"measured": measured, "asking": mine, "others": others}))


def progress(engine: str, task: str, cpu: float) -> None:
    """To the error stream, so that a long run shows where it is."""
    print(f"{time.monotonic():.0f} {engine}: {task}, {cpu:.2f} CPU s", file=sys.stderr, flush=True)


def main(*, quick: bool = False) -> None:
    size, large = (10**5, 10**6) if quick else (10**6, 10**7)
    work = {size: list(QUESTIONS), large: list(PUSHED_DOWN)}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = make({"max_wal_size": "4GB"})
        stack.callback(discard, server)
        for rows in sorted({WARM, size // 10, size, large}):
            generate(folder / f"rows{rows}.parquet", rows)
            server.execute(SERVER_ROWS.format(name=f"rows{rows}", person="i", last=rows - 1))
            if rows in (WARM, size):
                tiles.generate(folder / f"bell{rows}.parquet", rows)
                copy(folder / f"bell{rows}.parquet", server)
                people.generate(folder / f"people{rows}.parquet", rows)
                person = f"i * 7919 % {rows // 10}"
                server.execute(SERVER_ROWS.format(name=f"people{rows}", person=person, last=rows - 1))
        postmaster = int((server.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        found = {
            "DuckDB": measured("DuckDB", folder, "-", work),
            "PostgreSQL": measured("PostgreSQL", folder, server.address(), work, roots=(postmaster,)),
        }
        spark = stack.enter_context(cluster(SETTINGS))
        workers = tuple(process.pid for process in spark.processes[1:])
        found["Spark"] = measured(
            "Spark", folder, spark.address, work, roots=workers, environment=spark.driver_environment
        )
    tell(found, work, size)


def copy(path: Path, server: Server) -> None:
    """The rows of a Parquet file, in a table of the server with the file's name."""
    texts = path.with_suffix(".csv")
    duckdb.sql(f"COPY (SELECT x, y FROM '{path}') TO '{texts}' (FORMAT CSV, HEADER false)")
    server.execute(f"CREATE TABLE {path.stem} (x bigint, y bigint)")
    with (
        psycopg.connect(server.address(), autocommit=True) as connection,
        connection.cursor() as cursor,
        cursor.copy(f"COPY {path.stem} FROM STDIN (FORMAT csv)") as into,
        texts.open("rb") as file,
    ):
        while part := file.read(2**20):
            into.write(part)


def measured(
    engine: str,
    folder: Path,
    address: str,
    work: dict[int, list[str]],
    *,
    roots: tuple[int, ...] = (),
    environment: dict[str, str] | None = None,
) -> dict[str, Any]:
    asked = json.dumps([engine, str(folder), address, list(work.items()), roots])
    command = [sys.executable, "-m", "benchmarks.engines.servers", "--one", asked]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    return json.loads(run.stdout.splitlines()[-1])


def tell(found: dict[str, Any], work: dict[int, list[str]], size: int) -> None:
    table = Table(f"PostgreSQL and Spark (a master, two workers) against DuckDB: {size:.0e} rows of 5 columns")
    for rows, tasks in work.items():
        for task in tasks:
            base = found["DuckDB"]["measured"][f"{task} {rows}"]
            said = []
            for engine in ("PostgreSQL", "Spark"):
                run = found[engine]["measured"][f"{task} {rows}"]
                ratio = run["cpu"] / max(base["cpu"], 1 / TICK)
                said.append(f"{engine} {run['cpu']:.1f} CPU s, {ratio:.0f} times, {run['sent']} rows sent")
            words = QUESTIONS[task] + (f", {rows:.0e} rows" if rows != size else "")
            alike = all(run["measured"][f"{task} {rows}"]["digest"] == base["digest"] for run in found.values())
            said.append("the same answer" if alike else "ANOTHER ANSWER")
            table.add(
                words, f"DuckDB {base['cpu']:.2f} CPU s, {base['sent']} rows sent", "; ".join(said), "the same answer"
            )
    for task, words in STRIPS.items():
        fetched = found["DuckDB"]["measured"][f"{task} {size}"]
        said = []
        for engine in ("PostgreSQL", "Spark"):
            strips = found[engine]["measured"][f"{task} {size}"]
            alike = "the same integers" if fetched["digest"] == strips["digest"] else "OTHER INTEGERS"
            ratio = strips["cpu"] / max(fetched["cpu"], 1 / TICK)
            said.append(
                f"{engine} {strips['cpu']:.1f} CPU s, {ratio:.0f} times, {strips['sent'] / size:.2f} rows sent a row, {alike}"
            )
        table.add(
            f"{words}, in strips",
            f"DuckDB, all rows fetched: {fetched['cpu']:.1f} CPU s",
            "; ".join(said),
            "the same integers; at most 1.1 rows sent a row",
        )
    base = found["DuckDB"]["measured"][f"publish {size // 10}"]
    said = []
    for engine in ("PostgreSQL", "Spark"):
        run = found[engine]["measured"][f"publish {size // 10}"]
        alike = "the same groups" if run["digest"] == base["digest"] else "OTHER GROUPS"
        said.append(f"{engine} {run['cpu']:.0f} CPU s, {run['cpu'] / base['cpu']:.1f} times, {alike}")
    table.add(
        f"publish in {REGIONS} regions, {size // 10:.0e} rows, 4 columns, on Spark by the executors",
        f"DuckDB, in turn: {base['cpu']:.0f} CPU s",
        "; ".join(said),
        "the same groups",
    )
    for engine, run in found.items():
        largest = ", ".join(f"{part} {size:.0f} MiB" for size, part in run["others"][:5])
        words = f"asking process {run['asking']:.0f} MiB" + (f"; {largest}" if largest else "")
        table.add(f"peak memory, {engine}", "–", words, "–")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^5 rows, and 10^6 for cells, instead of 10^6 and 10^7")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        name, place, where, todo, started = json.loads(given.one)
        one(name, Path(place), where, {int(rows): tasks for rows, tasks in todo}, tuple(started))
    else:
        main(quick=given.quick)
