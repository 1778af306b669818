"""Counts for operators, as Prometheus text. No durations: how long an answer took can tell something about the rows. So a
request is counted as its asker sees it: a number that changed when the work ended would be a duration, looked at often enough.
"""

from __future__ import annotations

from wallflower.service.ticks import Ticks
from wallflower.stores.database import Database

STATES = ("waiting", "refused", "withdrawn", "decided", "answered")


def exposition(database: Database, ticks: Ticks) -> str:
    """Everything an operator may watch."""
    with database.read() as seen:
        by_state = {
            row["state"]: int(row["n"]) for row in seen.all("SELECT state, count(*) AS n FROM requests GROUP BY state")
        }
        tick = ticks.at(database.clock())
        unseen = seen.one(
            "SELECT count(*) AS n FROM requests WHERE state = 'done' AND (taken_tick > :planned OR finished_tick >= :tick)",
            tick=tick,
            planned=tick - ticks.shown_after,
        )
        last = seen.one("SELECT max(tick) AS last, sum(missed) AS missed FROM ticks") or {}
        refused = seen.one("SELECT count(*) AS n FROM audit WHERE did = 'login refused'") or {}
        sessions = seen.one("SELECT count(*) AS n FROM sessions WHERE ends_at > :now", now=database.clock()) or {}
    ready = int(unseen["n"]) if unseen else 0
    by_state["decided"] = by_state.get("approved", 0) + by_state.get("taken", 0) + ready
    by_state["answered"] = by_state.get("done", 0) - ready
    lines = [
        "# HELP wallflower_requests Requests by state, as their askers see it.",
        "# TYPE wallflower_requests gauge",
    ]
    lines += [f'wallflower_requests{{state="{state}"}} {by_state.get(state, 0)}' for state in STATES]
    for name, words, kind, value in (
        ("wallflower_last_tick", "Number of the last tick that was taken.", "gauge", last.get("last")),
        ("wallflower_missed_ticks_total", "Ticks at which no worker was there.", "counter", last.get("missed")),
        ("wallflower_refused_logins_total", "Logins that were refused.", "counter", refused.get("n")),
        ("wallflower_sessions", "People who are logged in.", "gauge", sessions.get("n")),
    ):
        lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}", f"{name} {value or 0}"]
    return "\n".join(lines) + "\n"
