"""How DuckDB counts for the owner. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wallflower.engines import ibis_reading
from wallflower.engines.profile import Tally
from wallflower.engines.reading import DATE_PATTERN, Kind, State, grammar, key_rule
from wallflower.engines.view import View

PLAIN = {
    Kind.INTEGER: "integer",
    Kind.REAL: "real",
    Kind.DECIMAL: "real",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "date",
}
INTEGERS = "^ *[+-]?[0-9]+ *$"


def tally(connection: Any, view: View, key: str | None) -> Tally:
    """From the views of an open `DuckRows`; `key` is the raw column of the key."""
    prepared = connection.table("prepared")
    rows = int(prepared.count().to_pyarrow().as_py())
    states = {}
    for at, name in enumerate(view.columns):
        state = ibis_reading.state(prepared[f"x{at}"], prepared[f"r{at}"], view.rules[name])
        counted = prepared.select(state=state).group_by("state").aggregate(n=lambda t: t.count()).to_pyarrow()
        states[name] = {State(row["state"]): int(row["n"]) for row in counted.to_pylist()}
    kept = int(connection.table("kept").count().to_pyarrow().as_py()) if view.columns else rows
    repeated, without = _keys(connection, view, key) if key is not None else (0, 0)
    return Tally(rows=rows, leaving=rows - kept, states=states, repeated_keys=repeated, rows_without_key=without)


def _keys(connection: Any, view: View, key: str) -> tuple[int, int]:
    assert view.key_kind is not None  # noqa: S101 - a key column has a kind
    staged = connection.table("staged")
    value, readable = ibis_reading.prepared(staged[key], key_rule("key", view.key_kind, "any"))
    keyed = staged.select(value=value, readable=readable)
    named = keyed.filter(keyed.readable == int(State.INSIDE))
    counted = named.group_by("value").aggregate(n=named.count())
    repeated = counted.filter(counted.n > 1).count().to_pyarrow().as_py()
    without = keyed.filter(keyed.readable != int(State.INSIDE)).count().to_pyarrow().as_py()
    return int(repeated), int(without)


def described(
    connection: Any, names: list[str], kinds: list[Kind | None], few: int
) -> Iterator[tuple[str, str, tuple[str, ...] | None]]:
    """Kinds by schema where there is one, else by what every cell of a text column can be read as."""
    staged = connection.table("staged")
    for at, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if kind in PLAIN:
            yield name, PLAIN[kind], None
            continue
        if kind is not Kind.TEXT:
            yield name, "text", None
            continue
        cell = staged[f"c{at}"]
        cells = staged.filter(cell.notnull() & (cell != "")).select(cell=cell)
        tests = {
            "boolean": cells.cell.isin(["true", "false"]),
            "integer": cells.cell.re_search(INTEGERS),
            "real": cells.cell.re_search(grammar(".")),
            "date": cells.cell.re_search(DATE_PATTERN),
        }
        answer = (
            cells.aggregate(**{test: (~passed).sum() for test, passed in tests.items()}).to_pyarrow().to_pylist()[0]
        )
        found = next((test for test in tests if answer[test] == 0), "text")
        values = [row["cell"] for row in cells.distinct().limit(few + 1).to_pyarrow().to_pylist()]
        yield name, found, tuple(sorted(values)) if found == "text" and len(values) <= few else None
