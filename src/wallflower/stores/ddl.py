"""The statements that make a ledger's tables: events and files are never changed or removed, heads only move on."""

from __future__ import annotations

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from wallflower.stores.tables import METADATA

SCHEMA = "wallflower"
"""The schema that holds the tables in PostgreSQL."""

FROZEN = ("events", "files")


def for_sqlite() -> list[str]:
    made = _tables(sqlite.dialect())
    for table in FROZEN:
        for verb, done in (("UPDATE", "changed"), ("DELETE", "removed")):
            made.append(
                f"CREATE TRIGGER {table}_are_never_{done} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} are never {done}'); END"
            )
    made.append(
        "CREATE TRIGGER heads_only_move_on BEFORE UPDATE ON heads WHEN NEW.entry < OLD.entry "
        "OR NEW.table_id <> OLD.table_id BEGIN SELECT RAISE(ABORT, 'a head only moves on'); END"
    )
    made.append(
        "CREATE TRIGGER heads_are_never_removed BEFORE DELETE ON heads "
        "BEGIN SELECT RAISE(ABORT, 'heads are never removed'); END"
    )
    return made


def for_postgresql() -> list[str]:
    made = [f"CREATE SCHEMA {SCHEMA}", f"SET LOCAL search_path TO {SCHEMA}"]
    made += _tables(postgresql.dialect())  # type: ignore[no-untyped-call]
    made.append(
        f"CREATE FUNCTION {SCHEMA}.never() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% are never changed or removed', TG_TABLE_NAME; END $$"
    )
    made.append(
        f"CREATE FUNCTION {SCHEMA}.only_on() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF NEW.entry < OLD.entry OR NEW.table_id <> OLD.table_id THEN "
        "RAISE EXCEPTION 'a head only moves on'; END IF; RETURN NEW; END $$"
    )
    for table in FROZEN:
        made.append(
            f"CREATE TRIGGER {table}_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON {SCHEMA}.{table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.never()"
        )
    made.append(
        f"CREATE TRIGGER heads_are_never_removed BEFORE DELETE OR TRUNCATE ON {SCHEMA}.heads "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.never()"
    )
    made.append(
        f"CREATE TRIGGER heads_only_move_on BEFORE UPDATE ON {SCHEMA}.heads "
        f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.only_on()"
    )
    made.append(f"COMMENT ON SCHEMA {SCHEMA} IS 'Wallflower ledgers, format 2'")
    return made


def rights(writer: str) -> list[str]:
    """What the role that writes may do: read, add, and move heads on."""
    return [
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO {writer}",
        f"GRANT SELECT, INSERT ON {SCHEMA}.events, {SCHEMA}.files, {SCHEMA}.heads TO {writer}",
        f"GRANT UPDATE ON {SCHEMA}.heads TO {writer}",
    ]


def for_an_administrator(owner: str, writer: str) -> str:
    """The whole of it as a script: tables of one role, written by another that can neither change nor remove events."""
    own, write = _quoted(owner), _quoted(writer)
    lines = ["BEGIN", f"CREATE ROLE {own} NOLOGIN", f"CREATE ROLE {write} LOGIN"]
    lines += [f"CREATE SCHEMA {SCHEMA} AUTHORIZATION {own}", f"SET LOCAL ROLE {own}", *for_postgresql()[1:]]
    lines += [*rights(write), "RESET ROLE", "COMMIT"]
    note = f"-- Give {write} a way to log in (a password, a certificate or peer), and let only it connect.\n"
    return note + "".join(f"{line};\n" for line in lines)


def _tables(dialect: Dialect) -> list[str]:
    made = []
    for table in METADATA.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)).strip())
        indexes = sorted(table.indexes, key=lambda each: str(each.name))
        made += [str(CreateIndex(index).compile(dialect=dialect)).strip() for index in indexes]
    return made


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
