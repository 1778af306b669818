"""Rows in a PostgreSQL table or view: questions are pushed down, in one read-only transaction that sees one state of the table."""

from wallflower.engines.registry import Engine

ENGINE = Engine(
    name="PostgreSQL",
    schemes=("postgresql", "postgres"),
    opens="wallflower.engines.postgresql.source:PostgresSource",
    extra="postgresql",
    sorts=True,
)
