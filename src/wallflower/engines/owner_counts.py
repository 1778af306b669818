"""How a database counts for the owner. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wallflower.engines import expressions, people_expressions
from wallflower.engines.backend import Backend
from wallflower.engines.profile import MOST_TEXTS, Described, Tally
from wallflower.engines.reading_rule import Kind, Rule, State, key_rule
from wallflower.engines.sql_rows import SqlRows
from wallflower.engines.suggestions import Counted, guessed
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
        time = view.people.time
        when = (
            {} if time is None else {"t": people_expressions.moment(staged[rows.raw(time)], view.people, base.dialect)}
        )
        owned = base.view("owned", staged.select(id=whose, **when))
        owned = owned.filter(owned.id.notnull())
        with_id, left = base.number(owned.count()), base.number(base.table("settled").count())
        return Tally(
            **cells,
            leaving=left - kept,
            repeated_keys=0,
            rows_without_key=total - with_id,
            people=base.number(owned.id.nunique()),
            beyond=with_id - left if view.people.rows is not None else 0,
            untimed=None if time is None else base.number(owned.filter(owned.t.isnull()).count()),
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


def described(base: Backend, names: list[str], kinds: list[Kind | None], *, decimal: str = ".") -> Iterator[Described]:
    """Kinds by schema where there is one, else by what nearly every cell of a text column can be read as."""
    import ibis

    staged = base.table("staged")
    for at, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        cell = staged[f"c{at}"]
        if kind is None:
            yield Described(name=name, kind="text", values=None)
            continue
        present = staged.filter(cell.notnull()).select(cell=cell)
        repeats = base.number(present.count()) > base.number(present.cell.nunique())
        if kind in PLAIN or kind is not Kind.TEXT:
            yield Described(name=name, kind=PLAIN.get(kind, "text"), values=None, repeats=repeats)
            continue
        cells = present.filter(present.cell != "")
        texts = cells.group_by("cell").aggregate(n=cells.count()).order_by([ibis.desc("n"), "cell"]).limit(MOST_TEXTS)
        counted = tuple((row["cell"], int(row["n"])) for row in base.arrow(texts).to_pylist())
        guess = guessed(counted, decimal=decimal)
        few = guess.kind == "text" and len(counted) <= FEW
        yield Described(
            name=name,
            kind=guess.kind,
            values=tuple(sorted(text for text, _ in counted)) if few else None,
            dates=guess.dates,
            thousands=guess.thousands,
            missing_codes=guess.missing_codes,
            repeats=repeats,
        )
