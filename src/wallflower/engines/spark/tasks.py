"""Tasks on the executors: a function for each of several payloads, through frames alone.

No RDD is used, so that the same code could serve Spark Connect, which was not tried. A task may run twice, when Spark tries again or looks
ahead: it draws nothing and writes nothing. What fails there is told without a cell, in the executors' own logs too.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from wallflower.engines.redaction import broken, quietly
from wallflower.engines.same_code import Installed, compare, installed, look
from wallflower.errors import DeclarationError, ReleaseFailed, WallflowerError

LOOKS = 8
"""So many tasks look what is installed, or as many as the session runs at a time. Each task that follows looks again."""


def slots(session: Any) -> int:
    """How many tasks run side by side, as far as the session says."""
    return max(1, getattr(getattr(session, "_sc", None), "defaultParallelism", LOOKS))


def run(
    session: Any,
    task: Callable[[Any], Any],
    payloads: Sequence[Any],
    *,
    otherwise: Callable[[], WallflowerError] = broken,
) -> list[Any]:
    """What `task` gives for each payload, in their order; each is a task of its own on an executor.

    `task`, payloads and answers are pickled: functions and classes of installed modules, and what they hold. What all payloads share travels
    once to each executor as part of `task` (`functools.partial`).
    """
    if not payloads:
        return []
    return quietly(lambda: _run(session, task, payloads), otherwise)


def check(session: Any) -> None:
    """Refuse executors without Python or with another version of this package, before anything is charged."""
    compare(run(session, look, range(max(LOOKS, slots(session))), otherwise=no_python))


def no_python() -> WallflowerError:
    return DeclarationError(
        "the executors cannot run Wallflower.",
        hint="They need Python of this version with this version of Wallflower: set PYSPARK_PYTHON (or spark.pyspark.python) to it. "
        "Or leave out executors = true: then this process compares the rows.",
    )


def not_ready() -> WallflowerError:
    return DeclarationError(
        "the executors could not do on made-up rows what this question needs.",
        hint="Check that their Python has what this one has (numba, SciPy) and may keep compiled code (NUMBA_CACHE_DIR). "
        "Or leave out executors = true: then this process compares the rows.",
    )


def failed() -> WallflowerError:
    """What an executor's log gets to see."""
    return ReleaseFailed("a task failed on an executor.")


def _run(session: Any, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
    import pyarrow as pa

    given = pa.table(
        {
            "place": pa.array(range(len(payloads)), pa.int64()),
            "payload": pa.array([pickle.dumps(each) for each in payloads], pa.binary()),
        }
    )
    frame = session.createDataFrame(given).repartitionByRange(len(payloads), "place")
    found = frame.mapInArrow(_each(task, installed()), "place bigint, told binary").toArrow().to_pydict()
    told = dict(zip(found["place"], found["told"], strict=True))
    return [pickle.loads(told[place]) for place in range(len(payloads))]  # noqa: S301 - our own tasks wrote it


def _each(task: Callable[[Any], Any], wanted: Installed) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        if task is not look:
            wanted.refuse_another()
        for batch in batches:
            for place, payload in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
                told = quietly(lambda payload=payload: pickle.dumps(task(pickle.loads(payload))), failed)  # type: ignore[misc]  # noqa: S301
                yield pa.RecordBatch.from_pydict(
                    {"place": pa.array([place], pa.int64()), "told": pa.array([told], pa.binary())}
                )

    return work
