"""An empty DuckDB in memory that runs Ibis expressions, with a memory limit and a private folder to spill into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wallflower.engines.dialect import Dialect, double
from wallflower.engines.duckdb.dialect import DuckDialect
from wallflower.engines.redaction import broken, private_folder, quietly
from wallflower.errors import DeclarationError

MEMORY_LIMIT = "1GiB"
"""What DuckDB may hold; beyond it, it spills into the private folder."""
BATCH = 250_000
"""Rows fetched at a time."""
SETTINGS = {
    # Nothing is downloaded, and rows come in the order of the file on every call.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "true",
    # No batch of texts is too long for Arrow.
    "arrow_large_buffer_size": "true",
    # What a Parquet file says of its values (the least, the most, whether any is missing) may be wrong. Believed, it would have what
    # holds values to the declared domain left out as needless.
    "disabled_optimizers": "statistics_propagation",
}


@dataclass(frozen=True)
class Database:
    """Ibis writes the SQL; DuckDB's own connection runs it, so that nothing is asked twice."""

    connection: Any
    folder: Path
    """Where copies of rows may be put; gone when the database is closed."""
    schemas: dict[str, Mapping[str, str]] = field(default_factory=dict)
    dialect: Dialect = field(default_factory=DuckDialect)

    def seal(self, *files: Path) -> None:
        """From now on nothing but these files and the private folder can be reached, whatever a view inside a file says."""
        allowed = [name for file in files for name in (str(file), str(file.absolute()), only(file.absolute()))]
        self.connection.execute(f"SET allowed_paths = [{', '.join(map(literal, allowed))}]")
        self.connection.execute(f"SET allowed_directories = [{literal(str(self.folder))}]")
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET lock_configuration = true")

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        return list(self.connection.execute(sql).fetchall())

    def define(self, name: str, sql: str, schema: Mapping[str, str]) -> None:
        """A view with the given names and Ibis types."""
        self.connection.execute(f"CREATE OR REPLACE VIEW {self.own_name(name)} AS {sql}")
        self.schemas[self.own_name(name)] = schema

    def own_name(self, name: str) -> str:
        """What a view of this name is called here."""
        return name

    def view(self, name: str, expression: Any, *, asked: bool = False) -> Any:
        """A view of an expression: a border that Ibis does not merge expressions across."""
        compiled = self.dialect.compiled if asked else self.dialect.compiled_once
        schema = {column: str(type_) for column, type_ in expression.schema().items()}
        self.define(name, compiled(expression), schema)
        return self.table(name)

    def hold(self, name: str, expression: Any) -> Any:
        """A table that holds the answer, in memory or spilled."""
        schema = {column: str(type_) for column, type_ in expression.schema().items()}
        self.connection.execute(f"CREATE OR REPLACE TABLE {name} AS {self.dialect.compiled_once(expression)}")
        self.schemas[name] = schema
        return self.table(name)

    def table(self, name: str) -> Any:
        import ibis

        return ibis.table(self.schemas[name], name=name)

    def asked(self, value: Any, type_: str) -> Any:
        """As it is: DuckDB runs in this process and keeps no log."""
        import ibis

        return double(value) if type_ == "float64" else ibis.literal(value, type_)

    def number(self, expression: Any) -> int:
        return int(self.run(self.dialect.compiled(expression.as_table()))[0][0])

    def arrow(self, expression: Any) -> Any:
        return self.batches(expression).read_all()

    def batches(self, expression: Any) -> Any:
        return self.reader(self.dialect.compiled(expression))

    def reader(self, sql: str, rows: int = BATCH) -> Any:
        """The answer of a statement, batch by batch, of about so many rows."""
        result = self.connection.execute(sql)
        if hasattr(result, "to_arrow_reader"):
            return result.to_arrow_reader(rows)
        return result.fetch_record_batch(rows)  # its name before DuckDB 1.5


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def only(path: Path) -> str:
    """The path as a pattern that stands for this file alone: DuckDB's readers take a bare name as a pattern."""
    text = str(path)
    if text != text.encode("utf-8", "replace").decode("utf-8"):
        raise DeclarationError(
            f"the name of '{path.name}' or of its folder is not UTF-8, and DuckDB reads no other.",
            hint="Rename it, or reach it by a link with a plain name.",
        )
    if "\\" in text and not set("*?[").isdisjoint(text):
        raise DeclarationError(
            f"the name of '{path.name}' or of its folder holds a backslash beside one of * ? [, which no pattern can spell.",
            hint="Rename it, or reach it by a link with a plain name.",
        )
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


@contextmanager
def database(memory_limit: str = MEMORY_LIMIT) -> Iterator[Database]:
    """Closed, and its folder removed, however the block ends."""
    with private_folder() as folder:
        connection = quietly(lambda: _connect(memory_limit, folder), broken)
        try:
            yield Database(connection, folder)
        finally:
            connection.close()


def _connect(memory_limit: str, folder: Path) -> Any:
    import duckdb

    config = {"temp_directory": str(folder), "memory_limit": memory_limit, **SETTINGS}
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("PRAGMA disable_progress_bar")  # SET is refused in a notebook without ipywidgets
    connection.execute("SET TimeZone = 'UTC'")
    return connection
