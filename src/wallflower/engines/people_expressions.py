"""The rule of `people`, as Ibis expressions. Whole numbers stay below 2^63, and quotients are mended after a division of doubles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wallflower.engines.date_expressions import text_moment
from wallflower.engines.dialect import Dialect, double, integer
from wallflower.engines.expressions import bounds_of, code_of, day_literal, plain, prepared
from wallflower.engines.people import (
    ABOVE,
    BELOW,
    FIRST_DAY,
    INSIDE,
    LAST_DAY,
    OUTSIDE,
    SATURATION,
    SPLIT,
    People,
    asked_id,
    saturated_bounds,
)
from wallflower.engines.reading_rule import (
    UNDECODABLE,
    CategoryRule,
    DateRule,
    Kind,
    NumberRule,
    Rule,
    State,
    code_pattern,
)
from wallflower.schema.declaration import Reducer


def identity(raw: Any, people: People, dialect: Dialect) -> Any:
    """What the rows of one person have in common; NULL for a row without an id."""
    import ibis

    kind, codes = people.person_kind, people.person_format.missing_codes
    if kind is Kind.NOTHING:
        return ibis.null("string")
    if kind is Kind.TEXT:
        none = (raw == "") | raw.contains(UNDECODABLE)
        if codes:
            none = none | dialect.matches(raw, code_pattern(codes))
        return ibis.cases((~none, raw), else_=ibis.null("string"))
    value, type_ = raw, None
    if kind is Kind.DECIMAL:
        value, type_ = _plain_decimal(raw.cast("string"), dialect), "string"
    elif kind is Kind.BOOLEAN:
        value = dialect.boolean(raw)
    meant = [asked for code in codes if (asked := asked_id(people, code)) is not None]
    held = [ibis.literal(*((each, type_) if type_ else plain(each, kind))) for each in meant]
    return ibis.cases((~value.isin(held), value), else_=ibis.null(value.type())) if held else value


def _plain_decimal(text: Any, dialect: Dialect) -> Any:
    """Equal numbers are equal texts: no zeros at the end of a fraction."""
    import ibis

    pointed = dialect.matches(text, "^-?[0-9]+\\.[0-9]*$")
    short = text.re_replace("0+$", "").re_replace("\\.$", "")
    return ibis.cases((pointed, short), (dialect.matches(text, "^-?[0-9]+$"), text), else_=ibis.null("string"))


def moment(raw: Any, people: People, dialect: Dialect) -> Any:
    """Something that orders a person's rows; NULL comes first."""
    import ibis

    if people.time_rule is not None:
        value, readable = prepared(raw, people.time_rule, dialect)
        return carried(value, readable, people.time_rule, dialect)
    if people.time_kind is Kind.NOTHING:
        return ibis.null("int64")
    if people.time_kind is not Kind.TEXT:
        return raw
    found = text_moment(raw, people.time_format.dates, dialect)
    codes = people.time_format.missing_codes
    return ibis.cases((~dialect.matches(raw, code_pattern(codes)), found), else_=ibis.null("int64")) if codes else found


def carried(value: Any, readable: Any, rule: Rule, dialect: Dialect) -> Any:
    """The integer w of a prepared cell; NULL when it is missing or unreadable."""
    import ibis

    nothing = integer(None)
    if rule.kind is Kind.NOTHING:
        return nothing
    unread = readable != int(State.INSIDE)
    if isinstance(rule, CategoryRule):
        code = code_of(value, rule)
        known = ibis.coalesce(code * 4 + INSIDE, integer(OUTSIDE))
        return ibis.cases((unread, nothing), else_=known).cast("int64")
    low, high = bounds_of(rule)
    rank = ibis.cases((value < low, BELOW), (value > high, ABOVE), else_=INSIDE)
    number = _days(value, dialect) if isinstance(rule, DateRule) else _grid(value, rule, dialect)
    inside = ibis.greatest(ibis.least(number, integer(rule.last)), integer(rule.first))
    kept = ibis.cases((rank == INSIDE, inside), else_=number)
    return ibis.cases((unread, nothing), else_=kept * 4 + rank).cast("int64")


