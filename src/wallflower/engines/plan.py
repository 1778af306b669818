"""How the rows of a question are read, by a public rule: from declared things alone, before anything is charged.

    push down    the engine adds rows up, and this process holds cells and some of their values
    fetch        the declared columns are held in this process
    distribute   the executors of a declared cluster compare, each some parts of the rows
    tiles        the engine sorts, and this process holds one strip after the other
    batches      rows come in no order, and this process holds a few at a time
    regions      a publication in a public number of parts

Where none of them is possible the question is refused.
A plan changes time and memory, never an answer: not one bit of a release depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wallflower.engines.registry import engine_for
from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.declaration import Declaration

Way = Literal["push down", "fetch", "distribute", "tiles", "batches", "regions"]

BYTES_OF_A_CELL, BYTES_OF_A_ROW = 40, 24
"""What the index of `geometry` takes at its peak, measured: for each number of a row, and for each row."""
BYTES_OF_A_STATISTIC, BYTES_OF_A_VALUE = 700, 200
"""What cells that an engine added up take at their peak, measured: each cell, and each of its values."""
MOST_PUBLISHED = 2_000_000
"""A publication of up to so many rows is made in one piece."""
MOST_IN_REGIONS = 100_000_000


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How one question reads the rows. Public in full."""

    way: Way
    needs: int
    """Bytes at most to hold all rows at once, if there are as many as declared."""
    memory: int
    """Bytes, as declared."""
    along: str = ""
    """The column that strips and parts are cut across, where rows are compared in them."""
    rows: int = 0
    """About so many rows are compared at a time, in one process."""
    parts: int = 1
    """Into how many regions a publication is parted; it is part of the question there, and public."""
    spread: bool = False
    """Whether executors group these regions."""
    cells: int = 0
    """So many cells are added up by the engine; for push down alone, as the next."""
    values: int = 0
    """Of which at most so many distinct values are sent."""

    def __str__(self) -> str:
        size, limit = in_units(self.needs), in_units(self.memory)
        if self.way == "fetch":
            return f"fetch: at most {size} of {limit}"
        if self.way == "distribute":
            how = (
                f"compared on the executors, in parts across {self.along}" if self.along else "counted on the executors"
            )
            return f"distribute: up to {size} would not fit into {limit}; {how}"
        if self.way == "tiles":
            return f"tiles: up to {size} would not fit into {limit}; sorted by the engine, read in strips across {self.along}"
        if self.way == "batches":
            return f"batches: up to {size} would not fit into {limit}; read a few rows at a time"
        if self.way == "push down":
            sent = f" and sends at most {self.values} of their values" if self.values else ""
            return f"push down: the engine adds up {self.cells} cells{sent}; at most {size} of {limit}"
        where = "on the executors, each with all rows" if self.spread else "one after the other"
        return f"regions: {self.parts}, {where}"


def held(rows: int, columns: int) -> int:
    """Bytes that so many rows take while they are compared.

    >>> held(10_000_000, 2)
    1040000000
    """
    return rows * (BYTES_OF_A_CELL * columns + BYTES_OF_A_ROW)


def plan_rows(declaration: Declaration, columns: int, *, along: str) -> Plan:
    """For a question that compares every row with its neighbours: fetch where it fits, else on the executors where these are declared, else tiles
    where the engine sorts. Refused where none is possible, before anything is read or charged.
    """
    needs, memory = held(declaration.max_rows, columns), declaration.memory
    if needs <= memory:
        return Plan(way="fetch", needs=needs, memory=memory)
    engine = engine_for(declaration.source)
    way: Way = "distribute" if engine.spreads and declaration.executors else "tiles"
    if way == "tiles" and not engine.sorts:
        raise DeclarationError(
            f"{declaration.max_rows} rows of {columns} columns may take {in_units(needs)}, more than the declared memory of "
            f"{in_units(memory)}, and the engine '{engine.name}' cannot sort them.",
            hint='Declare a smaller max_rows, or more: memory = "64 GiB" in [table].',
        )
    # Half of the memory is for what is compared; the other half for what is read meanwhile.
    return Plan(way=way, needs=needs, memory=memory, along=along, rows=max(1, memory // (2 * held(1, columns))))


def plan_fetch(declaration: Declaration, columns: int) -> Plan:
    """For a question that must hold all rows at once; refused where they do not fit, before anything is read or charged."""
    needs, memory = held(declaration.max_rows, columns), declaration.memory
    if needs > memory:
        raise DeclarationError(
            f"this question holds all rows at once: {declaration.max_rows} of them in {columns} columns may take {in_units(needs)}, more "
            f"than the declared memory of {in_units(memory)}.",
            hint='Declare a smaller max_rows, or more: memory = "64 GiB" in [table].',
        )
    return Plan(way="fetch", needs=needs, memory=memory)


def plan_cells(declaration: Declaration, cells: int, values: int) -> Plan:
    """For a question that the engine answers by cells; refused where they do not fit, before anything is read or charged."""
    needs, memory = cells * BYTES_OF_A_STATISTIC + values * BYTES_OF_A_VALUE, declaration.memory
    if needs > memory:
        raise DeclarationError(
            f"this question holds {cells} cells and up to {values} of their values, which may take {in_units(needs)}, more than the "
            f"declared memory of {in_units(memory)}.",
            hint='Declare a smaller max_rows, a coarser step, fewer values, or more: memory = "64 GiB" in [table].',
        )
    return Plan(way="push down", needs=needs, memory=memory, cells=cells, values=values)


def plan_publication(declaration: Declaration, columns: int, regions: int) -> Plan:
    """For a publication in so many regions: one is enough up to two million rows, a hundred million are the most.

    Refused beyond, before anything is read or charged.
    """
    needs, memory = held(declaration.max_rows, columns), declaration.memory
    if declaration.max_rows > MOST_IN_REGIONS:
        raise DeclarationError(
            f"a table of up to {declaration.max_rows} rows is too large to be published here; {MOST_IN_REGIONS} is the most.",
            hint="Publish a part of it, or declare a smaller max_rows.",
        )
    if declaration.max_rows > MOST_PUBLISHED and regions == 1:
        raise UsageError(
            f"a table of up to {declaration.max_rows} rows is published in regions; {MOST_PUBLISHED} is the most in one piece.",
            hint="Say how many: regions=16 (--regions 16).",
        )
    if regions == 1:
        return Plan(way="fetch", needs=needs, memory=memory)
    spread = declaration.executors and engine_for(declaration.source).spreads
    return Plan(way="regions", needs=needs, memory=memory, parts=regions, spread=spread)


def in_units(size: int) -> str:
    """
    >>> in_units(4 * 2**30), in_units(1_040_000_000), in_units(300)
    ('4 GiB', '0.969 GiB', '300 bytes')
    """
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size * 10 >= 9 * factor:
            whole, rest = divmod(size, factor)
            return f"{whole} {unit}" if not rest or whole >= 100 else f"{size / factor:.3g} {unit}"
    return f"{size} bytes"
