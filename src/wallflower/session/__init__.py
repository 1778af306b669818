"""The two doors: `Session.release` for askers, `Session.owner` for the owner.

By task: `open` and `table` start a session; `declare` drafts what a session needs to know; `Query` is what a question must be able to do; `description` is a question
in full, as the ledger keeps it.
"""

from wallflower.session.description import description
from wallflower.session.drafting import Draft, declare
from wallflower.session.opening import declared, open, table  # noqa: A004 - reads as wf.open
from wallflower.session.owner_door import Owner
from wallflower.session.queries import Attack, Query
from wallflower.session.rehearsal_result import Rehearsal, Sweep
from wallflower.session.release_door import Session

__all__ = [
    "Attack",
    "Draft",
    "Owner",
    "Query",
    "Rehearsal",
    "Session",
    "Sweep",
    "declare",
    "declared",
    "description",
    "open",
    "table",
]
