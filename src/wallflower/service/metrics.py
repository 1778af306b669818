"""Counts for operators, as Prometheus text. No durations: how long an answer took can tell something about the rows."""

from __future__ import annotations

from wallflower.stores.database import Database

STATES = ("waiting", "refused", "withdrawn", "approved", "taken", "done")


def exposition(database: Database) -> str:
    """Everything an operator may watch."""
    with database.read() as seen:
        by_state = {
            row["state"]: row["n"] for row in seen.all("SELECT state, count(*) AS n FROM requests GROUP BY state")
        }
        ticks = seen.one("SELECT max(tick) AS last, sum(missed) AS missed FROM ticks") or {}
        refused = seen.one("SELECT count(*) AS n FROM audit WHERE did = 'login refused'") or {}
        sessions = seen.one("SELECT count(*) AS n FROM sessions WHERE ends_at > :now", now=database.clock()) or {}
    lines = ["# HELP wallflower_requests Requests by state.", "# TYPE wallflower_requests gauge"]
    lines += [f'wallflower_requests{{state="{state}"}} {by_state.get(state, 0)}' for state in STATES]
    for name, words, kind, value in (
        ("wallflower_last_tick", "Number of the last tick that was taken.", "gauge", ticks.get("last")),
        ("wallflower_missed_ticks_total", "Ticks at which no worker was there.", "counter", ticks.get("missed")),
        ("wallflower_refused_logins_total", "Logins that were refused.", "counter", refused.get("n")),
        ("wallflower_sessions", "People who are logged in.", "gauge", sessions.get("n")),
    ):
        lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}", f"{name} {value or 0}"]
    return "\n".join(lines) + "\n"
