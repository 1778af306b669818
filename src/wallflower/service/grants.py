"""Who may ask about a table, and how much of it: the operator's file, and what owners grant on top of it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from wallflower.errors import UsageError
from wallflower.privacy.accounts import KINDS
from wallflower.privacy.guarantees import FAMILIES
from wallflower.schema.declaration import Budget
from wallflower.schema.exact import exact, shown
from wallflower.service.audit_log import note
from wallflower.service.authorisation import Role
from wallflower.service.configuration import Policy, Service
from wallflower.stores.database import Transaction

SHAREABLE = tuple(
    family for family, promise in FAMILIES.items() if "epsilon" in KINDS[family].adds and not promise.of_a_stream
)
"""Families whose budgets can be divided: a share is an ε."""


def roles(seen: Transaction, service: Service, user: str, table: str) -> frozenset[Role]:
    """Everything `user` is for `table`."""
    granted = seen.all(
        "SELECT role FROM grants WHERE holder = :user AND subject = :table AND role = 'asker'", user=user, table=table
    )
    extra: frozenset[Role] = frozenset({"asker"}) if granted and table in service.tables else frozenset()
    return service.roles(user, table) | extra


def grant(changes: Transaction, *, table: str, user: str, by: str, source: str) -> None:
    """Let a user ask about a table."""
    if not changes.one("SELECT name FROM users WHERE name = :user", user=user):
        raise UsageError(
            f"there is no user '{user[:60]}'.", hint="The operator makes accounts: wallflower serve user add."
        )
    changes.run(
        "DELETE FROM grants WHERE holder = :user AND subject = :table AND role = 'asker'", user=user, table=table
    )
    changes.run(
        "INSERT INTO grants (holder, subject, role, by_whom) VALUES (:user, :table, 'asker', :by)",
        user=user,
        table=table,
        by=by,
    )
    note(changes, who=by, source=source, did="asker added", subject=table, words=user)


def withdraw_grant(changes: Transaction, *, table: str, user: str, by: str, source: str) -> None:
    if not changes.run("DELETE FROM grants WHERE holder = :user AND subject = :table", user=user, table=table):
        raise UsageError(
            f"'{user[:60]}' was not added here.", hint="Askers of the operator's file are the operator's to remove."
        )
    note(changes, who=by, source=source, did="asker removed", subject=table, words=user)


def set_share(changes: Transaction, *, table: str, asker: str, family: str, epsilon: str, by: str, source: str) -> None:
    """A second limit for one asker; an empty text takes it away."""
    if family not in SHAREABLE:
        raise UsageError(f"a share is of one of {', '.join(SHAREABLE)}.")
    if not changes.one("SELECT name FROM users WHERE name = :asker", asker=asker):
        raise UsageError(f"there is no user '{asker[:60]}'.", hint="The share of everybody else is the operator's.")
    amount = exact(epsilon, name="epsilon") if epsilon.strip() else None
    if amount is not None and amount < 0:
        raise UsageError("a share is at least 0.")
    changes.run(
        "DELETE FROM shares WHERE subject = :table AND asker = :asker AND family = :family",
        table=table,
        asker=asker,
        family=family,
    )
    if amount is not None:
        changes.run(
            "INSERT INTO shares (subject, asker, family, epsilon, by_whom) VALUES (:table, :asker, :family, :epsilon, :by)",
            table=table,
            asker=asker,
            family=family,
            epsilon=shown(amount),
            by=by,
        )
    said = "no share" if amount is None else f"{family} ε {shown(amount)}"
    note(changes, who=by, source=source, did="share set", subject=table, words=f"{asker}: {said}")


def shares(seen: Transaction, service: Service, table: str, asker: str) -> dict[str, Fraction]:
    """Family → the most this asker may spend: the owner's word, else the file's, else the file's default, each by itself."""
    entry = service.tables[table]
    found = {**entry.shares.get("default", {}), **entry.shares.get(asker, {})}
    for row in seen.all(
        "SELECT family, epsilon FROM shares WHERE subject = :table AND asker = :asker", table=table, asker=asker
    ):
        found[str(row["family"])] = exact(str(row["epsilon"]))
    return found


def budgets(limits: Mapping[str, Fraction]) -> dict[str, Budget] | None:
    """The same as the ledger takes them; None where nothing is set, so that a declaration's own [askers] hold."""
    return {family: Budget(epsilon=most) for family, most in limits.items()} or None


def policies(seen: Transaction, service: Service, table: str) -> list[tuple[str, Policy]]:
    """Standing policies: an id ('file' for the operator's) and what they approve."""
    written = [("file", policy) for policy in service.tables[table].policies]
    rows = seen.all("SELECT * FROM policies WHERE subject = :table AND ended = 0 ORDER BY made_at", table=table)
    return written + [
        (
            str(row["id"]),
            Policy(
                command=str(row["command"]),
                epsilon_at_most=exact(str(row["epsilon_at_most"])),
                askers=tuple(str(row["askers"]).split(",")),
            ),
        )
        for row in rows
    ]
