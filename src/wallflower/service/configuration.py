"""What an operator declares about a service: its database, its ticks, its tables and who has which role there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from wallflower.service.authorisation import Role
from wallflower.service.ticks import Ticks


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Questions of this kind, up to this ε, by these askers, are approved as soon as they are submitted."""

    command: str
    epsilon_at_most: Fraction
    askers: tuple[str, ...]
    """Names of users, or @groups."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of the service."""

    name: str
    declaration: Path
    owners: tuple[str, ...]
    auditors: tuple[str, ...] = ()
    askers: tuple[str, ...] = ()
    shares: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)
    """Asker (or `default`) → family → ε: a second limit beside the table's own."""
    policies: tuple[Policy, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OpenID:
    """A provider that may say who somebody is; the operator binds its subjects to users."""

    issuer: str
    client_id: str
    secret_variable: str
    """The environment variable that holds the client's secret."""
    address: str
    """Where browsers reach this service: https://host, registered with the provider."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A whole service file, checked."""

    database: str
    """A SQLite file, or postgresql://host/database; the password comes from the environment or a passfile."""
    host: str
    port: int
    ticks: Ticks
    workers: int
    tables: Mapping[str, Table]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    certificate: Path | None = None
    certificate_key: Path | None = None
    proxy: str | None = None
    """Address of a reverse proxy that ends TLS and whose X-Forwarded-For is believed."""
    openid: OpenID | None = None
    folder: Path = Path()
    """Where owner's looks are kept, mode 0700."""
    rows_environment: Path | None = None
    """A file of NAME=value lines, such as credentials for rows, that workers alone read."""
    demo: bool = False

    def members(self, names: tuple[str, ...]) -> frozenset[str]:
        """Users behind names and @groups.

        >>> Service(database="a", host="127.0.0.1", port=1, ticks=Ticks(period_s=1, taken_each=1, shown_after=1), workers=1,
        ...     tables={}, groups={"lab": ("ann", "bo")}).members(("@lab", "cy")) == {"ann", "bo", "cy"}
        True
        """
        found: set[str] = set()
        for name in names:
            found.update(self.groups.get(name[1:], ()) if name.startswith("@") else (name,))
        return frozenset(found)

    def roles(self, user: str, table: str) -> frozenset[Role]:
        """What `user` is by the operator's file; an owner's grants come on top (`grants.py`)."""
        entry = self.tables.get(table)
        if entry is None:
            return frozenset()
        held: dict[Role, tuple[str, ...]] = {"owner": entry.owners, "auditor": entry.auditors, "asker": entry.askers}
        return frozenset(role for role, names in held.items() if user in self.members(names))
