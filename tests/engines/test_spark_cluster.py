"""A real cluster, however small: a master, two workers, shuffles between two JVMs, Spark's own settings, and a driver of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.contracts import test_same_release, test_spark, test_spark_regions
from tests.servers.spark_cluster import cluster
from tests.servers.spark_driver import QUOTING, SPREAD
from wallflower.geometry.strips import Strip

pytestmark = pytest.mark.slow
CELL, BROKEN = "canary-9043", "canary-5577"
"""In a cell that is read, and in one on which a view of the owner's fails."""
TASK = 773_011_744_092_137
"""The whole number of a row that a failing task quotes."""
ROOT = Path(__file__).resolve().parents[2]


def laid_out(folder: Path, example) -> None:
    folder.mkdir(parents=True)
    example.lay_out(folder, test=True)
    table = test_same_release.cells(folder / "rows.csv")
    (folder / "parts").mkdir()
    for at in range(4):
        begin, end = at * len(table) // 4, (at + 1) * len(table) // 4
        pq.write_table(table.slice(begin, end - begin), folder / "parts" / f"{at}.parquet")
    (folder / "rows.csv").unlink()


def told(folder: Path) -> str:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".jar"]
    return "".join(path.read_bytes().decode(errors="replace") for path in files)


SHORT = [example for example in test_spark.FEW if example.name in {"count", "explain exact", "publish-matching"}]
"""Rows compared in parts, rows added up, and regions; the campaign asks the questions of every area."""


@pytest.mark.parametrize("asked", [SHORT, pytest.param(test_spark.FEW, marks=pytest.mark.campaign)], ids=len)
def test_two_workers_answer_as_one_machine_and_tell_nothing(tmp_path, asked):
    for example in asked:
        laid_out(tmp_path / "asked" / example.name, example)
    for name, canary in (("hostile", CELL), ("cells", BROKEN)):
        (tmp_path / name).mkdir()
        for at in range(2):
            table = pa.table({"k": [str(at), canary], "x": ["1", canary], "c": ["a", canary]})
            pq.write_table(table, tmp_path / name / f"{at}.parquet")
    (tmp_path / "failing").mkdir()
    pq.write_table(pa.table({"x": [TASK, 1]}), tmp_path / "failing" / "0.parquet")
    with cluster() as place:
        command = [sys.executable, "-m", "tests.servers.spark_driver", str(tmp_path), place.address]
        environment = {**place.driver_environment, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        events, executors = told(place.events), told(place.work)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["master"] == place.address
    assert found["executors"] == 2
    for example in asked:
        (tmp_path / "expected").mkdir(exist_ok=True)
        expected = test_same_release.released(
            test_same_release.in_csv, example, _fresh(tmp_path / "expected" / example.name)
        )
        assert found["answers"][example.name] == json.loads(json.dumps(expected)), example.name
        if example.name in SPREAD:
            assert found["answers"][f"{example.name} on executors"] == found["answers"][example.name], example.name
    told_of_tasks = found["answers"]["failing task"] + done.stdout + done.stderr
    assert "could not be read" in told_of_tasks
    assert "a task failed on an executor" in executors
    with pytest.raises(AssertionError, match=str(TASK)):  # which is what the executor's own error said
        QUOTING(Strip(np.array([[TASK]]), 0, 1))
    assert str(TASK) not in told_of_tasks + executors + events
    value, file, _ = test_spark_regions.published(test_same_release.in_csv, tmp_path / "regions", 3)
    assert found["answers"]["in regions"] == {"value": json.loads(json.dumps(value)), "file": file.decode()}
    assert found["answers"]["wrong regions"] is True
    assert found["answers"]["hostile cells"] == [[0, 0]] * 2 + [[10, 0]] * 2
    said = found["answers"]["broken view"] + done.stdout + done.stderr
    assert "could not be read" in said
    assert CELL not in said + events + executors
    assert BROKEN not in said
    # Where a cell of a failing view is, as the docs say: the search above would have found the other one, too.
    assert BROKEN in executors
    assert BROKEN in events


def _fresh(folder: Path) -> Path:
    folder.mkdir()
    return folder
