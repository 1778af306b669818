"""The ledger of one table: open it, charge it, record answers, change its limits. Where it is kept is a store's affair.

A charge is checked and debited in one transaction, and is on disk before anything is read; an answer is on disk before
anything is shown. A ledger is opened from its last checkpoint, and what was appended since is read and checked; the
whole chain is read by `verify`, and an older entry is checked when it is read.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wallflower.errors import LedgerError
from wallflower.ledger import ledger_errors, marker, statement, verification
from wallflower.ledger.admission import OWNER, Ask, Debit, Shares, checked, debits, standing
from wallflower.ledger.answers import Answers
from wallflower.ledger.chain import AfterCommit, confirmed, helpful
from wallflower.ledger.charge import Charge
from wallflower.ledger.charge_holders import ChargeHolders
from wallflower.ledger.events import Event
from wallflower.ledger.explained_records import explained, stored_as
from wallflower.ledger.hidden_charges import Unseen
from wallflower.ledger.history import Line, history
from wallflower.ledger.journal import Journal, limits_of
from wallflower.ledger.processes import is_gone, this_process
from wallflower.ledger.redeclaration import changed, refuse_other_table, refuse_unfit
from wallflower.privacy.account import Account
from wallflower.privacy.accounts import kind_of
from wallflower.privacy.guarantee import BUT_ASKED, Guarantee
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.stores.base import FORMAT, Store, Transaction, Unsure
from wallflower.stores.opening import is_server, open_store

PATIENCE_S = 30.0
"""How long a charge waits for other processes: for their writing, and for the answer under its own request id."""

POLL_S = 0.05


class Ledger(Answers):
    """The ledger of one table. Made by `Ledger.init`, never by a charge."""

    def __init__(self, store: Store, *, patience_s: float = PATIENCE_S, unseen: Unseen | None = None) -> None:
        super().__init__(store, unseen)
        self.patience_s = patience_s
        self._hands = ChargeHolders()
        self._part = uuid.uuid4().hex

    def _ended(self, *, committed: bool) -> None:
        self._hands.end(committed=committed)

    @classmethod
    def open(
        cls, place: Declaration | str | Path, *, patience_s: float = PATIENCE_S, unseen: Unseen | None = None
    ) -> Ledger:
        """An existing ledger, read and checked from its last checkpoint on; a server's by its declaration. `unseen`: charges
        that `show` and `preview` leave out.
        """
        store = _store(place, patience_s)
        ledger = cls(store, patience_s=patience_s, unseen=unseen)
        try:
            ledger._read()
        except BaseException:
            store.close()  # whoever keeps the error keeps its frames, and would keep a server's connection with them
            raise
        return ledger

    @classmethod
    def init(cls, declaration: Declaration, *, by: str = OWNER, reason: str = "") -> list[str]:
        """Create the ledger a declaration names, or record its new limits; spending is never reset. Says what changed."""
        store = _store(declaration, PATIENCE_S)
        ledger = cls(store)
        try:
            if not ledger._exists():
                return ledger._make(declaration, by, reason)
            return ledger._change(declaration, by, reason)
        finally:
            store.close()

    def check(self, guarantee: Guarantee, **named: Any) -> bool:
        """Refuse what `charge` would refuse now, or say whether its request is answered, or being answered, already."""
        return self._check(Ask(guarantee=guarantee, **named))

    def preview(self, guarantee: Guarantee, **named: Any) -> tuple[Debit, ...]:
        """Every account that a charge would debit and where it would leave them; refuses what `charge` would refuse."""
        return self._preview(Ask(guarantee=guarantee, **named))

    def charge(
        self,
        guarantee: Guarantee,
        *,
        declaration: Declaration,
        query: Any,
        request_id: str | None = None,
        asker: str = OWNER,
        purpose: str = "",
        shares: Shares | None = None,
        at: str | None = None,
        series: bool = False,
        holder: object = None,
    ) -> Charge:
        """Check and debit in one transaction, on disk before this returns; or the answer recorded under `request_id`.

        While that answer is being computed elsewhere, this waits for it as long as the ledger's patience lasts.
        """
        ask = Ask(
            guarantee=guarantee,
            declaration=declaration,
            query=query,
            request_id=uuid.uuid4().hex if request_id is None else request_id,
            asker=asker,
            purpose=purpose,
            shares=shares,
            at=at,
            series=series,
            holder=holder,
        )
        return self.admit(ask)

    def admit(self, ask: Ask) -> Charge:
        """`charge`, for a request that has an id."""
        deadline = time.monotonic() + self.patience_s
        unsure = False
        while True:
            try:
                charge = self._admit(ask)
            except Unsure:
                if unsure:
                    raise ledger_errors.unsure(self.place, str(ask.request_id)) from None
                unsure = True  # the next attempt finds the charge by its id, or makes it
                continue
            if charge is not None:
                return charge
            if time.monotonic() >= deadline:
                raise ledger_errors.pending(str(ask.request_id), self.entry_charged(ask.asker, str(ask.request_id)))
            time.sleep(POLL_S)

    @helpful
    def _admit(self, ask: Ask) -> Charge | None:
        """The charge, made or found; None while another process is answering it."""
        with self._transaction(write=True) as transaction:
            return self.admit_within(transaction, ask)

    def admit_within(self, transaction: Transaction, ask: Ask) -> Charge | None:
        journal = self.journal
        found = transaction.charge(ask.asker, str(ask.request_id))
        if found is not None:
            return self._found(transaction, found.entry, ask)
        booked = checked(journal, ask, self.place)
        debited = debits(journal, booked, ask.declaration)
        question = ask.question()
        content: dict[str, Any] = {
            "request": ask.request_id,
            "asker": ask.asker,
            "purpose": ask.purpose,
            "question": question,
            "fingerprint": ask.declaration.fingerprint,
            "account": booked[0].account.code,
            "amounts": {name: shown(amount) for name, amount in booked[0].amounts.items()},
            "promise": ask.guarantee.to_json(),
            "process": this_process(self._part, self._store.presence()),
        }
        if ask.series:
            content["series"] = True
        if ask.guarantee.protects == BUT_ASKED:
            content["record"] = stored_as(question)
        event = self._append(transaction, "charge", content, at=ask.at)
        self._hands.make(ask, event.entry)
        return Charge(
            entry=event.entry,
            request_id=str(ask.request_id),
            account=ask.declaration.id,
            at=event.at,
            head=event.hash,
            debited=debited,
            asked=question,
        )

    def _found(self, transaction: Transaction, entry: int, ask: Ask) -> Charge | None:
        """What a request that was charged before stands for now: its answer, a computation, or nothing any more."""
        event = self._event(transaction, entry)
        content = event.content
        if content["fingerprint"] != ask.declaration.fingerprint or not ask.is_question(content["question"]):
            raise ledger_errors.other_question(str(ask.request_id))
        reply = transaction.reply(entry)
        charge = Charge(
            entry=entry,
            request_id=content["request"],
            account=ask.declaration.id,
            at=event.at,
            head=event.hash,
            asked=content["question"],
            debited=standing(self.journal, ask),
        )
        if reply is None and content.get("series"):
            return replace(charge, part=self.part_within(transaction, entry))
        if reply is None:
            return self._unanswered(transaction, charge, ask, content)
        answer = self._event(transaction, reply.entry)
        if answer.kind == "closed":
            raise ledger_errors.dead(charge.request_id, entry)
        said = answer.content
        return replace(charge, replay=dict(said["release"]), file=said.get("file"))

    def _unanswered(
        self, transaction: Transaction, charge: Charge, ask: Ask, content: Mapping[str, Any]
    ) -> Charge | None:
        process = content["process"]
        mine = process["part"] == self._part and process["number"] == os.getpid()
        if self._hands.is_passing(ask):
            return None
        if mine and self._hands.is_loose(ask):
            self._hands.hand(ask, charge.entry)
            return charge
        if mine:
            gone = not self._hands.holds(charge.entry)
        else:
            gone = is_gone(process, self._store.present, one_machine=not is_server(self.place))
        if not gone:
            return None
        if _is_recomputed(content):
            self._hands.hand(ask, charge.entry)
            return charge
        self._append(transaction, "closed", {"charge": charge.entry, "why": "its process has ended"})
        raise AfterCommit(ledger_errors.dead(charge.request_id, charge.entry))

    @helpful
    def _check(self, ask: Ask) -> bool:
        with self._transaction(write=False) as transaction:
            if ask.request_id is not None:
                found = transaction.charge(ask.asker, ask.request_id)
                if found is not None:
                    content = self._event(transaction, found.entry).content
                    if content["fingerprint"] != ask.declaration.fingerprint or not ask.is_question(
                        content["question"]
                    ):
                        raise ledger_errors.other_question(ask.request_id)
                    return not _is_recomputed(content) or transaction.reply(found.entry) is not None
            checked(self.journal, ask, self.place)
        return False

    @helpful
    def _preview(self, ask: Ask) -> tuple[Debit, ...]:
        with self._transaction(write=False) as transaction:
            journal = self._seen(transaction)
            return debits(journal, checked(journal, ask, self.place), ask.declaration)

    def answer(self, entry: int, release: Mapping[str, Any], *, file: bytes | None = None) -> dict[str, Any]:
        """Record the answer to a charge, and its file; on disk before this returns. Returns what is recorded.

        An answer is recorded once; where it may be computed anew, the first that was recorded wins.
        """
        for last in (False, True):
            try:
                return self._answer(entry, release, file)
            except Unsure:
                if last:
                    raise ledger_errors.unsure(self.place, f"of entry {entry}") from None
        raise AssertionError  # pragma: no cover - the loop returns or raises

    @helpful
    def _answer(self, entry: int, release: Mapping[str, Any], file: bytes | None) -> dict[str, Any]:
        with self._transaction(write=True) as transaction:
            return self.answer_within(transaction, entry, release, file)

    def answer_within(
        self, transaction: Transaction, entry: int, release: Mapping[str, Any], file: bytes | None = None
    ) -> dict[str, Any]:
        charge = self._event(transaction, entry) if 0 < entry <= self.journal.entry else None
        if charge is None or charge.kind != "charge" or charge.content.get("series"):
            raise ledger_errors.not_waiting(self.place, entry)
        content: dict[str, Any] = {"charge": entry, "release": dict(release)}
        if file is not None:
            content["file"] = hashlib.sha256(file).hexdigest()
        reply = transaction.reply(entry)
        if reply is not None:
            said = self._event(transaction, reply.entry).content
            again = reply.kind == "answer" and said["release"] == content["release"]
            if reply.kind == "answer" and (again or _is_recomputed(charge.content)):
                return dict(said["release"])
            raise ledger_errors.not_waiting(self.place, entry)
        if file is not None:
            transaction.keep(content["file"], file)
        self._append(transaction, "answer", content)
        self._hands.take_back(entry)
        return dict(release)

    def give_up(self, entry: int) -> bool:
        """Say that this process will not answer a charge. True where its request id may be asked again, uncharged."""
        self._hands.let_go(entry)
        try:
            with self._transaction(write=False) as transaction:
                content = self._event(transaction, entry).content
                if content.get("series") or _is_recomputed(content):
                    return True
            self.close(entry, "it failed")
        except Exception:  # noqa: BLE001 - the failure that is being told comes first; the id dies with the process
            return False
        return False

    def forsake(self, holder: object) -> None:
        """`give_up` whatever was handed to `holder`, who need not know of it: an interrupt may have come before."""
        for entry in self._hands.held_by(holder):
            self.give_up(entry)

    @helpful
    def show(self, declaration: Declaration) -> statement.Statement:
        """What has been spent, what is left, and what the numbers bound."""
        with self._transaction(write=False) as transaction:
            journal = self._seen(transaction)
            refuse_other_table(journal, limits_of(declaration), self.place)
            said = [self._event(transaction, entry).content["promise"]["holds_when"] for entry in journal.conditional]
            found = explained(transaction, lambda entry: self._event(transaction, entry), most=statement.LISTED)
            return statement.of(journal, declaration, explained=found, conditions=sorted(set(said)))

    @helpful
    def history(self, *, asker: str | None = None) -> list[Line]:
        """Every event in plain words, oldest first; with `asker`, theirs alone."""
        with self._transaction(write=False) as transaction:
            events = list(verification.chain(transaction, self.journal.table))
        answered = frozenset(event.content["charge"] for event in events if event.kind in {"answer", "part"})
        return list(history(events, answered=answered, asker=asker))

    @helpful
    def verify(self, *, anchor: str | None = None) -> verification.Verified:
        """The whole chain, every sum and every kept file; with `anchor`, that it holds that entry."""
        self._store.inspect()
        with self._transaction(write=False) as transaction:
            found = verification.verify(transaction, self.journal, anchor=anchor)
        if not found.holds_anchor:
            raise ledger_errors.older_than(self.place, str(anchor))
        return found

    @helpful
    def backup(self, target: str | Path) -> None:
        """A whole copy of the ledger in a file, consistent while others write."""
        self._read()
        try:
            self._store.backup(str(target))
        except FileExistsError:
            raise LedgerError(f"'{target}' is there already, and is not replaced.", hint="Name another file.") from None

    @helpful
    def _read(self) -> None:
        with self._transaction(write=False):
            pass

    @helpful
    def _exists(self) -> bool:
        return self._store.exists()

    @helpful
    @confirmed
    def _change(self, declaration: Declaration, by: str, reason: str) -> list[str]:
        now = limits_of(declaration)
        with self._transaction(write=True) as transaction:
            refuse_unfit(self.journal, declaration, now, self.place)
            lines = changed(self.journal, declaration, now)
            if lines:
                self._append(transaction, "limits", {"format": FORMAT, **now, "by": by, "reason": reason})
        return lines

    @helpful
    @confirmed
    def _make(self, declaration: Declaration, by: str, reason: str) -> list[str]:
        limits = {"format": FORMAT, **limits_of(declaration), "by": by, "reason": reason}
        earlier = marker.earlier(declaration)
        if earlier is not None:
            limits["replaces"] = earlier
        journal = Journal(table=declaration.id)
        event = Event.after(journal.head, table=declaration.id, entry=1, kind="limits", content=limits)
        journal.add(event)
        if not self._store.make([event.row()], journal.place, declaration.id):
            return self._change(declaration, by, reason)
        name = self.place if is_server(self.place) else Path(self.place).name
        lines = [f"Made the ledger {name} of table '{declaration.id}'."]
        return lines + marker.warning(declaration, earlier) + marker.leave(declaration, event) + self._advice()

    def _advice(self) -> list[str]:
        """What the store has to say about how it is set up."""
        advice: Callable[[], list[str]] | None = getattr(self._store, "advice", None)
        return advice() if advice is not None else []


def _is_recomputed(charge: Mapping[str, Any]) -> bool:
    """Whether a charge that was never answered may be answered yet, uncharged: its promise is no matter of chance."""
    return kind_of(Account.of(charge["account"])).recomputed


def _store(place: Declaration | str | Path, patience_s: float) -> Store:
    if isinstance(place, Declaration):
        return open_store(place.ledger, table=place.id, patience_s=patience_s)
    return open_store(place, table=None, patience_s=patience_s)
