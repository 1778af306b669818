"""Regions of a publication on Spark's executors: the same groups as in this process, bit for bit, and no wrong flag passes there either."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.contracts import test_same_release
from tests.contracts.registry import every_example
from tests.contracts.test_spark import in_spark
from tests.publish.test_regions import LEVELS, checker, written  # noqa: F401 - a fixture
from tests.publish.test_whole_publications import caught
from tests.servers import spark
from wallflower.engines import open_source
from wallflower.engines.spark import tasks
from wallflower.errors import DeclarationError, ReleaseFailed
from wallflower.ledger import Ledger
from wallflower.publish.anonymise import anonymise
from wallflower.publish.checker import Checker
from wallflower.publish.diversity import Demands
from wallflower.publish.regions import RegionWork, in_turn
from wallflower.schema import load
from wallflower.session import Session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("spark_session"),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
]
ROWS = 120
EXAMPLE = next(each for each in every_example() if each.name == "publish-matching")


def on_executors(work, regions):
    return tasks.run(spark.session(), work, regions)


@pytest.mark.parametrize("level", ["matching", "candidate"])
def test_executors_group_as_one_process_does(checker, level):  # noqa: F811
    asked = {"level": level, "k": 4, "method": LEVELS[level], "regions": 3}
    here = anonymise(checker, **asked, run=in_turn)
    assert here.published > 100
    there = anonymise(Checker(checker.space, checker.places), **asked, run=on_executors)
    assert written(there) == written(here)


def with_executors(declared):
    return replace(in_spark(declared), executors=True)


def published(place, folder: Path, regions: int):
    """What was said, what was written, and how its price says that rows were read."""
    folder.mkdir()
    declared = load(EXAMPLE.lay_out(folder, test=True))
    Ledger.init(declared)
    moved, query = place(declared), replace(EXAMPLE.query(folder), regions=regions)
    value = Session(moved, open_source(moved), seed=11).release(query).value
    return value, Path(query.out).read_bytes(), query.price(moved).settings["plan"]


def test_the_same_file_with_the_same_number_of_regions(tmp_path, monkeypatch):
    sent = []
    run = tasks.run

    def watched(session, task, payloads, **options):
        if isinstance(task, RegionWork) and len(task.places) == ROWS:  # and not the rows that a question is tried on
            sent.append(len(payloads))
        return run(session, task, payloads, **options)

    monkeypatch.setattr(tasks, "run", watched)
    in_one = published(test_same_release.in_csv, tmp_path / "one", 3)
    assert not sent
    on_many = published(with_executors, tmp_path / "many", 3)
    assert sent == [3]
    assert on_many[:2] == in_one[:2]
    assert in_one[2] == "regions: 3, one after the other"
    assert on_many[2] == "regions: 3, on the executors, each with all rows"
    assert published(with_executors, tmp_path / "whole", 1)[2].startswith("fetch: ")
    assert sent == [3]


# --- planted bugs ---


def its_own_rows(work, regions):
    """A task that is sent the rows of its region alone, and takes them for the table."""
    found = []
    for region in regions:
        alone = replace(work, places=np.ascontiguousarray(work.places[region]), flags=None)
        ((groups, left),) = on_executors(alone, [np.arange(len(region))])
        found.append(([replace(group, rows=region[group.rows]) for group in groups], region[left]))
    return found


def test_the_judge_notices_a_task_that_asks_its_own_rows():
    assert caught("matching", regions=2, run=its_own_rows)


def test_a_task_that_fails_tells_nothing_of_its_rows(checker, capfd):  # noqa: F811
    work = RegionWork(
        space=checker.space, places=checker.places, level="matching", k=4, method="shed", least=4, demands=Demands()
    )
    with pytest.raises((IndexError, ValueError)):
        work(np.array([424_242]))
    with pytest.raises(ReleaseFailed) as failed:
        on_executors(work, [np.array([424_242])])
    told = capfd.readouterr()
    assert "424242" not in str(failed.value) + repr(failed.value) + told.out + told.err
    assert failed.value.__context__ is None


def test_executors_without_this_package_are_refused_before_the_charge(tmp_path, monkeypatch):
    def gone(*_):
        raise ModuleNotFoundError("No module named 'wallflower'")

    monkeypatch.setattr(tasks, "_run", gone)
    folder = tmp_path / "refused"
    folder.mkdir()
    declared = load(EXAMPLE.lay_out(folder, test=True))
    Ledger.init(declared)
    moved, query = with_executors(declared), replace(EXAMPLE.query(folder), regions=3)
    with pytest.raises(DeclarationError, match="executors"):
        Session(moved, open_source(moved), seed=11).release(query)
    assert not Path(query.out).exists()
    assert not [event for event in Ledger.open(declared).history() if event.to_json()["kind"] == "charge"]
