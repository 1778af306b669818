"""A first draft of the declaration of a table in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wallflower.atomic_file import write_new
from wallflower.errors import UsageError
from wallflower.schema.display import InNotebooks


@dataclass(frozen=True, kw_only=True)
class Draft(InNotebooks):
    """The text of a declaration with every open question marked `# DECIDE`. It may quote texts of the rows: keep it at the desk."""

    text: str = field(repr=False)
    """TOML. A notebook keeps what it shows, so `print(draft.text)` is yours to do."""
    quotes: tuple[str, ...]
    """What of the rows stands in it, and why."""

    @property
    def undecided(self) -> int:
        """How many lines wait for a decision."""
        return self.text.count("# DECIDE")

    def write(self, path: str | Path) -> None:
        """A new file that its owner alone can read."""
        try:
            write_new(Path(path), self.text)
        except FileExistsError:
            raise UsageError(f"'{path}' exists already.", hint="Choose another name, or remove it first.") from None

    def lines(self) -> list[tuple[str, str]]:
        return [
            (
                "draft",
                f"{self.undecided} lines to decide, from public knowledge; .text holds it, .write(path) keeps it",
            ),
            *(("shows", line) for line in self.quotes),
        ]


def declare(
    frame: object,
    *,
    name: str = "table",
    area: Literal["explain", "identify", "count", "publish"] | None = None,
    columns: Sequence[str] = (),
) -> Draft:
    """Draft the declaration of a pandas or polars DataFrame or a pyarrow Table: `wallflower declare` for a table in memory.

    >>> import pyarrow
    >>> draft = declare(pyarrow.table({"age": [34, 36, 88]}), name="visits", area="count")
    >>> "[columns.age]" in draft.text, draft.undecided > 0
    (True, True)
    """
    from wallflower.engines import describe
    from wallflower.engines.memory.frames import arrow_column, column_names
    from wallflower.engines.redaction import private_folder
    from wallflower.schema.first_draft import DraftPurpose, draft, shown_from_rows

    known = column_names(frame)
    for column in columns:
        if column not in known:
            raise UsageError(f"the table has no column '{column}'.", hint=f"It has: {', '.join(known)}.")
    with private_folder() as folder:
        place = folder / f"{name}.parquet"
        described = describe(_parquet({each: arrow_column(frame, each) for each in known}, place))
        text = draft(place, described, folder=folder, wanted=DraftPurpose(area=area, columns=tuple(columns)))
        text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("source = "))
        return Draft(text=text, quotes=tuple(shown_from_rows(described, Path(f"the draft of '{name}'"), text)))


def _parquet(columns: dict[str, Any], place: Path) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), place)
    return place
