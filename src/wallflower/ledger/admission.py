"""What a charge must pass, as functions of the books alone: request ids, recorded limits, and every account it is booked in."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from wallflower.errors import LedgerError, UsageError
from wallflower.ledger.journal import Books, asked, limits_of
from wallflower.ledger.redeclaration import refuse_unfit
from wallflower.privacy.accounts import Booking, bookings, check, limit
from wallflower.privacy.guarantees import Guarantee
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown


def recorded(books: Books, declaration: Declaration, query: Mapping[str, Any], request_id: str | None) -> int | None:
    """The charge that `request_id` stands for; None for a new id; refused where the id cannot be used."""
    if request_id is None:
        return None
    if not request_id.strip() or not request_id.isprintable() or len(request_id) > 200:
        raise UsageError("a request id is 1 to 200 printable characters.", hint="Leave it out to have one made.")
    entry = books.requests.get(request_id)
    if entry is None:
        return None
    if books.charges[entry].asked != asked(query, declaration.fingerprint):
        raise LedgerError(
            f"request id '{request_id}' was used for another question, or under another declaration.",
            hint="Use a new id.",
        )
    if entry not in books.answers:
        raise LedgerError(
            f"request id '{request_id}' was charged (entry {entry}) and has no answer: the release was interrupted "
            "or is still running. Nothing was shown, and what it cost stays spent.",
            hint="Use a new id.",
        )
    return entry


def checked(books: Books, guarantee: Guarantee, declaration: Declaration, path: Path) -> tuple[Booking, ...]:
    """Every booking of a charge, or the refusal of the first account that cannot take it."""
    refuse_unfit(books, declaration, path)
    booked = bookings(guarantee, declaration)
    if limits_of(declaration) != books.limits:
        raise LedgerError(
            f"the limits of '{declaration.id}' differ from the ones in {path.name}.",
            hint=f"Nothing was charged. Run `wallflower ledger init {'DECL' if declaration.path is None else declaration.path.name}` to record them.",
        )
    for booking in booked:
        check(booking, books.spent(booking.account), declaration, own=booked[0].account)
    return booked


def standing(
    books: Books, booked: tuple[Booking, ...], declaration: Declaration, *, with_charge: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Spent and left in the weakest booked account of the promise's own family: that one holds all of the family."""
    booking = [each for each in booked if each.account.family == booked[0].account.family][-1]
    most = limit(booking.account, declaration) or {}
    before = books.spent(booking.account)
    spent = {name: before[name] + (booking.amounts[name] if with_charge else 0) for name in most}
    named = [name for name in most if name != "delta" or most[name] or spent[name]]
    return {name: shown(spent[name]) for name in named}, {
        name: shown(max(most[name] - spent[name], Fraction(0))) for name in named
    }
