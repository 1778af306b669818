"""How DuckDB counts for the owner. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator

from wallflower.engines import ibis_reading
from wallflower.engines.database import Database
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


def tally(base: Database, view: View, key: str | None) -> Tally:
    """From the views of an open `DuckRows`; `key` is the raw column of the key."""
    prepared = base.table("prepared")
    rows = base.number(prepared.count())
    states = {}
    for at, name in enumerate(view.columns):
        state = ibis_reading.state(prepared[f"x{at}"], prepared[f"r{at}"], view.rules[name])
        counted = prepared.select(state=state).group_by("state").aggregate(n=lambda t: t.count())
        states[name] = {State(row["state"]): int(row["n"]) for row in base.rows(counted)}
    kept = base.number(base.table("kept").count()) if view.columns else rows
    repeated, without = _keys(base, view, key) if key is not None else (0, 0)
    return Tally(rows=rows, leaving=rows - kept, states=states, repeated_keys=repeated, rows_without_key=without)


def _keys(base: Database, view: View, key: str) -> tuple[int, int]:
    assert view.key_kind is not None  # noqa: S101 - a key column has a kind
    staged = base.table("staged")
    value, readable = ibis_reading.prepared(staged[key], key_rule("key", view.key_kind, "any"))
    keyed = staged.select(value=value, readable=readable)
    named = keyed.filter(keyed.readable == int(State.INSIDE))
    counted = named.group_by("value").aggregate(n=named.count())
    repeated = base.number(counted.filter(counted.n > 1).count())
    without = base.number(keyed.filter(keyed.readable != int(State.INSIDE)).count())
    return repeated, without


def described(
    base: Database, names: list[str], kinds: list[Kind | None], few: int
) -> Iterator[tuple[str, str, tuple[str, ...] | None]]:
    """Kinds by schema where there is one, else by what every cell of a text column can be read as."""
    staged = base.table("staged")
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
        answer = base.rows(cells.aggregate(**{test: (~passed).sum() for test, passed in tests.items()}))[0]
        found = next((test for test in tests if answer[test] == 0), "text")
        values = [row["cell"] for row in base.rows(cells.distinct().limit(few + 1))]
        yield name, found, tuple(sorted(values)) if found == "text" and len(values) <= few else None
