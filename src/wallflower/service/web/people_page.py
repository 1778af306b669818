"""Who may ask about a table, with which share; and the owner's brake."""

from __future__ import annotations

from wallflower.errors import UsageError
from wallflower.service.audit_log import note
from wallflower.service.grants import SHAREABLE, grant, policies, set_share, shares, withdraw_grant
from wallflower.service.web.desk import Desk
from wallflower.service.web.visit import Answer, Visit, elsewhere, handles


@handles("GET", "/tables/{table}/people")
def page(desk: Desk, visit: Visit) -> Answer:
    table = visit.path["table"]
    entry = desk.service.tables[table]
    with desk.database.read() as seen:
        granted = [
            row["holder"]
            for row in seen.all("SELECT holder FROM grants WHERE subject = :table ORDER BY holder", table=table)
        ]
        named = sorted(desk.service.members(entry.askers) | set(granted))
        tokens = {
            row["name"]: row["n"]
            for row in seen.all(
                "SELECT name, count(*) AS n FROM tokens WHERE revoked = 0 AND ends_at > :now GROUP BY name",
                now=desk.clock(),
            )
        }
        rows = [
            {
                "name": name,
                "granted": name in granted,
                "shares": shares(seen, desk.service, table, name),
                "tokens": tokens.get(name, 0),
            }
            for name in named
        ]
        stopped = seen.one("SELECT * FROM stopped WHERE subject = :table", table=table)
        standing = policies(seen, desk.service, table)
    return desk.page(
        "people.html",
        visit,
        title=f"People: {table}",
        table=table,
        rows=rows,
        shareable=SHAREABLE,
        stopped=stopped,
        policies=standing,
    )


@handles("POST", "/tables/{table}/people")
def change(desk: Desk, visit: Visit) -> Answer:
    table, word, name = visit.path["table"], visit.one("word"), visit.one("name")
    with desk.database.write() as changes:
        if word == "grant":
            grant(changes, table=table, user=name, by=visit.name, source=visit.source)
        elif word == "withdraw":
            withdraw_grant(changes, table=table, user=name, by=visit.name, source=visit.source)
        elif word == "share":
            set_share(
                changes,
                table=table,
                asker=name,
                family=visit.one("family"),
                epsilon=visit.one("epsilon"),
                by=visit.name,
                source=visit.source,
            )
        elif word == "end policy":
            ended = changes.run(
                "UPDATE policies SET ended = 1 WHERE id = :id AND subject = :table AND ended = 0", id=name, table=table
            )
            if not ended:
                raise UsageError("that policy has ended, or is the operator's.")
            note(changes, who=visit.name, source=visit.source, did="policy ended", subject=table, words=name)
        else:
            raise UsageError("what to do is grant, withdraw, share or end policy.")
    return elsewhere(f"/tables/{table}/people")


@handles("POST", "/tables/{table}/stop")
def stop(desk: Desk, visit: Visit) -> Answer:
    """Stop a table, or start it again: no new requests, and workers leave its approved ones alone."""
    table = visit.path["table"]
    with desk.database.write() as changes:
        was = changes.run("DELETE FROM stopped WHERE subject = :table", table=table)
        if not was:
            changes.run(
                "INSERT INTO stopped (subject, by_whom, at) VALUES (:table, :owner, :now)",
                table=table,
                owner=visit.name,
                now=changes.now_text(),
            )
        note(
            changes, who=visit.name, source=visit.source, did="table started" if was else "table stopped", subject=table
        )
    return elsewhere(f"/tables/{table}/people")
