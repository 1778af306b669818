"""The owner's queue: decide from what is written here; nothing on it was read from rows."""

from __future__ import annotations

from typing import Any

from wallflower.errors import UsageError, WallflowerError
from wallflower.schema.exact import positive, shown
from wallflower.service.audit_log import note
from wallflower.service.fields import form_of
from wallflower.service.passwords import new_id
from wallflower.service.requests import Request, decide, of_table, share
from wallflower.service.web.desk import Desk, bars
from wallflower.service.web.visit import Answer, Visit, elsewhere, handles
from wallflower.service.words import asked_words


@handles("GET", "/queue")
def queue(desk: Desk, visit: Visit) -> Answer:
    cards = []
    for table in desk.owned(visit.name):
        with desk.database.read() as seen:
            waiting = of_table(seen, table, state="waiting")
            past = of_table(seen, table)
        cards += [_card(desk, one, past) for one in reversed(waiting)]
    return desk.page("queue.html", visit, title="Waiting for you", cards=cards)


def _card(desk: Desk, one: Request, past: list[Request]) -> dict[str, Any]:
    like = [other for other in past if other.id != one.id and other.command == one.command and other.asker == one.asker]
    same = [other for other in like if other.fields == one.fields]
    try:
        left = bars(desk.standing(desk.declared(one.table).declaration))
    except WallflowerError:
        left = []
    return {
        "request": one,
        "asked": asked_words(one.command, one.fields),
        "form": form_of(one.command),
        "left": left,
        "like": len(like),
        "same": len(same),
        "explained": sum(other.state == "done" for other in like) if one.command == "explain" else None,
        "epsilon": one.price["guarantee"]["parameters"].get("epsilon", "–"),
    }


@handles("POST", "/requests/{request}/decide")
def decided(desk: Desk, visit: Visit) -> Answer:
    one = visit.request
    if one is None:
        raise UsageError("there is no such request.")
    word = visit.one("word")
    if word not in ("approve", "refuse", "policy"):
        raise UsageError("a decision is approve, refuse or policy.")
    with desk.database.write() as changes:
        if word == "policy":
            _write_policy(visit, one, changes)
        decide(
            changes, one, owner=visit.name, approve=word != "refuse", reason=visit.one("reason"), source=visit.source
        )
    return elsewhere("/queue")


def _write_policy(visit: Visit, one: Request, changes: Any) -> None:
    """Approve questions like this one from now on: the same kind, up to this ε, by this asker."""
    if not form_of(one.command).policies:
        raise UsageError(f"no policy approves '{one.command}': each one is decided by a person.")
    most = positive(str(one.price["guarantee"]["parameters"]["epsilon"]), name="epsilon")
    changes.run(
        "INSERT INTO policies (id, subject, command, epsilon_at_most, askers, by_whom, made_at, ended) "
        "VALUES (:id, :table, :command, :most, :asker, :owner, :now, 0)",
        id=new_id(),
        table=one.table,
        command=one.command,
        most=shown(most),
        asker=one.asker,
        owner=visit.name,
        now=changes.now_text(),
    )
    words = f"{one.command} up to ε {shown(most)} by {one.asker}"
    note(changes, who=visit.name, source=visit.source, did="policy written", subject=one.table, words=words)


@handles("POST", "/requests/{request}/share")
def shared(desk: Desk, visit: Visit) -> Answer:
    one = visit.request
    if one is None:
        raise UsageError("there is no such request.")
    with desk.database.write() as changes:
        share(changes, one, asker=visit.one("asker"), owner=visit.name, source=visit.source)
    return elsewhere(f"/requests/{one.id}")
