"""A digest of what a declaration means: what a promise and an answer depend on, and nothing else.

Comments, order and spelling do not change it; neither do budgets, askers, or the places of files: raising a limit or
moving a folder must not end the replays of what was answered before. `canonical.py` says what is kept for ever.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from wallflower.schema import canonical
from wallflower.schema.declaration import Declaration
from wallflower.schema.hierarchy import ORDERED

FORMAT = 2
"""Goes into the digest: a later reading of the same file must not pass for this one."""

NOT_MEANT = {
    "Declaration": frozenset(
        [
            "source",
            "source_table",
            "ledger",
            "path",
            "fingerprint",
            "reviewed",
            "budgets",
            "askers",
            "rehearsal",
            "memory",
            "executors",
        ]
    ),
    "Model": frozenset(["epsilon"]),
}
"""Places, permissions and limits, by class."""


def fingerprint(declaration: Declaration) -> str:
    """Lists of values and hierarchies go in by what they hold, so that editing their files is seen."""
    return f"sha256:{canonical.digest(['wallflower-declaration', FORMAT, meant(declaration)])}"


def meant(declaration: Declaration) -> dict[str, Any]:
    """The declaration in canonical form."""
    found: dict[str, Any] = canonical.meaning(declaration, without=NOT_MEANT)
    for column in declaration.columns.values():
        if isinstance(column.hierarchy, str) and column.hierarchy != ORDERED:
            contents = Path(column.hierarchy).read_bytes()
            found["columns"][column.name]["hierarchy"] = {"sha256": hashlib.sha256(contents).hexdigest()}
    return found


def model_definition(declaration: Declaration, name: str) -> dict[str, Any]:
    """A model down to its columns: other bounds, steps or scales make other distances, hence another promise.

    Not its hierarchies: no distance uses them.
    """
    without = NOT_MEANT | {"Column": frozenset(["hierarchy"])}
    model = declaration.models[name]
    found: dict[str, Any] = canonical.meaning(model, without=without)
    found["over"] = {column: canonical.meaning(declaration.column(column), without=without) for column in model.columns}
    return found
