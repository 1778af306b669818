"""An attack on a published file, with the rows it came from: for the owner's desk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wallflower.engines.base import Rows
from wallflower.errors import UsageError, WallflowerError
from wallflower.ledger import Ledger
from wallflower.publish.attacks import Findings, attack
from wallflower.publish.publication import checker_of
from wallflower.publish.published import PublishedGroup, published_groups
from wallflower.publish.queries import FORMATS, PlainTable
from wallflower.publish.space import Space
from wallflower.schema.declaration import Declaration


@dataclass(frozen=True)
class Attempt:
    """What is attacked; `attempt` makes one from a file."""

    space: Space
    groups: tuple[PublishedGroup, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.space.axes)

    def run(self, rows: Rows) -> Findings:
        return attack(checker_of(rows, self.space), self.groups)


def attempt(
    declaration: Declaration,
    published: Path,
    *,
    p: str | None = None,
    d: str | None = None,
    weights: Mapping[str, str] | None = None,
    columns: tuple[str, ...] = (),
) -> Attempt:
    """An attack on `published`, by the settings it was published with; those given here come first. Reads no row."""
    known = as_published(declaration, published)
    p, d = p or known.get("p"), d or known.get("d")
    if p is None or d is None:
        raise UsageError(
            f"the ledger knows no publication called '{published.name}', so p and d must be given.",
            hint="Add --p and --d, and --weights when the publication had them.",
        )
    unchanged = known.get("unchanged", ())
    setting: dict[str, Any] = {
        "out": f"x{published.suffix if published.suffix in FORMATS else FORMATS[0]}",
        "k": 1,
        "p": p,
        "d": d,
        "weights": weights or known.get("weights", {}),
    }
    named = columns or tuple(name for name in known.get("columns", ()) if name not in unchanged)
    query = PlainTable(columns=named, **setting) if named else PlainTable.of(declaration, **setting)
    space = query.space(declaration)
    return Attempt(space, tuple(published_groups(published, space)))


def as_published(declaration: Declaration, published: Path) -> dict[str, Any]:
    """The settings of the last publication with this file name; empty when the ledger has none."""
    try:
        events = [line.event for line in Ledger.open(declaration.ledger).history()]
    except WallflowerError:
        return {}
    asked = [event.content.get("query", {}) for event in events if event.kind == "charge"]
    same = [q for q in asked if q.get("command") == "publish" and Path(str(q.get("out"))).name == published.name]
    return dict(same[-1]) if same else {}
