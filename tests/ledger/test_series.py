"""Series on both stores: one charge, parts that only go on, and nothing drawn twice is ever shown twice."""

from __future__ import annotations

import json
import threading

import pytest

from tests.ledger.places import pure
from wallflower.errors import LedgerError
from wallflower.ledger import Ledger, journal
from wallflower.ledger.events import Event
from wallflower.stores.base import Damaged

QUESTION = {"command": "count", "daily": "added"}


def begun(ledger, declared, request="s"):
    return ledger.charge(pure("1"), declaration=declared, query=QUESTION, request_id=request, series=True)


def told(*kept):
    return {"release": {"days": list(kept)}, "mechanism": {"arity": "2"}}


def test_parts_go_on_under_one_charge(declared, ledger):
    charge = begun(ledger, declared)
    assert (charge.part, charge.replay) == (None, None)
    first = ledger.part(charge.entry, [5], told(5), after=None)
    second = ledger.part(charge.entry, [5, -2], told(5, -2), after=first)
    later = begun(Ledger.open(declared), declared)
    assert later.entry == charge.entry
    assert (later.part.kept, dict(later.part.release)) == ((5, -2), told(5, -2))
    assert (later.part.entry, later.spent) == (second.entry, {"epsilon": "1"})
    assert ledger.verify().charges == 1
    lines = [line.text for line in ledger.history()]
    assert lines[-1] == f"entry {charge.entry} goes on, uncharged: 2 of its series told so far"
    assert "no answer" not in lines[1]


def test_the_first_that_is_recorded_wins(declared, ledger):
    """Two processes draw the next part; one of the draws is never seen by anybody."""
    charge, other = begun(ledger, declared), Ledger.open(declared)
    mine = ledger.part(charge.entry, [5], told(5), after=None)
    theirs = other.part(charge.entry, [99], told(99), after=None)
    assert theirs == mine
    assert theirs.kept == (5,)
    late = other.part(charge.entry, [5, 7, 8], told(5, 7, 8), after=mine)
    assert ledger.part(charge.entry, [5, 1], told(5, 1), after=mine) == late
    assert ledger.verify().entries == 4


def test_many_threads_record_one_series(declared, ledger):
    charge = begun(ledger, declared)
    found = []

    def draw(number):
        own = Ledger.open(declared)
        found.append(own.part(charge.entry, [number], told(number), after=None))

    threads = [threading.Thread(target=draw, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({part.kept for part in found}) == 1
    assert ledger.verify().charges == 1


@pytest.mark.parametrize("kept", [[6, 1], [5], [], [5, 1][:1]])
def test_what_was_kept_cannot_be_changed_or_left_out(declared, ledger, kept):
    charge = begun(ledger, declared)
    first = ledger.part(charge.entry, [5], told(5), after=None)
    with pytest.raises(LedgerError, match="not a charge that waits"):
        ledger.part(charge.entry, kept, told(*kept), after=first)
    assert begun(ledger, declared).part.kept == (5,)


def test_a_series_that_was_never_told_goes_on_after_its_process_has_ended(declared, ledger):
    charge = begun(ledger, declared)
    assert ledger.give_up(charge.entry) is True
    again = begun(Ledger.open(declared), declared)
    assert (again.entry, again.part, again.replay) == (charge.entry, None, None)


def test_a_series_has_no_other_answer_and_no_other_question(declared, ledger):
    charge = begun(ledger, declared)
    with pytest.raises(LedgerError, match="not a charge that waits"):
        ledger.answer(charge.entry, told(5))
    plain = ledger.charge(pure("1"), declaration=declared, query=QUESTION, request_id="plain")
    with pytest.raises(LedgerError, match="not a charge that waits"):
        ledger.part(plain.entry, [5], told(5), after=None)
    with pytest.raises(LedgerError, match="another question"):
        ledger.charge(pure("1"), declaration=declared, query={"command": "count"}, request_id="s", series=True)
    ledger.part(charge.entry, [5], told(5), after=None)
    with pytest.raises(LedgerError, match="waits for an answer"):
        ledger.close_request("owner", "s", "why")
    ledger.close(charge.entry, "why")
    assert begun(ledger, declared).part.kept == (5,)


def test_a_closed_series_is_dead(declared, ledger):
    begun(ledger, declared)
    ledger.close_request("owner", "s", "its machine is gone")
    with pytest.raises(LedgerError, match="Use a new id"):
        begun(ledger, declared)
    assert ledger.verify().charges == 1


def test_a_checkpoint_that_tells_another_story_is_damage(declared, ledger):
    begun(ledger, declared)
    known = ledger.journal
    honest = known.state()

    def checkpoint(state):
        at = {"table": declared.id, "entry": known.entry + 1}
        return Event.after(known.head, kind="checkpoint", content={"state": state}, **at)

    with pytest.raises(Damaged, match="does not agree"):
        known.add(checkpoint({**honest, "totals": {}}))
    known.add(checkpoint(honest))
    assert known.checkpoint == known.entry


def test_checkpoints_remember_where_a_series_stands(declared, ledger, monkeypatch):
    monkeypatch.setattr(journal, "CHECKPOINT_EVERY", 4)
    charge = begun(ledger, declared)
    part = None
    for number in range(1, 12):
        kept = list(range(number))
        part = ledger.part(charge.entry, kept, told(*kept), after=part)
    opened = Ledger.open(declared)
    assert opened.journal.checkpoint > 0
    assert begun(opened, declared).part.kept == tuple(range(11))
    assert opened.verify().charges == 1
    assert opened.journal.replies == 1


@pytest.mark.parametrize(
    ("kind", "content", "words"),
    [
        ("part", {"charge": 2, "kept": [6, 1], "release": {}}, "does not go on"),
        ("part", {"charge": 2, "kept": [5], "release": {}}, "does not go on"),
        ("part", {"charge": 1, "kept": [5], "release": {}}, "part of no series"),
        ("answer", {"charge": 2, "release": {}}, "replies to no charge"),
    ],
)
def test_verify_finds_a_node_that_was_drawn_again(declared, ledger, kind, content, words):
    """Planted by hand into a chain whose hashes are right."""
    charge = begun(ledger, declared)
    ledger.part(charge.entry, [5], told(5), after=None)

    def plant(transaction):
        event = Event.after(
            ledger.journal.head, table=declared.id, entry=ledger.journal.entry + 1, kind=kind, content=content
        )
        ledger.journal.add(event)
        transaction.append([event.row()], ledger.journal.place)

    ledger.batch(plant)
    with pytest.raises((LedgerError, Damaged), match=words):
        Ledger.open(declared).verify()


def test_a_series_is_backed_up(declared, ledger, tmp_path):
    charge = begun(ledger, declared)
    ledger.part(charge.entry, [5], told(5), after=None)
    ledger.backup(tmp_path / "copy.ledger")
    copy = Ledger.open(tmp_path / "copy.ledger")
    assert [json.loads(line.event.body).get("kept") for line in copy.history()][-1] == [5]
    assert copy.verify().entries == 3
