"""Users, their sessions and tokens. Accounts are the operator's; owners grant roles and shares of their tables alone.

Every refusal says the same and takes the same path: a wrong name, a wrong password and a disabled account cannot be told
apart. Failed attempts are throttled by name and by address, with a wait that doubles.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from wallflower.errors import UsageError
from wallflower.service.audit_log import note
from wallflower.service.passwords import LEAST_LENGTH, MOST_LENGTH, digest_of, hashed, matches, new_secret
from wallflower.stores.database import Database, Transaction

SESSION_S = 12 * 3600
TOKEN_DAYS = (1, 365)
FREE_ATTEMPTS = 5
MOST_WAIT_S = 900
RESERVED = frozenset({"default", "operator", "policy", "worker", "service", "nobody", "file"})
"""Words that the service itself signs with, or that mean everybody: an account of that name would be taken for it."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody who is logged in."""

    name: str
    operator: bool
    session: str | None
    """Digest of the session, for the form's token; None for a program with an API token."""


@dataclass(frozen=True)
class People:
    """The accounts of one service. `clock` is handed in, so that tests need not wait."""

    database: Database
    clock: Callable[[], float]

    def add(self, name: str, password: str | None, *, operator: bool = False, by: str = "operator") -> None:
        """Make an account; without a password only OpenID Connect lets it in."""
        if not NAME.fullmatch(name):
            raise UsageError(
                f"'{name[:60]}' is not a user's name.", hint="Letters, digits, '.', '_' and '-'; at most 63."
            )
        if name.lower() in RESERVED:
            raise UsageError(f"'{name}' is a word of the service's own.", hint="Choose another name.")
        with self.database.write() as changes:
            alike = changes.one("SELECT name FROM users WHERE lower(name) = :name", name=name.lower())
            if alike is not None:
                raise UsageError(
                    f"there is a user '{alike['name']}' already.",
                    hint="Use `user password` to set a new password; names that differ in case alone would be mistaken.",
                )
            changes.run(
                "INSERT INTO users (name, password, operator, disabled, subject, made_at) "
                "VALUES (:name, :password, :operator, 0, NULL, :at)",
                name=name,
                password=None if password is None else hashed(checked(password)),
                operator=int(operator),
                at=changes.now_text(),
            )
            note(changes, who=by, source="desk", did="user added", words=name)

    def set_password(self, name: str, password: str, *, by: str, source: str) -> None:
        """A new password ends every session of that user."""
        with self.database.write() as changes:
            changed = changes.run(
                "UPDATE users SET password = :password WHERE name = :name",
                password=hashed(checked(password)),
                name=name,
            )
            if not changed:
                raise UsageError(f"there is no user '{name[:60]}'.")
            changes.run("DELETE FROM sessions WHERE name = :name", name=name)
            note(changes, who=by, source=source, did="password changed", words=name)

    def disable(self, name: str, *, disabled: bool, by: str = "operator") -> None:
        """A disabled user is out at once: sessions end and tokens stop."""
        with self.database.write() as changes:
            if not changes.run("UPDATE users SET disabled = :on WHERE name = :name", on=int(disabled), name=name):
                raise UsageError(f"there is no user '{name[:60]}'.")
            changes.run("DELETE FROM sessions WHERE name = :name", name=name)
            note(changes, who=by, source="desk", did="user disabled" if disabled else "user enabled", words=name)

    def log_in(self, name: str, password: str, *, source: str) -> str | None:
        """A new session id, or None. A refused attempt makes the next ones wait."""
        name = name[:100]
        return self.start_session(name, source=source) if self.confirm(name, password, source=source) else None

    def confirm(self, name: str, password: str, *, source: str) -> bool:
        """Whether this is the password, with the same waits wherever it is asked: a stolen session is no way to guess it."""
        with self.database.read() as seen:
            found = seen.one("SELECT password, disabled FROM users WHERE name = :name", name=name)
        kept = None if found is None or found["disabled"] else found["password"]
        right = matches(password, kept)  # before the wait is looked at: every refusal costs one hash
        if self._must_wait(name, source) or not right:
            self._failed(name, source)
            return False
        return True

    def must_wait(self, source: str) -> bool:
        """Whether an address has failed so often that nothing more is looked into now."""
        return self._waits(_keys("", source)[1][0])

    def failed_elsewhere(self, source: str, *, who: str) -> None:
        """Somebody came back from a provider and was not let in. Counted by address alone: nobody has said a name yet."""
        with self.database.write() as changes:
            self._count_failure(changes, *_keys("", source)[1])
            note(changes, who=who, source=source, did="login refused")

    def has_password(self, name: str) -> bool:
        with self.database.read() as seen:
            found = seen.one("SELECT password FROM users WHERE name = :name", name=name)
        return found is not None and found["password"] is not None

    def start_session(self, name: str, *, source: str) -> str:
        """A session of somebody whose identity has been shown; always a new id, so that none can be planted beforehand."""
        secret = new_secret()
        now = self.clock()
        with self.database.write() as changes:
            changes.run("DELETE FROM sessions WHERE ends_at < :now", now=now)
            changes.run("DELETE FROM attempts WHERE who = :who", who=_keys(name, source)[0][0])
            changes.run(
                "INSERT INTO sessions (digest, name, made_at, ends_at) VALUES (:digest, :name, :now, :ends)",
                digest=digest_of(secret),
                name=name,
                now=now,
                ends=now + SESSION_S,
            )
            note(changes, who=name, source=source, did="logged in")
        return secret

    def log_out(self, person: Person, *, source: str) -> None:
        with self.database.write() as changes:
            changes.run("DELETE FROM sessions WHERE digest = :digest", digest=person.session)
            note(changes, who=person.name, source=source, did="logged out")

    def by_session(self, secret: str) -> Person | None:
        with self.database.read() as seen:
            found = seen.one(
                "SELECT u.name, u.operator, s.digest FROM sessions s JOIN users u ON u.name = s.name "
                "WHERE s.digest = :digest AND s.ends_at > :now AND u.disabled = 0",
                digest=digest_of(secret),
                now=self.clock(),
            )
        return (
            None
            if found is None
            else Person(name=found["name"], operator=bool(found["operator"]), session=found["digest"])
        )

    def by_token(self, secret: str) -> Person | None:
        with self.database.read() as seen:
            found = seen.one(
                "SELECT u.name, u.operator FROM tokens t JOIN users u ON u.name = t.name "
                "WHERE t.digest = :digest AND t.revoked = 0 AND t.ends_at > :now AND u.disabled = 0",
                digest=digest_of(secret),
                now=self.clock(),
            )
        return None if found is None else Person(name=found["name"], operator=bool(found["operator"]), session=None)

    def by_subject(self, subject: str) -> str | None:
        """The user whom an OpenID provider names so."""
        with self.database.read() as seen:
            found = seen.one("SELECT name FROM users WHERE subject = :subject AND disabled = 0", subject=subject)
        return None if found is None else str(found["name"])

    def bind_subject(self, name: str, subject: str) -> None:
        with self.database.write() as changes:
            other = changes.one("SELECT name FROM users WHERE subject = :subject", subject=subject)
            if other is not None and other["name"] != name:
                raise UsageError(
                    f"that subject is bound to '{other['name']}' already.",
                    hint="One subject is one user: bind another.",
                )
            if not changes.run("UPDATE users SET subject = :subject WHERE name = :name", subject=subject, name=name):
                raise UsageError(f"there is no user '{name[:60]}'.")
            note(changes, who="operator", source="desk", did="user bound to OpenID", words=name)

    def make_token(self, person: Person, label: str, days: int, *, source: str) -> str:
        """A token for programs, shown once; the database keeps its digest."""
        if not NAME.fullmatch(label):
            raise UsageError("a token's name is letters, digits, '.', '_' and '-'; at most 63.")
        if not TOKEN_DAYS[0] <= days <= TOKEN_DAYS[1]:
            raise UsageError(f"a token lasts {TOKEN_DAYS[0]} to {TOKEN_DAYS[1]} days.")
        secret = f"wf_{new_secret()}"
        now = self.clock()
        with self.database.write() as changes:
            if changes.one(
                "SELECT label FROM tokens WHERE name = :name AND label = :label", name=person.name, label=label
            ):
                raise UsageError(f"you have a token '{label}' already.", hint="Revoke it, or choose another name.")
            changes.run(
                "INSERT INTO tokens (digest, name, label, made_at, ends_at, revoked) VALUES (:digest, :name, :label, :now, :ends, 0)",
                digest=digest_of(secret),
                name=person.name,
                label=label,
                now=now,
                ends=now + days * 86400,
            )
            note(changes, who=person.name, source=source, did="token made", words=label)
        return secret

    def revoke_token(self, person: Person, label: str, *, source: str) -> None:
        with self.database.write() as changes:
            if not changes.run(
                "UPDATE tokens SET revoked = 1 WHERE name = :name AND label = :label", name=person.name, label=label
            ):
                raise UsageError("you have no token of that name.")
            note(changes, who=person.name, source=source, did="token revoked", words=label)

    def tokens(self, person: Person) -> list[dict[str, object]]:
        with self.database.read() as seen:
            return seen.all(
                "SELECT label, made_at, ends_at, revoked FROM tokens WHERE name = :name ORDER BY made_at",
                name=person.name,
            )

    def _must_wait(self, name: str, source: str) -> bool:
        return any(self._waits(who) for who, _ in _keys(name, source))

    def _waits(self, who: str) -> bool:
        with self.database.read() as seen:
            found = seen.one("SELECT wait_until FROM attempts WHERE who = :who", who=who)
        return found is not None and float(found["wait_until"]) > self.clock()

    def _failed(self, name: str, source: str) -> None:
        with self.database.write() as changes:
            for who, free in _keys(name, source):
                self._count_failure(changes, who, free)
            note(changes, who=name, source=source, did="login refused")

    def _count_failure(self, changes: Transaction, who: str, free: int) -> None:
        now = self.clock()
        found = changes.one("SELECT failures, wait_until FROM attempts WHERE who = :who", who=who)
        # A day without a failure forgives: otherwise old slips would add up for ever.
        recent = found is not None and float(found["wait_until"]) > now - 86400
        failures = 1 + (int(found["failures"]) if found is not None and recent else 0)
        wait = 0.0 if failures < free else min(2.0 ** min(failures - free, 20), MOST_WAIT_S)
        changes.run("DELETE FROM attempts WHERE who = :who", who=who)
        changes.run(
            "INSERT INTO attempts (who, failures, wait_until) VALUES (:who, :failures, :until)",
            who=who,
            failures=failures,
            until=now + wait,
        )


def _keys(name: str, source: str) -> tuple[tuple[str, int], ...]:
    """What failures are counted by, and how many are free. One address cannot lock somebody out from another one, and
    many addresses together cannot try one name without end.
    """
    return (
        (f"{name} from {source}", FREE_ATTEMPTS),
        (f"from {source}", 4 * FREE_ATTEMPTS),
        (f"name {name}", 20 * FREE_ATTEMPTS),
    )


def checked(password: str) -> str:
    if not LEAST_LENGTH <= len(password) <= MOST_LENGTH:
        raise UsageError(f"a password has {LEAST_LENGTH} to {MOST_LENGTH} characters.")
    return password
