"""How a database counts for the owner. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wallflower.engines import expressions, people_expressions
from wallflower.engines.backend import Backend
from wallflower.engines.profile import MOST_TEXTS, Counted, Described, Tally
from wallflower.engines.reading_rule import DATE_PATTERN, Kind, Rule, State, grammar, key_rule
from wallflower.engines.sql_rows import SqlRows
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


def tally(rows: SqlRows) -> Tally:
    """States are those of the cells as they lie in the rows, whatever the unit."""
    base, view = rows.base, rows.view
    staged = base.table("staged")
    states, spoilt, strays = {}, {}, {}
    for name in view.columns:
        if name in rows.needed:  # a count of a person's rows has no cells
            cell, rule = rows.raw(name), view.rules[name]
            states[name], spoilt[name], strays[name] = _cells(base, cell, rule)
    total = base.number(staged.count())
    cells: dict[str, Any] = {"rows": total, "states": states, "spoilt": spoilt, "strays": strays}
    kept = base.number(base.table("kept").count()) if view.columns else total
    if view.people is not None:
        whose = people_expressions.identity(staged[rows.raw(view.people.person)], view.people, base.dialect)
        owned = base.view("owned", staged.select(id=whose))
        owned = owned.filter(owned.id.notnull())
        with_id, left = base.number(owned.count()), base.number(base.table("settled").count())
        return Tally(
            **cells,
            leaving=left - kept,
            repeated_keys=0,
            rows_without_key=total - with_id,
            people=base.number(owned.id.nunique()),
            beyond=with_id - left if view.people.rows is not None else 0,
        )
    key = view.declaration.key
    repeated, without = _keys(base, view, rows.raw(key)) if key is not None else (0, 0)
    return Tally(**cells, leaving=total - kept, repeated_keys=repeated, rows_without_key=without)


def _cells(base: Backend, cell: str, rule: Rule) -> tuple[dict[State, int], Counted, Counted]:
    """How many cells are in each state, and the commonest that were not readable or not in the domain."""
    import ibis

    staged = base.table("staged")
    value, readable = expressions.prepared(staged[cell], rule, base.dialect)
    read = base.view("looked_at", staged.select(cell=staged[cell], value=value, readable=readable))
    found = base.view("judged", read.select(cell=read.cell, state=expressions.state(read.value, read.readable, rule)))
    counted = found.group_by("state").aggregate(n=found.count())
    states = {State(row["state"]): int(row["n"]) for row in base.arrow(counted).to_pylist()}

    def commonest(*which: State) -> Counted:
        if not any(states.get(each) for each in which):
            return ()
        here = found.filter(found.state.isin([int(each) for each in which])).select(text=found.cell.cast("string"))
        texts = here.group_by("text").aggregate(n=here.count())
        ordered = texts.order_by([ibis.desc("n"), "text"]).limit(MOST_TEXTS)
        return tuple((row["text"], int(row["n"])) for row in base.arrow(ordered).to_pylist() if row["text"] is not None)

    return states, commonest(State.UNREADABLE), commonest(State.BELOW, State.ABOVE)


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
