"""Rows that stand in for a table's own: made up from the declared picture, or a public file. The table itself is not opened.

A file that is the source (the same file, or the same bytes) is refused: what is seen there would be a look at the rows.
A copy in another format, or in another order, cannot be told from public rows; it is the owner who says what is public.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

from wallflower.engines.arrow_cells import column_of, days, texts
from wallflower.engines.base import Rows
from wallflower.engines.memory.frames import library_of
from wallflower.engines.memory.source import MemorySource
from wallflower.engines.registry import engine_for
from wallflower.errors import UsageError
from wallflower.noise.entropy import Entropy, SeededEntropy
from wallflower.schema.declaration import Column, Declaration, Group, World
from wallflower.schema.domains import EPOCH, Categories
from wallflower.schema.exact import shown
from wallflower.schema.places import scheme_of

MADE_UP = "made-up"
PUBLIC = "public"
ROWS = 2_000
"""Made-up rows where the picture does not say how many; fewer where max_rows is smaller."""
ANYWHERE = Fraction(1, 100)
"""The share of made-up rows that lie anywhere, where the picture does not say."""
PLAIN = (
    "No groups are declared in [rehearsal]: the made-up rows are one group in the middle of every range, a tenth of it wide, and a "
    "share of {anywhere} of them lies anywhere."
)
_BELL = NormalDist()


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """Where a rehearsal's rows come from."""

    what: str
    """In words, for whoever reads the rehearsal."""
    owner_only: bool
    """Whether they are rows that nobody has declared public."""
    notes: tuple[str, ...] = ()
    _frame: Any = field(default=None, repr=False)
    _file: Path | None = None

    def view(self, declaration: Declaration, columns: Sequence[str]) -> AbstractContextManager[Rows]:
        """The rows as `declaration` reads them; a rehearsal may vary a model's numbers in it."""
        if self._file is None:
            return MemorySource(self._frame, declaration).rows(columns)
        placed = replace(declaration, source=self._file, source_table=None)
        return engine_for(self._file).open(placed).rows(columns)


def stand_in(
    declaration: Declaration,
    rows: Any,
    source: object,
    *,
    records: Sequence[str] = (),
    held: Sequence[Mapping[str, int]] = (),
) -> StandIn:
    """`rows`: "made-up", "public" (the declared file), the name of a file, or a frame.

    Made-up rows hold the keys `records` and, once each, the values `held`.
    """
    if isinstance(rows, str) and rows == MADE_UP:
        world = declaration.rehearsal or World()
        notes = () if world.groups else (PLAIN.format(anywhere=shown(_anywhere(world))),)
        return StandIn(
            what="made-up rows",
            owner_only=False,
            notes=notes,
            _frame=made_up_table(declaration, records=records, held=held),
        )
    if isinstance(rows, str | Path):
        return _file(declaration, rows)
    library_of(rows)
    if rows is getattr(source, "frame", None):
        raise UsageError("these are the table's own rows: a rehearsal is for other ones.", hint='Try "made-up".')
    return StandIn(what="rows of the owner's", owner_only=True, _frame=rows)


def _file(declaration: Declaration, rows: str | Path) -> StandIn:
    world = declaration.rehearsal
    declared = None if world is None else world.public
    if rows == PUBLIC and declared is None:
        raise UsageError(
            "no public rows are declared.", hint='Write public = "FILE" in [rehearsal], or rehearse on "made-up" rows.'
        )
    path = declared if rows == PUBLIC and declared is not None else Path(rows)
    if not path.exists():
        raise UsageError(f"there is no file '{path}' to rehearse on.", hint='Or rehearse on "made-up" rows.')
    if _is_source(path, declaration.source):
        raise UsageError(
            f"'{path}' is the table's own source: a rehearsal is for rows that are not the table's.",
            hint="Take last year's published table, another region's, or \"made-up\" rows.",
        )
    public = declared is not None and declared.exists() and path.samefile(declared)
    what = f"public rows of {path.name}" if public else f"rows of {path.name}, which nobody has declared public"
    return StandIn(what=what, owner_only=not public, _file=path)


