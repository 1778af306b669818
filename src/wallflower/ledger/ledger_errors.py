"""What can be wrong with a ledger, whatever keeps it: what happened, that nothing was released, and what to do."""

from __future__ import annotations

from wallflower.errors import LedgerError, PendingError
from wallflower.stores.durable_file import RESTORE


def damaged(place: str, reason: str) -> LedgerError:
    return LedgerError(f"the ledger {place} is damaged: {reason}.", hint=f"Nothing was released. {RESTORE}")


def missing(place: str, table: str) -> LedgerError:
    return LedgerError(
        f"there is no ledger of table '{table}' at {place}.",
        hint="Nothing was released. Run `wallflower ledger init DECL` once; if there was one before, restore it instead.",
    )


def other_question(request: str) -> LedgerError:
    return LedgerError(
        f"request id '{request}' was used for another question, or under another declaration.", hint="Use a new id."
    )


def dead(request: str, entry: int) -> LedgerError:
    return LedgerError(
        f"request id '{request}' was charged (entry {entry}) and has no answer: the process that was to answer it has "
        "ended. Nothing was shown, and what it cost stays spent.",
        hint="Use a new id.",
    )


def pending(request: str, entry: int) -> PendingError:
    return PendingError(
        f"request id '{request}' has been charged (entry {entry}) and is still being answered.",
        hint="Ask again with the same id: it returns the answer when there is one, and costs nothing more.",
    )


def unsure(place: str, request: str) -> PendingError:
    return PendingError(
        f"the connection to {place} broke while the charge was being written, so it may have been, or not.",
        hint=f"Ask again with the request id '{request}': what was charged under it is not charged twice.",
    )


def unconfirmed(place: str) -> LedgerError:
    return LedgerError(
        f"the connection to {place} broke while it was being written, so it may have been, or not.",
        hint="Nothing was released. Try again: nothing is written twice.",
    )


def no_such_request(place: str, request: str) -> LedgerError:
    return LedgerError(
        f"no charge of {place} under the request id '{request}' waits for an answer.",
        hint="See `wallflower ledger history DECL`; an asker's ids are their own (--asker).",
    )


def not_waiting(place: str, entry: int) -> LedgerError:
    return LedgerError(
        f"entry {entry} of {place} is not a charge that waits for an answer.",
        hint="Nothing was released. Ask again with a new request id.",
    )


def nested(place: str) -> LedgerError:
    return LedgerError(
        f"the ledger {place} is asked on top of a charge or an answer that this thread is writing, by a signal's handler, say.",
        hint="Nothing was released by this. Ask when the other has ended, or in another thread.",
    )


def older_than(place: str, anchor: str) -> LedgerError:
    return LedgerError(
        f"the ledger {place} does not hold the entry {anchor}: it is older than what was seen of it, or another one.",
        hint=f"Nothing more should be released from it. {RESTORE}",
    )
