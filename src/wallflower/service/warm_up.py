"""Load compiled code before the first request: every kind of question is tried on made-up rows. No row is opened."""

from __future__ import annotations

import contextlib
import threading

from wallflower.engines.made_up import made_up_rows
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.declaration import Declaration
from wallflower.service.configuration import Service
from wallflower.service.declarations import current
from wallflower.service.forms import FORMS, Form
from wallflower.service.questions import Given, choices, question
from wallflower.stores.database import Database

WARMED = ("count", "identify", "explain")
"""Publications are rare, and their kernels many: they are loaded when one is asked for."""


def warm(database: Database, service: Service, stop: threading.Event) -> None:
    """Each kind of question once, at the first table it fits; what fails here is told where it is asked."""
    left = list(WARMED)
    for table in service.tables:
        for command in tuple(left):
            if stop.is_set():
                return
            with contextlib.suppress(Exception):
                with database.read() as seen:
                    declaration = current(seen, service, table).declaration
                given = example(FORMS[command], declaration)
                if given is None:
                    continue
                query = question(command, given)
                with made_up_rows(declaration, query.columns) as rows:
                    query.prepare(rows, SeededEntropy(0))
                left.remove(command)


def example(form: Form, declaration: Declaration) -> Given | None:
    """A question of this kind about a table, from its declaration alone; None where none fits."""
    given: dict[str, str | list[str]] = {}
    for field in form.fields:
        offered = choices(field, declaration)
        if field.kind == "columns":
            given[field.name] = list(offered[:2])
        elif field.kind in ("column", "model", "choice"):
            given[field.name] = offered[0] if offered else ""
        elif field.kind == "values":
            model = next(iter(declaration.models.values()), None)
            if model is None:
                return None
            cells = {name: declaration.column(name).domain for name in model.columns}
            given[field.name] = ",".join(
                f"{name}={domain.text(getattr(domain, 'first', 0))}" for name, domain in cells.items() if domain
            )
        else:
            given[field.name] = field.default or "1"
        if field.needed and not given[field.name]:
            return None
    return given
