"""Rows in a file on this machine (CSV, JSON, Parquet, SQLite, DuckDB), read and aggregated by DuckDB."""

from wallflower.engines.registry import FILE, Engine

ENGINE = Engine(name="duckdb", schemes=(FILE,), opens="wallflower.engines.duckdb.source:DuckSource", sorts=True)
