"""An interrupt may come at any moment; one that comes just as a transaction has begun leaves no lock behind."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import suppress

import pyarrow as pa
import pytest

import wallflower
from tests.declared import declare
from tests.ledger.test_ledger_errors import charge
from wallflower.count import Outliers
from wallflower.errors import LedgerError
from wallflower.ledger import Ledger
from wallflower.ledger.chain import Chain
from wallflower.ledger.journal import Journal
from wallflower.stores import sqlite
from wallflower.stores.interrupts import Block, block
from wallflower.stores.sqlite import SqliteStore

PATIENCE_S = 300
"""For a thread that waits for a lock nobody lets go of; one that waits for a processor needs less."""
BEGUN = {
    "ledger": Chain._alone,
    "store": SqliteStore.transaction,
    "file": sqlite._transaction,
}


@pytest.fixture
def declared(tmp_path):
    declaration = declare(tmp_path)
    Ledger.init(declaration)
    return declaration


@pytest.mark.parametrize("which", BEGUN)
def test_an_interrupt_as_a_transaction_begins_lets_go_of_it(declared, which):
    ledger = Ledger.open(declared, patience_s=0.2)
    begun = BEGUN[which].__wrapped__.__code__

    def interrupt(frame, event, called):
        """As Python does on its way back from a call, if a signal has come meanwhile."""
        if event == "c_return" and called is next and frame.f_locals["self"].gen.gi_code is begun:
            sys.setprofile(None)
            raise KeyboardInterrupt

    def interrupted():
        sys.setprofile(interrupt)
        try:
            charge(ledger, declared)
        finally:
            sys.setprofile(None)

    with pytest.raises(KeyboardInterrupt) as kept:  # with its traceback, as whoever cleans up under it has
        interrupted()
    made = []
    again = threading.Thread(target=lambda: made.append(charge(ledger, declared).entry), daemon=True)
    again.start()
    again.join(PATIENCE_S)
    assert made == [2]
    assert kept.value is not None


def test_an_interrupt_as_a_transaction_ends_lets_the_same_thread_go_on(declared):
    """Python looks for signals as it enters `__exit__`, before anything there can be done about one."""
    ledger = Ledger.open(declared, patience_s=0.2)

    def interrupt(frame, event, _called):
        if event == "call" and frame.f_code is Block.__exit__.__code__:
            sys.setprofile(None)
            raise KeyboardInterrupt

    made = []

    def asks():
        sys.setprofile(interrupt)
        try:
            charge(ledger, declared)
        except KeyboardInterrupt:
            made.append(charge(ledger, declared).entry)  # under the interrupt, whose traceback holds what was open

    asking = threading.Thread(target=asks, daemon=True)
    asking.start()
    asking.join(PATIENCE_S)
    assert made


@pytest.mark.parametrize("which", [2, 3])
def test_an_interrupt_as_an_inner_block_ends_keeps_nobody_waiting(declared, which):
    """The store's blocks end within the ledger's: what is within one that is left is left as well."""
    ledger, ended = Ledger.open(declared), []

    def interrupt(frame, event, _called):
        if event == "call" and frame.f_code is Block.__exit__.__code__:
            ended.append(frame)
            if len(ended) == which:
                sys.setprofile(None)
                raise KeyboardInterrupt

    def interrupted():
        sys.setprofile(interrupt)
        try:
            charge(ledger, declared)
        finally:
            sys.setprofile(None)

    with pytest.raises(KeyboardInterrupt) as kept:
        interrupted()
    ended.clear()
    assert charge(Ledger.open(declared, patience_s=0.2), declared).entry == 2
    assert kept.value is not None


def test_an_interrupt_amid_reading_keeps_nobody_waiting(declared):
    """A cursor that its traceback keeps would keep the connection from closing, and the transaction with it."""
    charge(Ledger.open(declared), declared)
    read = []

    def interrupted():
        with SqliteStore(declared.ledger, patience_s=0.2).transaction(write=True) as begun:
            read.append(begun.entries(after=0))
            next(read[0])  # there is another
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert charge(Ledger.open(declared, patience_s=0.2), declared).entry == 3


@pytest.mark.parametrize("moment", [("call", Journal.place.fget), ("return", Ledger.admit), ("return", Ledger.charge)])
def test_an_interrupt_just_after_a_charge_leaves_its_request_waiting_for_nobody(tmp_path, moment):
    """Charged, and handed to nobody: its id is over, or is handed on, and never waited for as long as the process runs."""
    declaration = declare(tmp_path)
    Ledger.init(declaration)
    session = wallflower.table(pa.table({"employee": ["a", "b", "c"], "x": [1, 2, 3]}), declaration)
    session.ledger.patience_s = 0.2
    query = Outliers(columns=("x",), neighbours=2, radius=5, epsilon="0.5")
    session.preview(query)  # opens all that is opened once
    event, function = moment
    charged, within = [], {Chain._append.__code__, Ledger.admit_within.__code__}

    def interrupt(frame, seen, _called):
        if seen == "return" and frame.f_code is Chain._append.__code__:
            charged.append(frame.f_code)
        if charged and seen == event and frame.f_code is function.__code__ and frame.f_back.f_code not in within:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(interrupt)
    try:
        session.release(query, "monday")
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
    assert charged
    with suppress(LedgerError):  # not PendingError
        session.release(query, "monday")
    assert session.ledger.verify().charges == 1


def test_a_transaction_that_an_interrupt_left_open_ends_with_the_interrupt(declared):
    """Whoever forgets the interrupt and asks nothing more keeps nobody else waiting."""
    ledger = Ledger.open(declared, patience_s=0.2)

    def interrupt(frame, event, _called):
        if event == "call" and frame.f_code is Block.__exit__.__code__:
            sys.setprofile(None)
            raise KeyboardInterrupt

    try:
        sys.setprofile(interrupt)
        charge(ledger, declared)
    except KeyboardInterrupt:
        pass
    made = []
    again = threading.Thread(target=lambda: made.append(charge(ledger, declared).entry), daemon=True)
    again.start()
    again.join(PATIENCE_S)
    assert made == [2]


@pytest.mark.parametrize("careful", [True, False])
def test_a_handler_that_asks_on_top_of_a_charge_undoes_nothing_of_it(declared, monkeypatch, careful):
    """A charge that was undone beneath its caller was told as made: two drew under one entry."""
    ledger = Ledger.open(declared, patience_s=0.2)
    append = Chain._append
    told, refused = [], []

    def handler(_number, _frame):
        try:
            told.append(charge(ledger, declared).entry)
        except LedgerError as error:
            refused.append(str(error))
            if not careful:
                raise

    def interrupted(self, transaction, kind, content, *, at=None):
        made = append(self, transaction, kind, content, at=at)
        monkeypatch.setattr(Chain, "_append", append)
        signal.raise_signal(signal.SIGUSR1)
        return made

    monkeypatch.setattr(Chain, "_append", interrupted)
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        told.append(charge(ledger, declared).entry)
    except LedgerError:
        assert not careful
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(refused) == 1
    assert len(told) == (1 if careful else 0)
    assert Ledger.open(declared).verify().charges == len(told)
    assert charge(ledger, declared).entry == 2 + len(told)


def test_a_block_that_was_closed_beneath_its_caller_does_not_end_well():
    @block
    def steps():
        yield

    opened = steps()
    with pytest.raises(RuntimeError, match="undone"), opened:
        opened.close()
