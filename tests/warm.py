"""Compile what the tests will call, once for all of their processes: `python -m tests.warm` before they start.

Code is kept beside the files it was compiled from. Two processes that both find none compile the same loops at the same
time; here each takes its own half of the questions. Nothing depends on this but how long the tests take.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.contracts.registry import every_example

MOST_WORK_FIRST = ("publish", "explain")


def prepare(name: str) -> None:
    """What a release of this example does before its charge: on made-up rows, everything that it will call."""
    import wallflower

    example = next(one for one in every_example() if one.name == name)
    with tempfile.TemporaryDirectory() as folder:
        session = wallflower.open(example.lay_out(Path(folder)))
        session._prepare(example.query(Path(folder)))


def main() -> None:
    names = [example.name for example in every_example()]
    names.sort(key=lambda name: not name.startswith(MOST_WORK_FIRST))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(prepare, names))


if __name__ == "__main__":
    main()
