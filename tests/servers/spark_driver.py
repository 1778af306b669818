"""A process of its own that asks a cluster, as somebody's job would: python -m tests.servers.spark_driver FOLDER ADDRESS

FOLDER holds a folder for each question, with `rows.toml` and Parquet in `parts`; what was answered is printed as JSON. It opens no session:
Wallflower does, with the settings that it finds.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.contracts.engine_sources import categories, declare, numbers
from tests.contracts.registry import every_example
from tests.publish.test_whole_publications import caught
from wallflower.engines import open_source
from wallflower.engines.spark import tasks
from wallflower.errors import ReleaseFailed
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.schema.declaration import Becomes
from wallflower.session import Session

SPREAD = ("count", "subspaces", "identify")
"""Questions that are asked again with tasks on the executors."""
QUOTING = partial(np.testing.assert_equal, 0)
"""A task that fails, and quotes the rows that it was given."""


def release(example, folder: Path, address: str, **changes):
    declared = load(folder / "rows.toml")
    if not changes:
        Ledger.init(declared)
    moved = replace(declared, source=address, source_table=str(folder / "parts"), **changes)
    return Session(moved, open_source(moved), seed=11).release(example.query(folder)).value


def hostile_cells(folder: Path, address: str) -> list[list[int]]:
    """Cells that no number and no declared text are: every question reads them, and none may tell."""
    columns = (numbers(), categories(values=("a",), outside=Becomes(0)))
    declaration = replace(declare(*columns), source=address, source_table=str(folder / "hostile"))
    with open_source(declaration).rows(("x", "c")) as rows:
        rows.cells(["c"], "x", 3)
        rows.nearest(["c"], "x", 3, 2)
        rows.between(["c"], "x", 3, 4)
        rows.record("1")
        return sorted(rows.fetch(numbers=("x", "c")).numbers.tolist())


def in_regions(example, folder: Path, address: str) -> dict[str, object]:
    """A publication whose regions the executors group."""
    declared = load(folder / "rows.toml")
    moved = replace(declared, source=address, source_table=str(folder / "parts"), executors=True)
    query = replace(example.query(folder), regions=3)
    value = Session(moved, open_source(moved), seed=11).release(query).value
    return {"value": value, "file": Path(query.out).read_text(encoding="utf-8")}


def wrong_regions_are_caught(session) -> bool:
    """Planted: a task is sent the rows of its region alone, and takes them for the table."""

    def its_own_rows(work, regions):
        found = []
        for region in regions:
            alone = replace(work, places=np.ascontiguousarray(work.places[region]), flags=None)
            ((groups, left),) = tasks.run(session, alone, [np.arange(len(region))])
            found.append(([replace(group, rows=region[group.rows]) for group in groups], region[left]))
        return found

    return caught("matching", regions=2, run=its_own_rows)


def broken_view(session, folder: Path, address: str) -> str:
    """What is said when a view of the owner's fails on a cell."""
    session.read.parquet(str(folder / "cells")).createOrReplaceTempView("cells")
    session.sql("CREATE OR REPLACE TEMP VIEW breaks AS SELECT CAST(x AS DOUBLE) AS x FROM cells")
    declaration = replace(declare(numbers(), key=None), source=address, source_table="breaks")
    try:
        with open_source(declaration).rows(("x",)):
            return "read"
    except ReleaseFailed as error:
        return f"{error} {error!r}"


def failing_task(folder: Path, address: str) -> str:
    """What is said when a task fails on an executor with rows in its hands."""
    column = numbers(lower="0", upper=str(2**52), step="1")
    declaration = replace(
        declare(column, key=None), source=address, source_table=str(folder / "failing"), executors=True
    )
    with open_source(declaration).rows(("x",)) as rows:
        spread = rows.executors.spread(("x",))
        cut = spread.cut(0, below=0, above=0, most=10)
        try:
            spread.each(QUOTING, cut)
        except ReleaseFailed as error:
            return f"{error} {error!r}"
    return "done"


def _executors(session, wanted: int) -> int:
    """How many there are, once there are as many as wanted: on a busy machine one may join when all is answered."""
    for _ in range(1_200):
        found = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
        if found >= wanted:
            break
        time.sleep(0.1)
    return found


def main() -> None:
    folder, address = Path(sys.argv[1]), sys.argv[2]
    examples = {example.name: example for example in every_example()}
    answers = {each.name: release(examples[each.name], each, address) for each in sorted((folder / "asked").iterdir())}

    from pyspark.sql import SparkSession

    session = SparkSession.active()
    answers |= {
        f"{name} on executors": release(examples[name], folder / "asked" / name, address, memory=1024, executors=True)
        for name in SPREAD
        if (folder / "asked" / name).exists()
    }
    answers["failing task"] = failing_task(folder, address)
    answers["hostile cells"] = hostile_cells(folder, address)
    answers["in regions"] = in_regions(examples["publish-matching"], folder / "asked" / "publish-matching", address)
    answers["wrong regions"] = wrong_regions_are_caught(session)
    answers["broken view"] = broken_view(session, folder, address)
    found = {"answers": answers, "executors": _executors(session, 2), "master": session.sparkContext.master}
    sys.stdout.write(json.dumps(found) + "\n")
    session.stop()


if __name__ == "__main__":
    main()
