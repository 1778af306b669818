"""A connection that breaks while a commit is on its way: what was charged is charged once, and one caller is handed it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests.ledger.places import COUNT, pure
from wallflower.errors import LedgerError, PendingError
from wallflower.ledger import Ledger, book
from wallflower.ledger.admission import Ask
from wallflower.ledger.batching import BatchingWriter
from wallflower.stores.base import Unsure

LOST = LedgerError("the connection broke before anything was to be committed")


@pytest.fixture
def breaking(ledger, monkeypatch):
    """Say what happens to the next writing transactions: committed unconfirmed ("heard"), not committed and not known
    ("unheard"), or "lost" before the commit. Later ones are well.
    """
    real, steps = ledger._store.transaction, []
    ledger.patience_s = 0  # whoever would have to wait is told so at once

    @contextmanager
    def transaction(*, write):
        step = steps.pop(0) if write and steps else "well"
        with real(write=write) as begun:
            yield begun
            if step == "unheard":
                raise Unsure
            if step == "lost":
                raise LOST
        if step == "heard":
            raise Unsure

    monkeypatch.setattr(ledger._store, "transaction", transaction)
    return steps


def monday(ledger, declared):
    return ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")


def ask(declared):
    return Ask(guarantee=pure("1"), declaration=declared, query=COUNT, request_id="monday")


@pytest.mark.parametrize("batching", [False, True])
@pytest.mark.parametrize("step", ["heard", "unheard"])
def test_a_commit_that_was_not_confirmed_is_looked_for_by_its_id(ledger, declared, breaking, step, batching):
    """Whether the store heard it or not: the charge is there once, and whoever asked is told so."""
    breaking.append(step)
    if batching:
        with BatchingWriter(ledger) as writer:
            charge = monday(writer, declared)
    else:
        charge = monday(ledger, declared)
    assert not breaking
    assert charge.left == {"epsilon": "3"}
    ledger.answer(charge.entry, {"release": {"count": 1}})
    assert Ledger.open(declared).verify().charges == 1


@pytest.mark.parametrize("batching", [False, True])
@pytest.mark.parametrize("second", ["heard", "unheard", "lost"])
@pytest.mark.parametrize("first", ["heard", "unheard"])
def test_who_was_told_to_ask_again_is_handed_the_charge(ledger, declared, breaking, first, second, batching):
    """Broken twice, nobody holds the charge that may be there: it is neither waited for nor given up."""
    with BatchingWriter(ledger) as writer:
        asked = writer if batching else ledger
        # A batch that is unsure is taken in one by one, and each of them is tried twice.
        breaking += [first, second] if not batching or second == "lost" else [first, second, second]
        with pytest.raises(LedgerError if second == "lost" else PendingError, match=r"broke (before|while)"):
            monday(asked, declared)
        assert not breaking
        charge = monday(asked, declared)
        assert charge.replay is None
        with pytest.raises(PendingError, match="still being answered"):  # it is handed to one
            monday(asked, declared)
        ledger.answer(charge.entry, {"release": {"count": 1}})
        assert monday(asked, declared).replay == {"release": {"count": 1}}
    assert Ledger.open(declared).verify().charges == 1


@pytest.mark.parametrize("step", ["heard", "unheard"])
def test_of_two_who_ask_at_once_one_is_handed_it(ledger, declared, breaking, step):
    """The second finds, or makes, the charge between the two attempts of the first."""
    breaking.append(step)
    with pytest.raises(Unsure):
        ledger._admit(ask(declared))
    assert ledger._admit(ask(declared)) is not None
    assert ledger._admit(ask(declared)) is None


def test_in_one_batch_one_is_handed_it(ledger, declared, breaking):
    def twice(transaction):
        return [ledger.admit_within(transaction, ask(declared)) for _ in range(2)]

    breaking.append("heard")
    with pytest.raises(Unsure):
        ledger.batch(twice)
    made, none = ledger.batch(twice)
    assert made is not None
    assert none is None


def test_a_child_waits_for_its_parent(ledger, declared, breaking, monkeypatch):
    """Both have the same memory of the charge that nobody was handed, and only one may hold it."""
    breaking += ["heard", "lost"]
    with pytest.raises(LedgerError, match="broke before"):
        monday(ledger, declared)
    with monkeypatch.context() as child:
        child.setattr(book, "os", SimpleNamespace(getpid=lambda: os.getpid() + 1))
        with pytest.raises(PendingError, match="still being answered"):
            monday(ledger, declared)
    assert monday(ledger, declared).replay is None


def test_a_charge_whose_answer_was_lost_is_still_held(ledger, declared, breaking):
    charge = monday(ledger, declared)
    breaking.append("lost")
    with pytest.raises(LedgerError, match="broke before"):
        ledger.answer(charge.entry, {"release": {"count": 1}})
    with pytest.raises(PendingError, match="still being answered"):
        monday(ledger, declared)
    ledger.answer(charge.entry, {"release": {"count": 1}})
    assert monday(ledger, declared).replay == {"release": {"count": 1}}


@pytest.mark.parametrize("step", ["heard", "unheard"])
def test_a_part_that_was_not_confirmed_is_recorded_once(ledger, declared, breaking, step):
    charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday", series=True)
    breaking.append(step)
    first = ledger.part(charge.entry, [5], {"release": {"days": [5]}}, after=None)
    assert first.kept == (5,)
    breaking += [step, step]
    with pytest.raises(PendingError, match="may have been, or not"):
        ledger.part(charge.entry, [5, 7], {"release": {"days": [5, 7]}}, after=first)
    assert ledger.part(charge.entry, [5, 7], {"release": {"days": [5, 7]}}, after=first).kept == (5, 7)
    assert [line.kind for line in Ledger.open(declared).history()] == ["limits", "charge", "part", "part"]


@pytest.mark.parametrize("step", ["heard", "unheard"])
def test_what_is_written_once_may_be_asked_for_again(ledger, declared, breaking, step):
    charge = monday(ledger, declared)
    breaking.append(step)
    with pytest.raises(LedgerError, match="may have been, or not") as caught:
        ledger.close(charge.entry, "not wanted")
    assert caught.value.__cause__ is None
    ledger.close(charge.entry, "not wanted")
    assert [line.kind for line in Ledger.open(declared).history()] == ["limits", "charge", "closed"]


def test_a_ledger_that_may_have_been_made_is_made_once(declared, monkeypatch):
    place = book._store(declared, 1).__class__
    real = place.make

    def unsure(self, rows, head, table):
        assert real(self, rows, head, table)
        raise Unsure

    with monkeypatch.context() as broken:
        broken.setattr(place, "make", unsure)
        with pytest.raises(LedgerError, match="may have been, or not"):
            Ledger.init(declared)
    assert Ledger.init(declared) == []
    assert Ledger.open(declared).verify().charges == 0
