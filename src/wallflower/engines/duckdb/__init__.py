"""Rows in a file on this machine (CSV, JSON, Parquet, SQLite, DuckDB), read and aggregated by DuckDB."""
