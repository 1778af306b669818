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
    SPLIT_BITS,
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


def carried(value: Any, readable: Any, rule: Rule, dialect: Dialect, steps: Any = None) -> Any:
    """The integer w of a prepared cell; NULL when it is missing or unreadable. `steps` is what `steps_of` made of it, where a view holds that."""
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
    number = (
        _days(value, dialect)
        if isinstance(rule, DateRule)
        else _nearest(steps_of(value, rule, dialect) if steps is None else steps)
    )
    inside = ibis.greatest(ibis.least(number, integer(rule.last)), integer(rule.first))
    kept = ibis.cases((rank == INSIDE, inside), else_=number)
    return ibis.cases((unread, nothing), else_=kept * 4 + rank).cast("int64")


def _days(value: Any, dialect: Dialect) -> Any:
    """Saturated at the first and last day of a calendar: a database may hold infinite dates."""
    import ibis

    first, last = day_literal(FIRST_DAY), day_literal(LAST_DAY)
    return dialect.days(ibis.cases((value < first, first), (value > last, last), else_=value))


def steps_of(value: Any, rule: Rule, dialect: Dialect) -> Any:
    """A number in steps, saturated and not yet rounded: never an infinite or undefined double, whatever was read.

    A NaN is above every number and becomes the largest, a NULL anything; neither is readable, but a CASE may be evaluated eagerly.
    """
    assert isinstance(rule, NumberRule)  # noqa: S101 - categories and dates have no grid
    most = min(saturated_bounds(rule), 1.7976931348623157e308)
    return _within(dialect.scaled(_within(value, most), rule), float(SATURATION))


def _within(value: Any, most: float) -> Any:
    import ibis

    return ibis.least(ibis.greatest(value, double(-most)), double(most))


def _nearest(steps: Any) -> Any:
    """The nearest whole number, halves upwards."""
    import ibis

    floor = steps.floor()
    up = ibis.cases((steps - floor.cast("float64") >= double(0.5), 1), else_=0)
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
    """The last two bits; of a negative number too, since databases keep integers in two's complement."""
    return w & 3


def number_of(w: Any) -> Any:
    """The floor of w / 4: a shift keeps the sign."""
    return w >> 2


class Reduction:
    """One row per person out of a table of `id`, `t` and w0, w1, ...; `view` names an expression, so that it is not repeated."""

    def __init__(
        self,
        cells: Any,
        reducers: dict[str, Reducer],
        rules: dict[str, Rule],
        view: Callable[[str, Any], Any],
        dialect: Dialect,
    ) -> None:
        self.cells, self.reducers, self.rules, self.view, self.dialect = cells, reducers, rules, view, dialect

    def table(self) -> Any:
        """`id` and, under each column's place, its w."""
        import ibis

        cells = self.cells
        measures: dict[str, Any] = {"rows": cells.count()}
        for name, reducer in self.reducers.items():
            if reducer != "rows":
                measures |= self._measures(name, cells[name], reducer)
        people = self._means(self.view("people_sums", cells.group_by("id").aggregate(**measures)))
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

    def _means(self, people: Any) -> Any:
        """floor((2 S + n) / 2 n) of S = high · SPLIT + low, for every column with a mean, by a long division in two steps."""
        import ibis

        names = [name for name, reducer in self.reducers.items() if reducer == "mean"]
        if not names:
            return people
        ready = {}
        for name in names:
            ready[f"{name}_by"] = ibis.greatest(people[f"{name}_n"], integer(1)) * 2
            ready[f"{name}_over"] = people[f"{name}_high"] * 2
        begun = self._floors("means_high", people.mutate(**ready), names, "first")
        left = {}
        for name in names:
            rest = begun[f"{name}_over"] - begun[f"{name}_first"] * begun[f"{name}_by"]
            left[f"{name}_over"] = rest * SPLIT + begun[f"{name}_low"] * 2 + begun[f"{name}_n"]
        done = self._floors("means_low", begun.mutate(**left), names, "last")
        return done.mutate(**{f"{name}_mean": done[f"{name}_first"] * SPLIT + done[f"{name}_last"] for name in names})

    def _floors(self, stage: str, table: Any, names: list[str], into: str) -> Any:
        """The floor of over / by, which is below 2^50: the double is off by less than 1, and is mended. A view a step, so that none is
        evaluated twice."""
        import ibis

        table = self.view(stage, table)
        guesses = {
            f"{name}_guess": (table[f"{name}_over"].cast("float64") / table[f"{name}_by"].cast("float64"))
            .floor()
            .cast("int64")
            for name in names
        }
        guessed = self.view(f"{stage}_guessed", table.mutate(**guesses))
        rests = {
            f"{name}_rest": guessed[f"{name}_over"] - guessed[f"{name}_guess"] * guessed[f"{name}_by"] for name in names
        }
        rested = self.view(f"{stage}_rest", guessed.mutate(**rests))
        mended = {}
        for name in names:
            guess, rest, by = (rested[f"{name}_{part}"] for part in ("guess", "rest", "by"))
            mended[f"{name}_{into}"] = ibis.cases((rest < 0, guess - 1), (rest >= by, guess + 1), else_=guess)
        return self.view(f"{stage}_{into}", rested.mutate(**mended))

    def _measures(self, name: str, w: Any, reducer: Reducer) -> dict[str, Any]:
        declared = w < OUTSIDE
        if reducer == "min":
            return {f"{name}_least": w.min()}  # OUTSIDE is above all others
        if reducer == "max":
            return {f"{name}_most": w.max(where=declared), f"{name}_any": w.max()}
        if reducer in {"sum", "mean"}:
            number = number_of(w)
            high, low = number >> SPLIT_BITS, number & (SPLIT - 1)
            return {
                f"{name}_n": w.count(),
                f"{name}_only": w.min(),
                f"{name}_high": self.dialect.whole_sum(high),
                f"{name}_low": self.dialect.whole_sum(low),
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
            number = people[f"{name}_mean"] if reducer == "mean" else _total(high, low)
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

    top, rest = high + (low >> SPLIT_BITS), low & (SPLIT - 1)
    most = SATURATION // SPLIT
    return ibis.cases(
        (top >= most, integer(SATURATION)),
        (top < -most, integer(-SATURATION)),
        else_=ibis.greatest(ibis.least(top, integer(most)), integer(-most)) * SPLIT + rest,
    ).cast("int64")
