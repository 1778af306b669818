"""BigQuery and Snowflake: every question compiles there, and no more is known. Nobody has run them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from tests.contracts.engine_sources import categories, dates, declare, numbers
from tests.contracts.test_people import DAY, NUMBER, WORD, capped, people
from wallflower.engines.dialect import Dialect
from wallflower.engines.reading_rule import Kind
from wallflower.engines.sql_rows import SqlRows
from wallflower.engines.view import view_of, with_key
from wallflower.errors import ReleaseFailed

WANTED = ("x", "c", "d")


class Compiling:
    """A backend that writes every statement and runs none."""

    def __init__(self, dialect: Dialect, columns: int) -> None:
        self.dialect, self.written = dialect, []
        self.schemas = {"staged": {**{f"c{at}": "string" for at in range(columns)}, "present": "boolean"}}

    def view(self, name, expression, *, asked=False):
        self.arrow(expression)
        self.schemas[name] = {column: str(type_) for column, type_ in expression.schema().items()}
        return self.table(name)

    def table(self, name):
        import ibis

        return ibis.table(self.schemas[name], name=name)

    def asked(self, value, type_):
        import ibis

        return ibis.literal(value, type_)

    def arrow(self, expression):
        self.written.append(self.dialect.compiled(expression))

    batches = arrow

    def number(self, expression):
        self.arrow(expression.as_table())


@pytest.mark.parametrize("name", ["bigquery", "snowflake"])
@pytest.mark.parametrize("unit", ["row", "reduced", "capped"])
def test_every_question_compiles(name, unit):
    class Other(Dialect):
        pass

    Other.name = name
    plain = declare(numbers(edges=(-10, 0)), categories(), dates())
    declarations = {
        "row": [plain],
        "reduced": [people(x=NUMBER[at], c=WORD[at % 5], d=DAY[at % 6]) for at in range(7)],
        "capped": [capped(2)],
    }[unit]
    for declared in declarations:
        declaration = replace(declared, neighbours="replace-one")
        needed = with_key(declaration, WANTED)
        base = Compiling(Other(), len(needed))
        view = view_of(declaration, WANTED, dict.fromkeys(needed, Kind.TEXT))
        rows = SqlRows.over(view, base, needed)
        asks = (
            lambda rows=rows: rows.fetch(numbers=WANTED, codes=("c",)),
            lambda rows=rows: rows.record("P1"),
            lambda rows=rows: rows.cells(["c"], "x", 3),
            lambda rows=rows: rows.nearest(["c"], "x", 3, 2),
            lambda rows=rows: rows.between(["c"], "x", 3, 4),
            lambda rows=rows: rows.size,
        )
        for ask in asks:
            before = len(base.written)
            with suppress(ReleaseFailed):  # there is no answer
                ask()
            assert all(statement.lstrip("( ").startswith(("SELECT", "WITH")) for statement in base.written[before:])
            assert len(base.written) > before
