"""The owner's attack on a published file, as a question for the owner's door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from wallflower.engines.base import Rows
from wallflower.errors import UsageError, WallflowerError
from wallflower.ledger import Ledger
from wallflower.publish.attacks import Findings, attack
from wallflower.publish.publication import checker_of
from wallflower.publish.published_file import published_groups
from wallflower.publish.queries import FORMATS, PlainTable
from wallflower.schema.declaration import Declaration


@dataclass(frozen=True)
class PublishedAttack:
    """Attack `published` with the rows it came from. `session.owner.attack` runs it: NOT PRIVATE, uncharged."""

    query: PlainTable
    """The publication; what it was written to, and at which level, does not matter."""
    published: Path

    @property
    def columns(self) -> tuple[str, ...]:
        return self.query.columns

    def run(self, rows: Rows, /) -> Findings:
        space = self.query.space(rows.declaration)
        groups = published_groups(self.published, space)
        return attack(checker_of(rows, space), groups)

    @classmethod
    def on(
        cls,
        published: Path,
        declaration: Declaration,
        *,
        p: Fraction | str | int | None = None,
        d: Fraction | str | int | None = None,
        weights: Mapping[str, Fraction | str | int] | None = None,
        columns: tuple[str, ...] = (),
    ) -> PublishedAttack:
        """With the settings of the publication that the ledger recorded this very file for, where none are given."""
        known = _as_published(declaration, published)
        choices: dict[str, Any] = {
            "p": known.get("p") if p is None else p,
            "d": known.get("d") if d is None else d,
            "weights": weights or known.get("weights", {}),
        }
        if choices["p"] is None or choices["d"] is None:
            raise UsageError(
                f"the ledger knows no publication with the bytes of '{published.name}', so p and d must be given.",
                hint="Add --p and --d, and --weights when the publication had them.",
            )
        suffix = published.suffix if published.suffix in FORMATS else FORMATS[0]
        kept = tuple(name for name in known.get("columns", ()) if name not in known.get("unchanged", ()))
        setting = {"out": f"x{suffix}", "k": 1, **choices}
        if columns or kept:
            return cls(PlainTable(columns=columns or kept, **setting), published)
        return cls(PlainTable.of(declaration, **setting), published)


def _as_published(declaration: Declaration, published: Path) -> dict[str, Any]:
    """The question whose recorded file this is, to the byte; empty when the ledger knows none."""
    if not published.is_file():
        raise UsageError(f"there is no published file '{published}'.")
    digest = sha256(published.read_bytes()).hexdigest()
    try:
        events = [line.event for line in Ledger.open(declaration).history()]
    except WallflowerError:
        return {}
    charges = [
        event.content["charge"] for event in events if event.kind == "answer" and event.content.get("file") == digest
    ]
    asked = [event.content["question"] for event in events if event.kind == "charge" and event.entry in charges]
    return dict(asked[-1]) if asked else {}
