"""Compile what the tests will call, once for all of their processes: `python -m tests.warm` before they start.

Code is kept beside the files it was compiled from. Two processes that both find none compile the same loops at the same
time; here each takes areas of its own, which share few of them: `publish` takes as long as all the others together. Nothing depends on
this but how long the tests take.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.contracts.registry import every_example


def prepare(publish: bool) -> None:  # noqa: FBT001 - one half or the other
    """What a release of these examples does before its charge: on made-up rows, everything that it will call."""
    import wallflower

    for example in every_example():
        if example.name.startswith("publish") == publish:
            with tempfile.TemporaryDirectory() as folder:
                session = wallflower.open(example.lay_out(Path(folder)))
                session._prepare(example.query(Path(folder)))


def main() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(prepare, (True, False)))


if __name__ == "__main__":
    main()
