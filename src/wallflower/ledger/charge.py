"""What a charge leaves in the hands of whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wallflower.ledger.admission import Debit, binding


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a series has told so far."""

    entry: int
    kept: tuple[Any, ...]
    """What the series goes on from: it left the mechanism, noise and all, and was told or could have been."""
    release: Mapping[str, Any]
    """The JSON that left."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """A charge that is on disk, or the recorded answer to a request that was charged before."""

    entry: int
    request_id: str
    account: str
    """The table's id."""
    at: str
    head: str
    """The hash of the charge's own event."""
    debited: tuple[Debit, ...] = ()
    """Every account it is booked in, this charge included."""
    asked: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The question in full, as it is kept."""
    replay: dict[str, Any] | None = field(default=None, repr=False)
    part: Part | None = field(default=None, repr=False)
    """The latest part of a series that was charged before."""
    file: str | None = None
    """The digest of the kept file of a recorded publication."""

    @property
    def spent(self) -> dict[str, str]:
        """In the account of this family that binds, this charge included."""
        spent: dict[str, str] = binding(self.debited).to_json()["spent"]
        return spent

    @property
    def left(self) -> dict[str, str]:
        left: dict[str, str] = binding(self.debited).to_json()["left"] or {}
        return left

    def to_json(self) -> dict[str, Any]:
        """The `ledger` part of a release."""
        return {
            "account": self.account,
            "entry": self.entry,
            "spent": self.spent,
            "left": self.left,
            "debited": [debit.to_json() for debit in self.debited],
            "head": f"sha256:{self.head}",
        }
