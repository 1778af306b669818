"""ARX's local recoding on the same rows, where ARX_JAR names its jar (or a class path) and javac and java are there.

Cells are written as places ("20..29"), so that what comes back is a box without any guessing: `*` is a suppressed cell and nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wallflower.publish.space import Axis, Space

PROGRAM = Path(__file__).with_name("LocalRecoding.java")
SUPPRESSED = "*"
QUICK_START = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
"""For javac, which is done before anything clever pays; ARX itself runs with Java's own settings."""


class NotRunError(Exception):
    """Why there are no figures; the table says so in their place."""


@dataclass(frozen=True)
class Recoded:
    """Rows with the same published cells form a group; suppressed rows are in none."""

    groups: list[np.ndarray]
    low: np.ndarray
    high: np.ndarray
    suppressed: np.ndarray
    cpu: float


def class_path() -> str:
    named = os.environ.get("ARX_JAR")
    if not named:
        raise NotRunError("not run: ARX_JAR")
    if missing := [part for part in named.split(os.pathsep) if not Path(part).exists()]:
        raise NotRunError(f"not run: ARX_JAR names {missing[0]}, which is not there")
    if missing := [tool for tool in ("javac", "java") if shutil.which(tool) is None]:
        raise NotRunError(f"not run: ARX needs {missing[0]}, which is not on the path")
    return named


def levels(axis: Axis) -> list[list[str]]:
    """ARX's hierarchy of a column, one line a value: the taxonomy where there is one, else runs of 2, 4, 8, …"""
    lines = []
    for place in range(axis.size):
        line = [str(place)]
        if axis.tree is not None:
            node = place
            while axis.tree.parent[node] != node:
                node = axis.tree.parent[node]
                line.append(f"{axis.tree.low[node]}..{axis.tree.high[node]}")
        else:
            width = 1
            while width < axis.size:
                width *= 2
                first = place // width * width
                line.append(f"{first}..{min(first + width, axis.size) - 1}")
        lines.append(line)
    longest = max(len(line) for line in lines)
    # Every line of a hierarchy has all levels; a value that is nearer to the root stays there.
    return [line + [f"0..{axis.size - 1}"] * (longest - len(line)) for line in lines]


def recoded(space: Space, places: np.ndarray, *, k: int, distinct: int, timeout: int = 900) -> Recoded:
    """k-anonymity, and so many distinct sensitive values a group where `distinct` is above 1."""
    jar = class_path()
    names = [axis.column.name for axis in (*space.quasi, *space.sensitive)]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _write(folder / "table.csv", [names, *places.astype(str).tolist()])
        for axis in space.quasi:
            _write(folder / f"{axis.column.name}.csv", levels(axis))
        try:
            _asked(["javac", *QUICK_START, "-cp", jar, "-d", made, str(PROGRAM)], timeout)
            said = _asked(
                ["java", "-cp", os.pathsep.join([made, jar]), PROGRAM.stem, made, str(k), str(distinct)], timeout
            )
        except subprocess.CalledProcessError as error:
            why = next(iter(error.stderr.strip().splitlines()), "no reason given")
            raise NotRunError(f"did not run: {why}") from error
        except subprocess.TimeoutExpired as error:
            raise NotRunError(f"did not end within {timeout} s") from error
        lines = [line.split(";") for line in (folder / "recoded.csv").read_text(encoding="utf-8").splitlines()]
    return read_back(lines[1:], places, float(said.splitlines()[-1]))


def read_back(lines: list[list[str]], places: np.ndarray, cpu: float) -> Recoded:
    """`lines`: the published cells of every row, in the order of the rows."""
    quasi = places.shape[1] - 1
    if [line[-1] for line in lines] != places[:, -1].astype(str).tolist():
        raise ValueError("the recoded rows are not the rows that were given, in their order")
    members: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, line in enumerate(lines):
        members[tuple(line[:quasi])].append(row)
    suppressed = members.pop((SUPPRESSED,) * quasi, [])
    groups = [np.array(rows) for rows in members.values()]
    ends = np.array([[_ends(cell) for cell in cells] for cells in members]).reshape(-1, quasi, 2)
    low, high = ends[:, :, 0], ends[:, :, 1]
    for rows, first, last in zip(groups, low, high, strict=True):
        held = places[rows, :quasi]
        if (held < first).any() or (held > last).any():
            raise ValueError("a recoded row is outside the cells published for it")
    return Recoded(groups, low, high, np.array(suppressed, dtype=np.int64), cpu)


def _ends(cell: str) -> tuple[int, int]:
    first, _, last = cell.partition("..")
    return int(first), int(last or first)


def _write(path: Path, lines: list[list[str]]) -> None:
    path.write_text("".join(";".join(line) + "\n" for line in lines), encoding="utf-8")


def _asked(command: list[str], timeout: int) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=timeout).stdout
