"""`unit`, `person`, `time` and `rows_per_person`: whom a promise is about, and how a person's rows become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from wallflower.schema.declaration import BY_TIME, Reducer, Unit
from wallflower.schema.domains import Categories, Dates, Domain, Numbers
from wallflower.schema.problems import said
from wallflower.schema.section import Section

REDUCERS: tuple[Reducer, ...] = get_args(Reducer)
ONLY_PEOPLE = 'It belongs to unit = "person". Where a person has several rows, write that, and person = "the column that says whose row it is".'
ADD_REMOVE_ONLY = 'With rows_per_person the number of a person\'s rows is private, so neighbours must be "add-remove".'
NOT_OF_PEOPLE = (
    "a table of people does not only grow: with each new row of a person that person's one row changes, or other rows of theirs count.",
    "Leave 'grows' out, or write unit = \"row\" if nobody has two rows.",
)


@dataclass(frozen=True, kw_only=True)
class People:
    """What `[table]` says about its unit."""

    unit: Unit = "row"
    person: str | None = None
    time: str | None = None
    rows_per_person: int | None = None
    most: int | None = None
    """`max_rows`, or `max_people`."""

    @property
    def reduced(self) -> bool:
        return self.unit == "person" and self.rows_per_person is None


def read_people(table: Section, neighbours: str | None) -> People:
    unit = cast("Unit", table.choice("unit", get_args(Unit)) or "row")
    if unit == "person" and table.raw.get("grows") is True:
        table.refuse("grows", *NOT_OF_PEOPLE)
    if unit == "row":
        for key in ("person", "time", "rows_per_person", "max_people"):
            if key in table:
                table.refuse(key, f"'{key}' has no place here.", ONLY_PEOPLE)
        table.need("max_rows", "max_rows = 1_000_000")
        return People(most=table.whole("max_rows", least=1))
    table.need("person", 'person = "patient"')
    if "max_rows" in table:
        table.refuse(
            "max_rows",
            "'max_rows' has no place here.",
            'With unit = "person" write max_people: a public bound on people.',
        )
    else:
        table.need("max_people", "max_people = 100_000")
    person, time = table.text("person"), table.text("time")
    if person is not None and person == time:
        table.refuse("time", f"'person' and 'time' both name {said(person)}.", "Name the column of dates.")
    if "key" in table and table.raw["key"] != person:
        table.refuse(
            "key",
            "with unit = \"person\" a record is a person, so 'key' is the column that 'person' names.",
            "Leave 'key' out.",
        )
    rows = table.whole("rows_per_person", least=1, most=1_000)
    if rows is not None and neighbours == "replace-one":
        table.refuse("rows_per_person", ADD_REMOVE_ONLY, "Or leave it out, and write per_person for every column.")
    return People(
        unit="person", person=person, time=time, rows_per_person=rows, most=table.whole("max_people", least=1)
    )


def read_reducer(section: Section, domain: Domain | None, people: People) -> Reducer | None:
    """What `per_person` says; None where rows are not reduced."""
    if people.unit == "row":
        if "per_person" in section:
            section.refuse("per_person", "'per_person' has no place here.", ONLY_PEOPLE)
        return None
    if not people.reduced:
        if "per_person" in section:
            section.refuse(
                "per_person",
                "'per_person' and 'rows_per_person' exclude each other: a person is one row, or up to so many.",
                "Leave one of them out.",
            )
        return None
    section.need("per_person", f"per_person = {said(_example(domain))}: how a person's rows become one")
    reducer = cast("Reducer | None", section.choice("per_person", REDUCERS))
    if reducer is None or domain is None:
        return reducer
    refusal = _refusal(reducer, domain, people)
    if refusal:
        section.refuse("per_person", *refusal)
    return reducer


def _example(domain: Domain | None) -> str:
    return "most-common" if isinstance(domain, Categories) else "max" if isinstance(domain, Dates) else "mean"


def _refusal(reducer: Reducer, domain: Domain, people: People) -> tuple[str, str] | None:
    here = f"per_person = {said(reducer)}"
    if reducer in BY_TIME and people.time is None:
        return f"{here} needs an order of a person's rows.", 'Write time = "visit_date" in [table]: a column of dates.'
    if reducer in ("sum", "mean") and isinstance(domain, Categories):
        return (
            f"{here} is for numbers, and this column holds declared values.",
            'Write "most-common", "latest" or "min".',
        )
    if reducer == "sum" and isinstance(domain, Dates):
        return f"{here} is for numbers, and dates do not add up.", 'Write "latest", "min", "max" or "mean".'
    if reducer == "rows" and not (isinstance(domain, Numbers) and domain.step == 1):
        return (
            f"{here} counts a person's rows: it needs lower, upper and step = 1.",
            "For example lower = 0, upper = 50, step = 1.",
        )
    return None
