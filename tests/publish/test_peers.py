"""What `benchmarks/publish` says of other tools: the measures, and the way to ARX and back.

ARX itself is not part of the tests. A stand-in with the signatures that the program calls takes its place: it generalises every column
but the first to the root and suppresses groups that are too small.
"""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from benchmarks.publish import arx, quality
from benchmarks.publish.census import census_like, census_space
from benchmarks.publish.usefulness import attacked, described, local_recoding

from wallflower.publish.checker import Checker

STAND_IN = Path(__file__).with_name("ArxStandIn.txt")
ROWS = 600


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker(census_space(), census_like(ROWS))


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> str:
    if shutil.which("javac") is None or shutil.which("java") is None:
        pytest.skip("needs javac and java")
    folder = tmp_path_factory.mktemp("stand-in")
    sources = []
    for part in STAND_IN.read_text(encoding="utf-8").split("//// ")[1:]:
        name, text = part.split("\n", 1)
        sources.append(folder / name)
        sources[-1].parent.mkdir(parents=True, exist_ok=True)
        sources[-1].write_text(text, encoding="utf-8")
    subprocess.run(
        ["javac", *arx.QUICK_START, "-d", str(folder / "classes"), *map(str, sources)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return str(folder / "classes")


def test_a_program_compiled_against_the_jar_gives_groups_back(checker, jar, monkeypatch):
    monkeypatch.setenv("ARX_JAR", jar)
    found = arx.recoded(checker.space, checker.places, k=10, distinct=10)
    ages = checker.places[:, 0] // 8
    expected = {
        tuple(np.flatnonzero(ages == age).tolist())
        for age in np.unique(ages)
        if len(np.unique(checker.places[ages == age, -1])) >= 10
    }
    assert {tuple(rows.tolist()) for rows in found.groups} == expected
    assert len(found.suppressed) == ROWS - sum(map(len, expected)) > 0
    assert set(found.low[:, 0].tolist()) <= set(range(0, 78, 8))
    assert (found.high[:, 1:] == [axis.size - 1 for axis in checker.space.quasi[1:]]).all()
    assert found.cpu >= 0
    made = local_recoding(checker, found)
    assert f"of {checker.outlying.sum()} outliers published" in attacked(checker, made)
    assert f"left out {len(found.suppressed) / ROWS:.2%}" in described(checker, made)


@pytest.mark.parametrize(
    ("named", "said"), [(None, "not run: ARX_JAR"), ("", "not run: ARX_JAR"), ("nowhere.jar", "names nowhere.jar")]
)
def test_without_the_jar_the_reason_is_said(checker, monkeypatch, named, said):
    monkeypatch.delenv("ARX_JAR", raising=False)
    if named is not None:
        monkeypatch.setenv("ARX_JAR", named)
    with pytest.raises(arx.NotRunError, match=said):
        arx.recoded(checker.space, checker.places, k=10, distinct=10)


def test_a_jar_that_is_not_arx_is_a_reason_and_no_crash(checker, jar, monkeypatch, tmp_path):
    del jar  # only where there is a javac
    monkeypatch.setenv("ARX_JAR", os.fspath(tmp_path))
    with pytest.raises(arx.NotRunError, match="did not run"):
        arx.recoded(checker.space, checker.places, k=10, distinct=10)


def published(places: np.ndarray) -> list[list[str]]:
    return [
        [*("*" if row % 3 == 0 else str(cell) for cell in line[:-1]), str(line[-1])] for row, line in enumerate(places)
    ]


def test_rows_in_another_order_and_cells_of_others_are_refused():
    places = census_like(30)
    lines = published(places)
    assert arx.read_back(lines, places, 0.0).suppressed.tolist() == list(range(0, 30, 3))
    with pytest.raises(ValueError, match="in their order"):
        arx.read_back(lines[::-1], places, 0.0)
    moved = [list(line) for line in lines]
    moved[1][0] = str(places[1, 0] + 1)
    with pytest.raises(ValueError, match="outside the cells"):
        arx.read_back(moved, places, 0.0)


def test_hierarchies_are_nested_and_end_at_the_root():
    for axis in census_space().quasi:
        lines = arx.levels(axis)
        assert len({len(line) for line in lines}) == 1
        assert {line[-1] for line in lines} == {f"0..{axis.size - 1}"}
        for level in range(1, len(lines[0])):
            for place, line in enumerate(lines):
                first, last = map(int, line[level].split(".."))
                assert first <= place <= last
        for finer, coarser in zip(zip(*lines, strict=True), list(zip(*lines, strict=True))[1:], strict=False):
            assert len(set(zip(finer, coarser, strict=True))) == len(set(finer))


def boxes(places: np.ndarray, low: np.ndarray, high: np.ndarray) -> quality.Table:
    return quality.Table(low, high, [places[[row], -1:] for row in range(len(places))])


def test_mutual_information_kept_is_a_share():
    space, places = census_space(), census_like(4_000)
    quasi = places[:, :-1]
    root = np.array([axis.size - 1 for axis in space.quasi])
    everything = quality.information(space, places, boxes(places, quasi, quasi))
    nothing = quality.information(space, places, boxes(places, np.zeros_like(quasi), np.tile(root, (len(places), 1))))
    assert 0.9 < everything <= 1
    assert 0 <= nothing < 0.01
    last = everything
    for width in (2, 8, 32):
        low = quasi // width * width
        kept = quality.information(space, places, boxes(places, low, np.minimum(low + width - 1, root)))
        assert nothing <= kept < last
        last = kept


def test_labels_that_tell_groups_apart_are_no_information():
    """Published boxes of random members: every label is nearly its own group, and says little of the columns."""
    space, places = census_space(), census_like(4_000)
    parts = np.random.default_rng(3).permutation(len(places)).reshape(-1, 10)
    held = [places[rows, -1:] for rows in parts]
    low, high = (np.array([end(places[rows, :-1], axis=0) for rows in parts]) for end in (np.min, np.max))
    sets = [[np.unique(places[rows, a]) for a in range(len(space.quasi))] for rows in parts]
    assert quality.information(space, places, quality.Table(low, high, held)) < 0.2
    assert 0 <= quality.information(space, places, quality.Table(low, high, held, sets)) < 0.3