def _days(value: Any, dialect: Dialect) -> Any:
    """Saturated at the first and last day of a calendar: a database may hold infinite dates."""
    import ibis

    first, last = day_literal(FIRST_DAY), day_literal(LAST_DAY)
    return dialect.days(ibis.cases((value < first, first), (value > last, last), else_=value))


def _grid(value: Any, rule: Rule, dialect: Dialect) -> Any:
    """The nearest step, halves upwards, saturated; never an infinite or undefined double."""
    import ibis

    assert isinstance(rule, NumberRule)  # noqa: S101 - categories and dates have no grid
    most = double(min(saturated_bounds(rule), 1.7976931348623157e308))
    # A NaN is not readable, but a CASE may be evaluated eagerly.
    tame = ibis.cases((value > most, most), (value < -most, -most), (value <= most, value), else_=double(0.0))
    scaled = dialect.scaled(tame, rule)
    limit = double(float(SATURATION))
    scaled = ibis.cases((scaled > limit, limit), (scaled < -limit, -limit), else_=scaled)
    floor = scaled.floor()
    up = ibis.cases((scaled - floor.cast("float64") >= double(0.5), 1), else_=0)
    return floor.cast("int64") + up.cast("int64")


def settled(w: Any, rule: Rule) -> Any:
    """`outside` and `missing` applied to a carried integer; NULL when the person leaves."""
    import ibis

    rank, number = rank_of(w), number_of(w)
    return ibis.cases(
        (w.isnull(), integer(rule.missing)),
        (w == OUTSIDE, integer(rule.above)),
        (rank == BELOW, integer(rule.below)),
        (rank == ABOVE, integer(rule.above)),
        else_=number,
    ).cast("int64")


def rank_of(w: Any) -> Any:
    return ((w % 4) + 4) % 4


def number_of(w: Any) -> Any:
    """Exact: w less its rank is a multiple of 4 below 2^61 whose double is exact, since a number has 54 bits at most."""
    return ((w - rank_of(w)).cast("float64") / double(4.0)).cast("int64")


