"""What a PostgreSQL server says about a table: its columns and their types, no row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wallflower.engines.memory.dialect import refused
from wallflower.engines.postgresql.snapshot import Snapshot
from wallflower.engines.reading_rule import Kind
from wallflower.engines.view import find_columns
from wallflower.errors import DeclarationError

KINDS = {
    **dict.fromkeys(("int2", "int4", "int8"), Kind.INTEGER),
    **dict.fromkeys(("float4", "float8"), Kind.REAL),
    "numeric": Kind.DECIMAL,
    "bool": Kind.BOOLEAN,
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "uuid"), Kind.TEXT),
    "date": Kind.DATE,
    **dict.fromkeys(("timestamp", "timestamptz"), Kind.TIMESTAMP),
}
TYPES = {
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.DECIMAL: "decimal(38, 9)",
    Kind.BOOLEAN: "boolean",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}
COLUMNS = """
WITH RECURSIVE plain(oid, base) AS (
  SELECT t.oid, t.oid FROM pg_type t WHERE t.typtype <> 'd'
  UNION ALL
  SELECT t.oid, p.base FROM pg_type t JOIN plain p ON t.typtype = 'd' AND t.typbasetype = p.oid
)
SELECT a.attname::text, t.typname::text, t.typtype = 'e', t.typnamespace = 'pg_catalog'::regnamespace,
       has_column_privilege(c.oid, a.attnum, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     JOIN plain p ON p.oid = a.atttypid JOIN pg_type t ON t.oid = p.base
WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


@dataclass(frozen=True)
class Table:
    """A table or view by its schema and name, as they stand in the catalogue: no letter is folded."""

    schema: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Table:
        """From "schema.name"; a part with a point in it stands in double quotes.

        >>> Table.parse('care.visits'), Table.parse('"my.schema".visits'), Table.parse("visits").schema
        (Table(schema='care', name='visits'), Table(schema='my.schema', name='visits'), 'public')
        """
        found = [(quoted or plain).replace('""', '"') for quoted, plain in PART.findall(text)]
        whole = ".".join(match[0] for match in PART.finditer(text)) == text
        if not whole or len(found) not in {1, 2}:
            raise DeclarationError(
                f"'{text}' names no table.", hint='Write table = "schema.name"; parts with a point in double quotes.'
            )
        return cls(*found) if len(found) == 2 else cls("public", found[0])

    @property
    def sql(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.name)}"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def kinds(base: Snapshot, table: Table, columns: Sequence[str]) -> Mapping[str, Kind]:
    """What the asked-for columns hold; refuses what is not there, what may not be read, and types that cannot be."""
    if base.run("SHOW server_encoding")[0][0] != "UTF8":
        raise DeclarationError("the database is not encoded in UTF-8, and texts could not be compared.")
    found = base.run(COLUMNS, table.schema, table.name)
    if not found:
        raise DeclarationError(
            f"there is no table '{table.schema}.{table.name}' that you may see.",
            hint='Write table = "schema.name" as the catalogue spells it.',
        )
    find_columns(columns, [name for name, *_ in found])
    types = {name: (type_, enum, own, readable) for name, type_, enum, own, readable in found}
    read = {}
    for name in columns:
        type_, enum, own, readable = types[name]
        if not readable:
            raise DeclarationError(
                f"you may not read column '{name}' of '{table.schema}.{table.name}'.",
                hint="One right is needed: SELECT on the table, a view of it, or the declared columns.",
            )
        kind = Kind.TEXT if enum else KINDS.get(type_) if own else None
        if kind is None:
            raise refused(name)
        read[name] = kind
    return read


def stage(base: Snapshot, table: Table, columns: Sequence[str], types: Mapping[str, Kind]) -> None:
    """The named expression `staged`: the raw cells as c0, c1, ...; texts are compared by code point, whatever the collation."""
    cells = []
    for at, name in enumerate(columns):
        cell = quoted(name)
        if types[name] is Kind.TEXT:
            cell = f'CAST({cell} AS text) COLLATE "C"'
        elif types[name] is Kind.TIMESTAMP:
            cell = f"CAST({cell} AS timestamp)"  # a moment with a zone is one in UTC: the transaction's zone
        elif types[name] is Kind.INTEGER:
            cell = f"CAST({cell} AS bigint)"
        elif types[name] is Kind.REAL:
            cell = f"CAST({cell} AS double precision)"
        cells.append(f"{cell} AS c{at}")
    schema = {f"c{at}": TYPES[types[name]] for at, name in enumerate(columns)} | {"present": "boolean"}
    # "OFFSET 0": written once, so that a view that is slow, or not the same twice, is evaluated once a row.
    base.define("staged", f"SELECT {', '.join([*cells, 'true AS present'])} FROM {table.sql} OFFSET 0", schema)