def _is_source(path: Path, source: Path | str | None) -> bool:
    """The same file, or the same bytes. Bytes are compared only where the sizes agree: else the source is not opened."""
    if not isinstance(source, Path) or scheme_of(source) is not None or not source.exists():
        return False
    given, own = _files(path), _files(source)
    return any(
        one.samefile(other) or (one.stat().st_size == other.stat().st_size and _digest(one) == _digest(other))
        for one in given
        for other in own
    )


def _files(path: Path) -> list[Path]:
    return sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def made_up_table(
    declaration: Declaration, *, records: Sequence[str] = (), held: Sequence[Mapping[str, int]] = ()
) -> Any:
    """An Arrow table of made-up rows, the same every time. The rows that `records` name are outliers; `held` come first."""
    import pyarrow as pa

    world = declaration.rehearsal or World()
    size = world.rows or min(declaration.max_rows, ROWS)
    groups = world.groups or (Group(name="all", share=Fraction(1)),)
    share = _anywhere(world)
    entropy = SeededEntropy(0)
    named = _named(declaration, records, size)
    whose = [None if row in named or _uniform(entropy) < share else _of(groups, entropy) for row in range(size)]
    cells: dict[str, Any] = {}
    for name, column in declaration.columns.items():
        if column.domain is not None:
            made = [_number(column, group, entropy, plain=not world.groups) for group in whose]
            made[: len(held)] = [row.get(name, number) for row, number in zip(held, made, strict=False)]
            cells[name] = column_of(column.domain, made)
    identifiers = [name for name, column in declaration.columns.items() if column.domain is None]
    for name in {*identifiers, *([declaration.key] if declaration.key is not None else [])}:
        cells[name] = texts([named.get(row, str(row)) for row in range(size)])
    if declaration.time is not None:
        cells.setdefault(declaration.time, days([EPOCH + timedelta(days=row) for row in range(size)]))
    return pa.table(cells)


def _anywhere(world: World) -> Fraction:
    return ANYWHERE if world.outliers is None else world.outliers


def _named(declaration: Declaration, records: Sequence[str], size: int) -> dict[int, str]:
    """Which rows carry the asked-for keys: the last ones, or those that row:N names."""
    if declaration.key is not None:
        taken = {str(row) for row in range(size)}
        places = dict(enumerate(records[:size], start=size - min(len(records), size)))
        return {int(key) if key in taken else row: key for row, key in places.items()}
    found = (key.removeprefix("row:") for key in records)
    return {int(key): f"row:{key}" for key in found if key.isdecimal() and len(key) < 10 and int(key) < size}


def _uniform(entropy: Entropy) -> float:
    return (entropy.bits(32) + 0.5) / 2**32


def _of(groups: Sequence[Group], entropy: Entropy) -> Group:
    """One of the groups, by their shares; what the shares leave belongs to the last."""
    at = Fraction(entropy.bits(32), 2**32) * max(sum(group.share for group in groups), Fraction(1, 2**32))
    for group in groups:
        at -= group.share
        if at < 0:
            return group
    return groups[-1]


def _number(column: Column, group: Group | None, entropy: Entropy, *, plain: bool) -> int:
    """A code or number of steps in a row of `group`; of an outlier, anywhere in the declared domain."""
    domain, name = column.domain, column.name
    if domain is None:  # pragma: no cover - identifiers are named elsewhere
        raise AssertionError
    centre = None if group is None else group.centre.get(name)
    if isinstance(domain, Categories):
        return entropy.bits(32) % domain.size if centre is None else centre
    if group is None or (centre is None and not plain):
        return domain.first + int(_uniform(entropy) * domain.size)
    middle = (domain.first + domain.last) // 2 if centre is None else centre
    tenth = Fraction(domain.size, 10) * domain.step if plain else Fraction(0)
    spread = float(group.spread.get(name, tenth) / domain.step)
    number = middle + round(_BELL.inv_cdf(_uniform(entropy)) * spread)
    return min(max(number, domain.first), domain.last)
