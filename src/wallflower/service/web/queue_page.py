"""The owner's queue: decide from what is written here; nothing on it was read from rows."""

from __future__ import annotations

import json
from typing import Any

from wallflower.errors import UsageError, WallflowerError
from wallflower.schema.exact import positive, shown
from wallflower.service.audit_log import note
from wallflower.service.errands import is_slow
from wallflower.service.forms import form_of
from wallflower.service.passwords import new_id
from wallflower.service.quotes import Quoter, expected_words
from wallflower.service.redaction import without_places
from wallflower.service.requests import Request, decide, of_table, share
from wallflower.service.web.desk import Desk, bars
from wallflower.service.web.visit import Answer, Visit, elsewhere, handles
from wallflower.service.words import asked_words

RECENT = 100
"""Latest questions of a table among which missed ticks are looked for."""
MOST_EARLIER = 5
"""Questions like it that a card names."""


@handles("GET", "/queue")
def queue(desk: Desk, visit: Visit) -> Answer:
    cards, late = [], []
    for table in desk.owned(visit.name):
        with desk.database.read() as seen:
            waiting = of_table(seen, table, state="waiting")
            past = of_table(seen, table)
        cards += [_card(desk, visit.name, one, past) for one in reversed(waiting)]
        late += [one for one in past[:RECENT] if one.missed(desk.service.ticks, desk.clock())]
    return desk.page("queue.html", visit, title="Waiting for you", cards=cards, late=late)


def _card(desk: Desk, owner: str, one: Request, past: list[Request]) -> dict[str, Any]:
    kind = [other for other in past if other.id != one.id and other.command == one.command]
    like = [other for other in kind if other.asker == one.asker]
    same = [other for other in kind if other.fields == one.fields]  # whoever asked: all are taken to work together
    return {
        "request": one,
        "asked": asked_words(one.command, one.fields),
        "form": form_of(one.command),
        **_standing(desk, one),
        "like": len(like),
        "same": len(same),
        "earlier": [
            {"request": other, "asked": asked_words(other.command, other.fields), "epsilon": _epsilon(other)}
            for other in [*same, *(other for other in like if other not in same)][:MOST_EARLIER]
        ],
        "explained": _explained(desk, one) if one.command == "explain" else None,
        "epsilon": _epsilon(one),
        "expected": expected_words(one.price["expected"]),
        "rehearsal": desk.rehearsal_of(one.table, one.command, one.fields, owner),
    }


def _explained(desk: Desk, one: Request) -> int:
    """How many different records this asker has had explained at this table, ever: they are not protected."""
    with desk.database.read() as seen:
        rows = seen.all(
            "SELECT fields FROM requests WHERE subject = :table AND asker = :asker AND command = 'explain' AND state = 'done'",
            table=one.table,
            asker=one.asker,
        )
    return len({str(json.loads(row["fields"]).get("record")) for row in rows})  # earlier versions kept lists, too


def _standing(desk: Desk, one: Request) -> dict[str, Any]:
    """What is spent, and what this question would leave; a price that takes long is the clerk's, and the bars must do."""
    try:
        left = bars(desk.standing(desk.declared(one.table).declaration))
        slow = is_slow(one.command, one.fields)
        quoter = Quoter(desk.database, desk.service)
        leaves = [] if slow else quoter.leaves(one.table, one.command, one.fields, one.asker)
    except WallflowerError as error:
        return {"left": [], "leaves": [["would be refused", without_places(str(error))]]}
    touched = [each for each in left if any(text.startswith(f"{each['name']}:") for _, text in leaves)]
    return {"left": touched or left, "leaves": leaves}


def _epsilon(one: Request) -> str:
    """Empty for a promise that has none."""
    return str(one.price["guarantee"]["parameters"].get("epsilon", ""))


@handles("POST", "/requests/{request}/rehearse")
def rehearse(desk: Desk, visit: Visit) -> Answer:
    """Try a question that waits on public or made-up rows, as its asker can: the decision stays one from public things."""
    one = visit.request
    if one is None or one.state != "waiting":
        raise UsageError("only a question that waits for a decision is rehearsed here.")
    try:
        desk.rehearsed(one.table, one.command, one.fields, visit.name)
    except WallflowerError:  # what came of it is shown in the queue, also that it takes long or cannot be done
        if desk.rehearsal_of(one.table, one.command, one.fields, visit.name) is None:
            raise
    return elsewhere(f"/queue#rehearsal-{one.id}")


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
