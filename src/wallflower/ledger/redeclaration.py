"""What a declaration may change in an existing ledger, said in sentences; spending is never one of the things."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from wallflower.errors import LedgerError, NotComposable
from wallflower.ledger.journal import Books, limits_of
from wallflower.privacy.accounts import Account, account_of, limit
from wallflower.privacy.guarantees import BUT_ASKED, SENSITIVE_ROWS
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown


def refuse_other_table(books: Books, declaration: Declaration, path: Path) -> None:
    """Refuse a declaration of other rows, or of another meaning of "one row more or less"."""
    now = {"table": declaration.id, "neighbours": declaration.neighbours, "unit": declaration.unit}
    for name, value in now.items():
        if books.limits[name] != value:
            raise LedgerError(
                f"{path.name} is the ledger of a table with {name} = '{books.limits[name]}', and this declaration says "
                f"'{value}': what has been spent there would not count here.",
                hint="Put it back, or name another file as `ledger` in [table] if these are other rows.",
            )


def refuse_unfit(books: Books, declaration: Declaration, path: Path) -> None:
    """Refuse a declaration whose releases could not be added to what this ledger already holds."""
    refuse_other_table(books, declaration, path)
    definitions = limits_of(declaration)["models"]
    for name, charged in books.charged_models.items():
        if name in definitions and definitions[name]["definition"] != charged:
            raise NotComposable(
                f"[identify.{name}] has changed since its answers were charged, and they were promised under the old one.",
                hint="Declare the changed model under a new name; the old account stays as it is.",
            )
    for account in _weaker(declaration):
        most, delta = limit(account, declaration), books.spent(account)["delta"]
        if most is not None and delta > most["delta"] == 0:
            raise NotComposable(
                f"releases with delta = {shown(delta)} in all have been made, and {account.where} promises without any.",
                hint=f"Remove {account.where}." if account.model else f"Declare a delta in {account.where}.",
            )


def changed(books: Books, declaration: Declaration) -> list[str]:
    """One sentence for each limit or model that differs from the latest in the ledger."""
    before, after = books.limits, limits_of(declaration)
    lines = []
    for place, key in (("budget", "budgets"), ("identify", "models")):
        for name in sorted({*before[key], *after[key]}):
            old, new = before[key].get(name), after[key].get(name)
            if old != new:
                lines.append(f"[{place}.{name}] {_difference(old, new)}.")
    over = (_over(books, declaration, account) for account in _weaker(declaration))
    return lines + [line for line in over if line] if lines else []


def _difference(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    if new is None:
        return "is no longer declared: nothing more can be charged to it, and what was spent stays on record"
    if old is None:
        return f"is new: {_said(new)}; what was released before and counts there is already spent"
    if _said(old) == _said(new):
        return "is defined differently"
    return f"is now {_said(new)}; it was {_said(old)}"


def _said(amounts: Mapping[str, Any]) -> str:
    named = [name for name in ("epsilon", "delta", "publications") if name in amounts]
    return ", ".join(f"{name} = {shown(Fraction(amounts[name]))}" for name in named) or "without a limit"


def _over(books: Books, declaration: Declaration, account: Account) -> str:
    most = limit(account, declaration)
    spent = books.spent(account)
    if most is None or all(spent[name] <= amount for name, amount in most.items()):
        return ""
    return f"{account.where} is below what has been spent ({shown(spent['epsilon'])}): nothing is left in it."


def _weaker(declaration: Declaration) -> list[Account]:
    """The accounts that hold all of their family; a limit that fits these fits every account."""

    account = partial(account_of, declaration)
    models = [account("sensitive-privacy", SENSITIVE_ROWS, model) for model in declaration.models]
    return [account("dp", BUT_ASKED), account("output-constrained-dp", BUT_ASKED), *models]
