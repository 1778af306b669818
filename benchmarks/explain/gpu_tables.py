"""Tables for the benchmark of the GPU: the arrays that a device takes, and the processor's answers. `python -m benchmarks.explain.gpu_tables FOLDER`."""

from __future__ import annotations

import argparse
import dataclasses
import pickle
import random
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.explain.tables import every_valid, random_table, view

from benchmarks.explain.gpu import SAMPLED, SHAPES, STRETCH
from benchmarks.explain.rows import NAMES, made_up
from wallflower.detectors import LOF, Grubbs, Histogram
from wallflower.engines import open_source
from wallflower.explain.gpu.problems import problem
from wallflower.explain.languages import vocabularies
from wallflower.explain.record_view import RecordView
from wallflower.explain.space import Space
from wallflower.explain.validity import decider

ROWS = 51_000
ROUNDED = (1, 100, 1000)
TIED = 400


def prepare(folder: Path, only: str | None) -> None:
    for name, shape in SHAPES.items():
        for rounded in ROUNDED if name == "2^22" else (1,):
            if only not in (None, name):
                continue
            with tempfile.TemporaryDirectory() as place, sight(Path(place), shape, rounded) as seen:
                for detector in (LOF(), Grubbs(), Histogram()):
                    starts, expected = answers(seen, detector, whole=name == "2^22")
                    write(folder / f"{name}-{rounded}-{detector.name}", problem(seen, detector), starts, expected)
    if only in (None, "tied"):
        prepare_tied(folder)


@contextmanager
def sight(place, shape, rounded):
    """The rows as the record sees them, while they are open."""
    declaration = made_up(place, ROWS, shape=shape, rounded=rounded)
    with open_source(declaration).rows((*NAMES, "salary")) as rows:
        record = rows.record("r0")
        languages = vocabularies(declaration, NAMES, dict.fromkeys(NAMES, "sets"))
        space = Space.of(languages.each, own=tuple(record.codes[name] for name in NAMES))
        yield RecordView(rows=rows, space=space, metric="salary", centre=record.numbers["salary"], least=10)


def answers(seen, detector, *, whole):
    """The processor's flags: of every context, or of a few stretches of them."""
    decided = decider(seen, detector)
    if whole:
        return np.zeros(0, np.int64), np.concatenate([decided.valid(block) for block in seen.blocks()])
    dice = np.random.default_rng(1)
    starts = dice.integers(0, seen.space.count // STRETCH, (3, SAMPLED))
    starts[0, SAMPLED // 3 :] &= starts[
        1, SAMPLED // 3 :
    ]  # smaller contexts too: there the record stands out more often
    starts[0, SAMPLED // 2 :] &= starts[2, SAMPLED // 2 :]
    starts = starts[0] * STRETCH
    return starts, np.concatenate([decided.valid(seen.few(start + np.arange(STRETCH))) for start in starts])


def write(path, asked, starts, expected):
    held = {
        "problem": dataclasses.asdict(asked),
        "starts": starts,
        "count": len(expected),
        "flags": np.packbits(expected),
    }
    path.with_name(f"{path.name}.pickle").write_bytes(pickle.dumps(held))
    print(path.name, len(expected), int(expected.sum()), flush=True)


def prepare_tied(folder):
    """Small tables with many ties, of every kind."""
    dice, made = random.Random(9), []
    for trial in range(TIED):
        shape = [(2, 2), (3, 2, 2), (5, 4), (2, 3, 1, 2), (9,), (7, 5)][trial % 6]
        spread = dice.choice([2, 5, 12, 60, 500, 10**6, 10**11])
        table = random_table(dice, shape, dice.choice([1, 5, 40, 200, 600]), spread=spread)
        if trial % 2:
            table[0] = (*table[0][:-1], dice.choice([-1, 1]) * (spread * 2 + dice.randrange(50)))
        languages = [dice.choice(["sets", "own", "range"]) for _ in shape] if trial % 3 == 0 else None
        seen = view(table, shape, least=dice.choice([1, 4]), lower=-(4 * 10**11), upper=4 * 10**11, languages=languages)
        k, limit = dice.choice([1, 2, 3, 5, 10, 20, 40]), dice.choice(["0.9", "1", "1.1", "1.5", "3"])
        rare = dice.choice(["0.02", "0.1", "0.3"])
        asked = LOF(neighbours=k, threshold=limit), Grubbs(alpha="0.3", argmax=trial % 4 == 0), Histogram(rare=rare)
        made += [(dataclasses.asdict(problem(seen, one)), every_valid(seen, one)) for one in asked]
    (folder / "tied.pickle").write_bytes(pickle.dumps(made))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explain.gpu_tables")
    parser.add_argument("folder", type=Path)
    parser.add_argument("only", nargs="?", choices=[*SHAPES, "tied"])
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    prepare(given.folder, given.only)
