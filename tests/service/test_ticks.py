"""Time tells nothing: what an asker sees depends on decisions and ticks, however long the work takes."""

from __future__ import annotations

import itertools
import secrets
from dataclasses import replace

import pytest

from tests.service.desks import Clock
from wallflower.service import queue
from wallflower.service.configuration import Service, Table
from wallflower.service.migrations import migrate
from wallflower.service.requests import find, submit
from wallflower.service.ticks import Ticks
from wallflower.stores.database import Database

TICKS = Ticks(period_s=2, taken_each=3, shown_after=4)


def simulated(folder, durations: list[float], *, workers: int = 2) -> list[tuple[int, bool]]:
    """Requests with these durations, all approved at the start; the tick at which each is seen as answered."""
    clock = Clock(now=1000.0)
    database = Database(str(folder / f"{secrets.token_hex(8)}.db"), clock=clock)
    migrate(database)
    table = Table(name="t", declaration=folder, owners=("o",), askers=("a",))
    service = Service(database="", host="127.0.0.1", port=0, ticks=TICKS, workers=workers, tables={"t": table})
    ids = []
    for duration in durations:
        with database.write() as changes:
            ids.append(
                submit(
                    changes, service, table="t", asker="a", command="count", fields={"slow": duration}, purpose="p",
                    price={}, bound="", epsilon=None, source="s",
                )
            )  # fmt: skip
            changes.run("UPDATE requests SET state = 'approved', decided_number = number WHERE id = :id", id=ids[-1])
    free = [0.0] * workers
    seen_at: dict[str, int] = {}
    for step in range(12 + len(durations)):
        clock.now = 1000.0 + step * TICKS.period_s
        tick = TICKS.at(clock.now)
        queue.take(database, TICKS, tick=tick, workers=workers)
        for worker in range(workers):
            for request in queue.mine(database, worker=worker):
                began = max(free[worker], clock.now)
                if began >= clock.now + TICKS.period_s:
                    break
                free[worker] = began + request.fields["slow"]
                queue.finish(database, request, {"release": {}}, tick=TICKS.at(free[worker]))
        with database.read() as seen:
            for identity in ids:
                if identity not in seen_at and find(seen, identity).shown(TICKS, clock.now) == "answered":
                    seen_at[identity] = step
    with database.read() as seen:
        missed = [find(seen, identity).missed(TICKS, clock.now) for identity in ids]
    database.close()
    return [(seen_at[identity], late) for identity, late in zip(ids, missed, strict=True)]


def test_fast_and_slow_are_seen_at_the_same_ticks_in_every_order(tmp_path):
    shown = {
        tuple(simulated(tmp_path, [0.01 if fast else 1.0 for fast in order]))
        for order in sorted(set(itertools.permutations([True] * 2 + [False] * 2)))
    }
    assert len(shown) == 1
    assert not any(late for _, late in shown.pop())


@pytest.mark.parametrize("mixture", ["slow first", "fast first", "every other"])
def test_twenty_requests_in_any_mixture(tmp_path, mixture):
    slow, fast = [1.0] * 10, [0.01] * 10
    order = {
        "slow first": slow + fast,
        "fast first": fast + slow,
        "every other": [each for pair in zip(slow, fast, strict=True) for each in pair],
    }[mixture]
    assert [seen for seen, _ in simulated(tmp_path, order)] == [TICKS.shown_after + place // 3 for place in range(20)]


def test_a_work_that_outlasts_its_tick_is_reported_to_the_owner(tmp_path):
    (_, late), *_ = simulated(tmp_path, [10.0, 0.01])
    assert late


def test_a_planted_scheduler_that_waits_for_busy_workers_is_seen(tmp_path, monkeypatch):
    """Dealing only when a worker is free would show how long others took."""
    honest = queue.take

    def lazy(database, ticks, *, tick, workers):
        with database.read() as seen:
            if seen.one("SELECT id FROM requests WHERE state = 'taken'"):
                return 0
            last = seen.one("SELECT max(finished_tick) AS tick FROM requests")
        return (
            0 if last and last["tick"] and last["tick"] > tick else honest(database, ticks, tick=tick, workers=workers)
        )

    monkeypatch.setattr(queue, "take", lazy)
    slow, fast = tmp_path / "slow", tmp_path / "fast"
    slow.mkdir(), fast.mkdir()
    assert simulated(slow, [3.0] * 6) != simulated(fast, [0.01] * 6)


def test_a_tick_is_dealt_once_whoever_comes(tmp_path):
    database = Database(str(tmp_path / "s.db"), clock=Clock())
    migrate(database)
    assert [queue.take(database, TICKS, tick=7, workers=1) for _ in range(3)] == [0, 0, 0]
    with database.read() as seen:
        assert len(seen.all("SELECT * FROM ticks")) == 1
    queue.take(database, TICKS, tick=10, workers=1)
    with database.read() as seen:
        assert seen.one("SELECT missed FROM ticks WHERE tick = 10")["missed"] == 2
    database.close()
    assert replace(TICKS, period_s=3).at(9.5) == 3
