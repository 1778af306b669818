"""How a database counts for the owner. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator

from wallflower.engines import expressions
from wallflower.engines.backend import Backend
from wallflower.engines.profile import Described, Tally
from wallflower.engines.reading_rule import DATE_PATTERN, Kind, State, grammar, key_rule
from wallflower.engines.view import View

PLAIN = {
    Kind.INTEGER: "integer",
    Kind.REAL: "real",
    Kind.DECIMAL: "real",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "date",
}
FEW = 20
"""A text column with at most so many different values is probably categorical."""
INTEGERS = "^ *[+-]?[0-9]+ *$"


def tally(base: Backend, view: View, key: str | None) -> Tally:
    """From the views of an open `SqlRows`; `key` is the raw column of the key."""
    prepared = base.table("prepared")
    rows = base.number(prepared.count())
    states = {}
    for at, name in enumerate(view.columns):
        state = expressions.state(prepared[f"x{at}"], prepared[f"r{at}"], view.rules[name])
        counted = prepared.select(state=state).group_by("state").aggregate(n=lambda t: t.count())
        states[name] = {State(row["state"]): int(row["n"]) for row in base.arrow(counted).to_pylist()}
    kept = base.number(base.table("kept").count()) if view.columns else rows
    repeated, without = _keys(base, view, key) if key is not None else (0, 0)
    return Tally(rows=rows, leaving=rows - kept, states=states, repeated_keys=repeated, rows_without_key=without)


def _keys(base: Backend, view: View, key: str) -> tuple[int, int]:
    assert view.key_kind is not None  # noqa: S101 - a key column has a kind
    staged = base.table("staged")
    value, readable = expressions.prepared(staged[key], key_rule("key", view.key_kind, "any"), base.dialect)
    keyed = staged.select(value=value, readable=readable)
    named = keyed.filter(keyed.readable == int(State.INSIDE))
    counted = named.group_by("value").aggregate(n=named.count())
    repeated = base.number(counted.filter(counted.n > 1).count())
    without = base.number(keyed.filter(keyed.readable != int(State.INSIDE)).count())
    return repeated, without


def described(base: Backend, names: list[str], kinds: list[Kind | None]) -> Iterator[Described]:
    """Kinds by schema where there is one, else by what every cell of a text column can be read as."""
    staged = base.table("staged")
    for at, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if kind in PLAIN:
            yield Described(name=name, kind=PLAIN[kind], values=None)
            continue
        if kind is not Kind.TEXT:
            yield Described(name=name, kind="text", values=None)
            continue
        cell = staged[f"c{at}"]
        cells = staged.filter(cell.notnull() & (cell != "")).select(cell=cell)
        tests = {
            "boolean": cells.cell.isin(["true", "false"]),
            "integer": base.dialect.matches(cells.cell, INTEGERS),
            "real": base.dialect.matches(cells.cell, grammar(".")),
            "date": base.dialect.matches(cells.cell, DATE_PATTERN),
        }
        answer = base.arrow(cells.aggregate(**{test: (~passed).sum() for test, passed in tests.items()})).to_pylist()[0]
        found = next((test for test in tests if answer[test] == 0), "text")
        values = [row["cell"] for row in base.arrow(cells.distinct().limit(FEW + 1)).to_pylist()]
        few = found == "text" and len(values) <= FEW
        yield Described(name=name, kind=found, values=tuple(sorted(values)) if few else None)
