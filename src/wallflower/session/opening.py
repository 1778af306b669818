"""How a session begins: from a declaration file, or from a table in memory."""

from __future__ import annotations

from pathlib import Path

from wallflower.schema.declaration import Declaration
from wallflower.session.release_door import Session


def open(declaration: str | Path, *, seed: int | None = None) -> Session:  # noqa: A001 - reads as wf.open
    """A session on the table that a declaration file describes. Nothing is read yet.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.toml")
    ...     _ = file.write_text('''
    ... [table]
    ... id = "visits"
    ... source = "visits.csv"
    ... unit = "row"
    ... neighbours = "add-remove"
    ... max_rows = 1000
    ... ledger = "visits.ledger"
    ... [columns.age]
    ... role = "sensitive"
    ... lower = 0
    ... upper = 120
    ... step = 1
    ... outside = "clip"
    ... missing = "drop"
    ... ''')
    ...     open(file).declaration.id
    'visits'
    """
    from wallflower.schema import load

    return declared(load(declaration), seed=seed)


def declared(declaration: Declaration, *, seed: int | None = None) -> Session:
    """A session on the source that a declaration names. Nothing is read yet."""
    from wallflower.engines import open_source

    return Session(declaration, open_source(declaration), seed=seed)


def table(frame: object, declaration: str | Path | Declaration, *, seed: int | None = None) -> Session:
    """A session on a pandas, polars or Arrow table in place of the declared source.

    >>> import pyarrow
    >>> from wallflower.schema import loads
    >>> declared = loads('''
    ... [table]
    ... id = "visits"
    ... unit = "row"
    ... neighbours = "replace-one"
    ... max_rows = 1000
    ... ledger = "visits.ledger"
    ... [columns.age]
    ... role = "sensitive"
    ... lower = 0
    ... upper = 120
    ... step = 1
    ... outside = "clip"
    ... missing = 0
    ... ''')
    >>> table(pyarrow.table({"age": [34, 36, 88]}), declared).declaration.neighbours
    'replace-one'
    """
    from wallflower.engines import from_frame
    from wallflower.schema import load

    known = declaration if isinstance(declaration, Declaration) else load(declaration, source_optional=True)
    return Session(known, from_frame(frame, known), seed=seed)
