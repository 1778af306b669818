"""Rows that are already in memory: a pandas or polars frame, or an Arrow table."""
