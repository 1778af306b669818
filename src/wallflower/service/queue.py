"""The durable queue: what workers take at a tick, and what they leave.

Which requests are taken depends on decisions and on the tick alone: at most `taken_each`, in the order they were decided,
dealt to the workers in turn. A worker that is still busy does not change what is taken, or a slow computation would show.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from wallflower.service.requests import Request, read
from wallflower.service.ticks import Ticks
from wallflower.stores.database import Database


def take(database: Database, ticks: Ticks, *, tick: int, workers: int) -> int:
    """Deal this tick's requests, once, whichever worker comes first; how many were dealt."""
    with database.write() as changes:
        last = changes.one("SELECT max(tick) AS tick FROM ticks")
        before = last["tick"] if last else None
        if before is not None and before >= tick:
            return 0
        rows = changes.all(
            "SELECT id, decided_number FROM requests WHERE state = 'approved' AND subject NOT IN (SELECT subject FROM stopped) "
            "ORDER BY decided_number LIMIT :most",
            most=ticks.taken_each,
        )
        for place, row in enumerate(rows):
            changes.run(
                "UPDATE requests SET state = 'taken', taken_tick = :tick, worker = :worker WHERE id = :id",
                tick=tick,
                worker=place % workers,
                id=row["id"],
            )
        changes.run(
            "INSERT INTO ticks (tick, taken, missed) VALUES (:tick, :taken, :missed)",
            tick=tick,
            taken=len(rows),
            missed=0 if before is None else int(tick - before - 1),
        )
        changes.run("DELETE FROM ticks WHERE tick < :old", old=tick - 10_000)
        return len(rows)


def mine(database: Database, *, worker: int) -> list[Request]:
    """What this worker has been dealt and has not finished, oldest first; after a crash also what was under way."""
    with database.read() as seen:
        rows = seen.all(
            "SELECT * FROM requests WHERE state = 'taken' AND worker = :worker ORDER BY decided_number", worker=worker
        )
    return [read(row) for row in rows]


def finish(database: Database, request: Request, outcome: Mapping[str, Any], *, tick: int) -> bool:
    """Keep what came of a request; the first word stands."""
    with database.write() as changes:
        return bool(
            changes.run(
                "UPDATE requests SET state = 'done', outcome = :outcome, finished_tick = :tick WHERE id = :id AND state = 'taken'",
                outcome=json.dumps(outcome, ensure_ascii=False),
                tick=tick,
                id=request.id,
            )
        )


def redeal(database: Database, *, workers: int) -> None:
    """After a change of the number of workers, what belonged to one that no longer exists goes to those that do."""
    with database.write() as changes:
        for row in changes.all(
            "SELECT id, decided_number FROM requests WHERE state = 'taken' AND worker >= :workers", workers=workers
        ):
            changes.run(
                "UPDATE requests SET worker = :worker WHERE id = :id",
                worker=int(row["decided_number"]) % workers,
                id=row["id"],
            )