class Reduction:
    """One row per person out of a table of `id`, `t` and w0, w1, ...; `view` names an expression, so that it is not repeated."""

    def __init__(
        self, cells: Any, reducers: dict[str, Reducer], rules: dict[str, Rule], view: Callable[[str, Any], Any]
    ) -> None:
        self.cells, self.reducers, self.rules, self.view = cells, reducers, rules, view

    def table(self) -> Any:
        """`id` and, under each column's place, its w."""
        import ibis

        cells = self.cells
        measures: dict[str, Any] = {"rows": cells.count()}
        for name, reducer in self.reducers.items():
            if reducer != "rows":
                measures |= self._measures(name, cells[name], reducer)
        people = self.view("people_sums", cells.group_by("id").aggregate(**measures))
        joined = people
        for name, reducer in self.reducers.items():
            part = self._part(people, name, reducer)
            if part is None:
                continue
            best = part.rename(other="id")
            joined = self.view(f"people_{name}", joined.left_join(best, joined.id == best.other).drop("other"))
        columns = {}
        for name, reducer in self.reducers.items():
            if reducer in {"latest", "earliest", "most-common"}:
                left = ibis.cases((joined[f"{name}_any"].notnull(), integer(OUTSIDE)), else_=integer(None))
                columns[name] = ibis.coalesce(joined[f"{name}_best"], left)
            else:
                columns[name] = self._answer(joined, name, reducer)
        return joined.select(id=joined.id, **columns)

    def _measures(self, name: str, w: Any, reducer: Reducer) -> dict[str, Any]:
        declared = w < OUTSIDE
        if reducer == "min":
            return {f"{name}_least": w.min()}  # OUTSIDE is above all others
        if reducer == "max":
            return {f"{name}_most": w.max(where=declared), f"{name}_any": w.max()}
        if reducer in {"sum", "mean"}:
            number = number_of(w)
            high = (number.cast("float64") / double(float(SPLIT))).floor().cast("int64")
            low = number - high * SPLIT
            return {
                f"{name}_n": w.count(),
                f"{name}_only": w.min(),
                f"{name}_high": high.sum().cast("int64"),
                f"{name}_low": low.sum().cast("int64"),
            }
        found = {f"{name}_any": w.max()}
        if reducer in {"latest", "earliest"}:
            t = self.cells.t
            best = t.max(where=declared) if reducer == "latest" else t.min(where=declared)
            found |= {f"{name}_t": best, f"{name}_untimed": (t.isnull() & declared).sum()}
        return found

    def _answer(self, people: Any, name: str, reducer: Reducer) -> Any:
        import ibis

        rule = self.rules[name]
        if reducer == "rows":
            return _ranked(people.rows, rule)
        if reducer == "min":
            return people[f"{name}_least"]
        if reducer == "max":
            return ibis.coalesce(people[f"{name}_most"], people[f"{name}_any"])
        if reducer in {"sum", "mean"}:
            n, high, low = (people[f"{name}_{part}"] for part in ("n", "high", "low"))
            number = _mean(high, low, n) if reducer == "mean" else _total(high, low)
            several = _ranked(number, rule)
            return ibis.cases((n == 0, integer(None)), (n == 1, people[f"{name}_only"]), else_=several)
        return integer(None)

    def _part(self, people: Any, name: str, reducer: Reducer) -> Any:
        """id and the best w, for reducers that have to look at the cells a second time."""
        cells = self.cells
        if reducer in {"latest", "earliest"}:
            few = people.select(other=people.id, best_t=people[f"{name}_t"], untimed=people[f"{name}_untimed"])
            looked = cells.join(few, cells.id == few.other)
            declared = looked[name] < OUTSIDE
            if reducer == "latest":
                here = (looked.t == looked.best_t) | looked.best_t.isnull()
            else:
                here = ((looked.untimed > 0) & looked.t.isnull()) | (
                    (looked.untimed == 0) & (looked.t == looked.best_t)
                )
            chosen = self.view(f"cells_{name}", looked.filter(declared & here).select("id", w=looked[name]))
            return chosen.group_by("id").aggregate(**{f"{name}_best": chosen.w.min()})
        if reducer == "most-common":
            found = cells.filter(cells[name] < OUTSIDE).select("id", w=cells[name])
            counted = self.view(f"counts_{name}", found.group_by("id", "w").aggregate(n=found.count()))
            most = counted.group_by("id").aggregate(top=counted.n.max()).rename(other="id")
            tops = counted.join(most, (counted.id == most.other) & (counted.n == most.top)).select("id", "w")
            named = self.view(f"tops_{name}", tops)
            return named.group_by("id").aggregate(**{f"{name}_best": named.w.min()})
        return None


def _ranked(number: Any, rule: Rule) -> Any:
    import ibis

    rank = ibis.cases((number < rule.first, BELOW), (number > rule.last, ABOVE), else_=INSIDE)
    return (number * 4 + rank).cast("int64")


def _total(high: Any, low: Any) -> Any:
    """high · SPLIT + low, saturated; a carry first, so that the product stays small."""
    import ibis

    carry = _quotient(low, integer(SPLIT))
    top, rest = high + carry, low - carry * SPLIT
    most = SATURATION // SPLIT
    return ibis.cases(
        (top >= most, integer(SATURATION)),
        (top < -most, integer(-SATURATION)),
        else_=ibis.greatest(ibis.least(top, integer(most)), integer(-most)) * SPLIT + rest,
    ).cast("int64")


def _mean(high: Any, low: Any, n: Any) -> Any:
    """floor((2 S + n) / 2 n) of S = high · SPLIT + low, by a long division in two steps."""
    import ibis

    twice = ibis.greatest(n, integer(1)) * 2
    first = _quotient(high * 2, twice)
    rest = high * 2 - first * twice
    return first * SPLIT + _quotient(rest * SPLIT + low * 2 + n, twice)


def _quotient(number: Any, by: Any) -> Any:
    """The floor of a quotient below 2^50: the double is off by less than 1, and is mended."""
    import ibis

    guess = (number.cast("float64") / by.cast("float64")).floor().cast("int64")
    rest = number - guess * by
    return ibis.cases((rest < 0, guess - 1), (rest >= by, guess + 1), else_=guess).cast("int64")
