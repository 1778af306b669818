"""What a declaration may change in an existing ledger, said in sentences; spending is never one of the things."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from wallflower.errors import LedgerError, NotComposable
from wallflower.ledger.journal import Journal
from wallflower.privacy.account import Account
from wallflower.privacy.accounts import KINDS, limited, where
from wallflower.privacy.sensitive_privacy import SENSITIVE
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown

RAISED = (
    "A raised limit is a weaker promise: everyone was told the old one, and together all answers, those given before "
    "included, may now give away up to the new one."
)


def refuse_other_table(journal: Journal, now: Mapping[str, Any], place: str) -> None:
    """Refuse a declaration, as `limits_of` writes it, of other rows or of another meaning of "one row more or less"."""
    for name in ("table", "neighbours", "unit"):
        if journal.limits[name] != now[name]:
            raise LedgerError(
                f"{place} is the ledger of a table with {name} = '{journal.limits[name]}', and this declaration says "
                f"'{now[name]}': what has been spent there would not count here.",
                hint="Put it back, or name another file as `ledger` in [table] if these are other rows.",
            )


def refuse_unfit(journal: Journal, declaration: Declaration, now: Mapping[str, Any], place: str) -> None:
    """Refuse a declaration whose releases could not be added to what this ledger already holds."""
    refuse_other_table(journal, now, place)
    definitions = now["models"]
    for name, charged in journal.charged_models.items():
        if name in definitions and definitions[name] != charged:
            raise NotComposable(
                f"[identify.{name}] has changed since its answers were charged, and they were promised under the old one.",
                hint="Declare the changed model under a new name; the old account stays as it is.",
            )
    for account in declared_accounts(declaration):
        most, delta = limited(account, declaration), journal.spent(account).get("delta", Fraction(0))
        if most is not None and "delta" in most.amounts and delta > most.amounts["delta"] == 0:
            raise NotComposable(
                f"releases with delta = {shown(delta)} in all have been made, and {where(account)} promises without any.",
                hint=f"Remove {where(account)}." if account.model else f"Declare a delta in {where(account)}.",
            )


def changed(journal: Journal, declaration: Declaration, after: Mapping[str, Any]) -> list[str]:
    """One sentence for each limit or model that differs from the latest in the ledger."""
    before = journal.limits
    lines: list[str] = []
    raised = False
    for code in sorted({*before["limits"], *after["limits"]}):
        old, new = before["limits"].get(code), after["limits"].get(code)
        account = Account.of(code)
        here, model = where(account), account.model
        if old != new:
            lines.append(f"{here} {_difference(old, new)}.")
            raised = raised or _is_raised(old, new)
        elif model and before["models"][model] != after["models"][model]:
            lines.append(f"{here} is defined differently.")
    for asker in sorted({*before["askers"], *after["askers"]}):
        old, new = before["askers"].get(asker, {}), after["askers"].get(asker, {})
        lines += [
            f"[askers.{asker}.{code}] {_difference(old.get(code), new.get(code))}."
            for code in sorted({*old, *new})
            if old.get(code) != new.get(code)
        ]
    if before["askers"].keys() != after["askers"].keys() and not lines:
        lines.append("[askers] names others than before.")
    if raised and journal.charges:
        lines.append(RAISED)
    over = (_over(journal, declaration, account) for account in declared_accounts(declaration))
    return lines + [line for line in over if line] if lines else []


def _difference(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    if new is None:
        return "is no longer declared: nothing more can be charged to it, and what was spent stays on record"
    if old is None:
        return f"is new: {said(new)}; what was released before and counts there is already spent"
    return f"is now {said(new)}; it was {said(old)}"


def _is_raised(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> bool:
    if old is None or new is None:
        return False
    names = ("epsilon", "delta", "publications", "rho", "conversion_delta")
    return any(Fraction(new.get(name, 0)) > Fraction(old.get(name, 0)) for name in names)


def said(amounts: Mapping[str, Any]) -> str:
    """A written limit in words."""
    named = [name for name in ("epsilon", "delta", "publications") if name in amounts]
    listed = ", ".join(f"{name} = {shown(Fraction(amounts[name]))}" for name in named) or "without a limit"
    if amounts.get("accounting") == "zcdp":
        listed += f", or rho = {amounts['rho']} (delta {amounts['conversion_delta']} for its conversion)"
    return listed


def _over(journal: Journal, declaration: Declaration, account: Account) -> str:
    most, spent = limited(account, declaration), journal.spent(account)
    if most is None or most.refuses(spent) is None:
        return ""
    name = most.refuses(spent) or ""
    return f"{where(account)} is below what has been spent ({shown(spent[name])}): nothing is left in it."


def declared_accounts(declaration: Declaration) -> list[Account]:
    """The weakest account of every declared family and model: it holds the most."""
    weakest = {kind.budget: kind.code for kind in sorted(KINDS.values(), key=lambda kind: kind.order)}
    found = [Account(code) for budget, code in weakest.items() if budget in declaration.budgets]
    return found + [Account(SENSITIVE.code, model) for model in declaration.models]
