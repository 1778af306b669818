"""The declared columns of a table, copied once onto the executors: every question sees the same rows.

The copy has no lineage (`localCheckpoint`): an executor that is lost with a part of it fails the release, and no part is read anew
from a table that may have changed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from wallflower.engines.dialect import Dialect, double
from wallflower.engines.spark.dialect import SparkDialect


@dataclass(frozen=True)
class Snapshot:
    """Named expressions travel with each statement; only copies have names in the session, which nobody else guesses."""

    session: Any
    dialect: Dialect = field(default_factory=SparkDialect)
    schemas: dict[str, Mapping[str, str]] = field(default_factory=dict)
    statements: dict[str, str] = field(default_factory=dict)
    name: str = field(default_factory=lambda: f"wallflower_{uuid.uuid4().hex}")
    copies: dict[str, Any] = field(default_factory=dict)
    """What is kept on the executors, by its name in the session."""
    numbers: Iterator[int] = field(default_factory=count)

    def keep(self, frame: Any, schema: Mapping[str, str], name: str = "staged") -> Any:
        """Copy a frame onto the executors, and give the copy a name."""
        place = f"{self.name}_{next(self.numbers)}"
        self.copies[place] = frame.localCheckpoint(eager=True)
        self.copies[place].createOrReplaceTempView(place)
        return self.define(name, f"SELECT * FROM {place}", schema)

    def copied(self, frame: Any) -> Any:
        """The same without a name: for what tasks keep on the executors."""
        place = f"{self.name}_{next(self.numbers)}"
        self.copies[place] = frame.localCheckpoint(eager=True)
        return self.copies[place]

    def let_go(self, copy: Any) -> None:
        """Take one copy off the executors."""
        for place in [place for place, held in self.copies.items() if held is copy]:
            self._drop(place)

    def hold(self, name: str, expression: Any) -> Any:
        """Name the answer of an expression, which is then not computed again."""
        return self.keep(self.frame(expression), _types(expression), name)

    def define(self, name: str, statement: str, schema: Mapping[str, str]) -> Any:
        self.statements.pop(name, None)
        self.statements[name] = statement
        self.schemas[name] = schema
        return self.table(name)

    def view(self, name: str, expression: Any, *, asked: bool = False) -> Any:
        compiled = self.dialect.compiled if asked else self.dialect.compiled_once
        return self.define(name, compiled(expression), _types(expression))

    def table(self, name: str) -> Any:
        import ibis

        return ibis.table(self.schemas[name], name=name)

    def asked(self, value: Any, type_: str) -> Any:
        """As it is: Spark's logs are on the owner's side."""
        import ibis

        return double(value) if type_ == "float64" else ibis.literal(value, type_)

    def number(self, expression: Any) -> int:
        return int(self.frame(expression.as_table()).collect()[0][0])

    def arrow(self, expression: Any) -> Any:
        return self.frame(expression).toArrow()

    def batches(self, expression: Any) -> Any:
        return self.arrow(expression).to_batches()

    def discard(self) -> None:
        """Take the copies off the executors at once: left to the garbage collector, cells would stay there for as long as it likes."""
        for place in list(self.copies):
            self._drop(place)

    def _drop(self, place: str) -> None:
        copy = self.copies.pop(place)
        self.session.catalog.dropTempView(place)
        if hasattr(copy, "_jdf"):  # over Spark Connect the server does it when the client lets go
            copy._jdf.logicalPlan().rdd().unpersist(False)  # noqa: SLF001 - a checkpoint has no public way to end

    def frame(self, expression: Any) -> Any:
        """An expression as a frame of the session, not computed yet."""
        statement = self.dialect.compiled(expression)
        needed: list[str] = []
        for name, text in reversed(self.statements.items()):
            if any(f"`{name}`" in each for each in (statement, *needed)):
                needed.insert(0, f"`{name}` AS ({text})")
        return self.session.sql(f"WITH {', '.join(needed)} {_joined(statement)}" if needed else statement)


def _joined(statement: str) -> str:
    """Ibis may have named expressions of its own, and a statement has one WITH."""
    return f"SELECT * FROM ({statement})" if statement.startswith("WITH ") else statement


def _types(expression: Any) -> dict[str, str]:
    return {column: str(type_) for column, type_ in expression.schema().items()}
