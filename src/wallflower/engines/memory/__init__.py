"""Rows that are already in memory: a pandas or polars frame, or an Arrow table. No source names it: `from_frame` does."""

from wallflower.engines.registry import Engine

ENGINE = Engine(name="memory", schemes=(), opens="wallflower.engines.memory.source:MemorySource", sorts=True)
