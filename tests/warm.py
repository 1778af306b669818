"""Compile what the tests will call, once for all of their processes: `python -m tests.warm` before they start.

Code is kept beside the files it was compiled from. Two processes that both find none compile the same loops at the same
time; here each takes tasks of its own, which share few of them: `publish` takes as long as all the others together. Its loops are
compiled for as many widths of a column as the tests have. Nothing depends on this but how long the tests take.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from tests.contracts.registry import every_example

WIDEST = "upper = 500"
"""Of the columns in the examples of `publish`."""
TASKS = (
    ("publish", WIDEST),
    ("", ""),  # every other area
    ("publish", "upper = 200"),  # a byte
    ("publish-matching", "upper = 100000"),  # more than two bytes
)


def prepare(task: tuple[str, str]) -> None:
    """What a release of these examples does before its charge: on made-up rows, everything that it will call."""
    import wallflower

    area, widest = task
    for example in every_example():
        if not (example.name.startswith(area) if area else not example.name.startswith("publish")):
            continue
        asked = replace(example, declaration=example.declaration.replace(WIDEST, widest)) if widest else example
        with tempfile.TemporaryDirectory() as folder:
            session = wallflower.open(asked.lay_out(Path(folder)))
            session._prepare(asked.query(Path(folder)))


def main() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(prepare, TASKS))


if __name__ == "__main__":
    main()
